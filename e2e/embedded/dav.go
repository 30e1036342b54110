package embedded

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/op"
	"golang.org/x/net/webdav"
)

type userKey struct{}

// userOf tells whose request this is, once dav has authenticated it.
func userOf(r *http.Request) string {
	name, _ := r.Context().Value(userKey{}).(string)
	return name
}

// dav serves each user his own folder. Faults come after authentication, since a fault names the
// user whom it hits.
func (h *Host) dav(crypto op.Crypto) http.Handler {
	folders := map[string]http.Handler{}
	for name := range h.users {
		folders[name] = &webdav.Handler{
			Prefix:     "/dav",
			FileSystem: webdav.Dir(h.Dir(name)),
			LockSystem: webdav.NewMemLS(),
		}
	}
	return h.authenticate(crypto, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, path := userOf(r), "/"+strings.TrimPrefix(r.URL.Path, "/dav/")
		h.faults.Serve(w, r, user, path, folders[user].ServeHTTP)
	}))
}

// authenticate takes HTTP Basic with the user's password, or an access token as Bearer.
func (h *Host) authenticate(crypto op.Crypto, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := h.basic(r)
		if !ok {
			name, ok = h.bearer(crypto, r)
		}
		if !ok {
			if r.Header.Get("Authorization") != "" {
				h.counters.Unauthorized.Add(1)
			}
			w.Header().Add("WWW-Authenticate", `Bearer realm="files"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="files", charset="UTF-8"`)
			http.Error(w, "sign in first", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, name)))
	})
}

func (h *Host) basic(r *http.Request) (string, bool) {
	name, password, ok := r.BasicAuth()
	return name, ok && h.passwordMatches(name, password)
}

func (h *Host) passwordMatches(name, password string) bool {
	user, ok := h.users[name]
	return ok && subtle.ConstantTimeCompare([]byte(password), []byte(user.Password)) == 1
}

func (h *Host) bearer(crypto op.Crypto, r *http.Request) (string, bool) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return "", false
	}
	h.storage.see(token)
	if h.verify != nil {
		name, ok := h.verify(r.Context(), token)
		_, known := h.users[name]
		return name, ok && known && h.storage.knows(name, token)
	}
	// The provider's opaque access token is its own id and subject, encrypted.
	clear, err := crypto.Decrypt(token)
	if err != nil {
		return "", false
	}
	id, subject, _ := strings.Cut(clear, ":")
	return subject, h.storage.accessTokenLives(id, subject) && h.storage.isForFiles(id)
}
