package doubles

import (
	_ "embed"
	"net/http"
	"strconv"
	"strings"
)

// ocs answers a call of the OCS API to who signs in. Without the header that no form can send, only a
// token will do.
func (n *Nextcloud) ocs(w http.ResponseWriter, r *http.Request, method string) (user string, ok bool) {
	if r.Method != method || !asksJSON(r) {
		n.unknown(w, r)
		return "", false
	}
	user, outcome := n.caller(r)
	_, byToken := bearer(r)
	switch {
	case outcome == accountDisabled:
		w.Header().Set("WWW-Authenticate", `Basic realm="Authorisation Required"`)
		writeOCS(w, http.StatusUnauthorized, 997, "Unauthorised", []any{})
	case outcome == throttled:
		writeOCS(w, http.StatusTooManyRequests, 429, "Reached maximum delay", []any{})
	case outcome != welcome:
		writeOCS(w, http.StatusUnauthorized, 997, "Current user is not logged in", []any{})
	case r.Header.Get("OCS-APIRequest") != "true" && !byToken:
		writeJSON(w, http.StatusPreconditionFailed, map[string]string{"message": "CSRF check failed"})
	default:
		return user, true
	}
	return "", false
}

// asksJSON tells whether the client has asked for JSON: OCS answers in XML by itself.
func asksJSON(r *http.Request) bool {
	return r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json")
}

func writeOCS(w http.ResponseWriter, status, code int, message string, data any) {
	meta := ocsMeta{Status: "ok", StatusCode: code, Message: message}
	if status != http.StatusOK {
		meta.Status = "failure"
	}
	writeOCSAnswer(w, status, meta, data)
}

// ocsMeta is what OCS says of an answer.
type ocsMeta struct {
	Status     string `json:"status"`
	StatusCode int    `json:"statuscode"`
	Message    any    `json:"message"`
}

func writeOCSAnswer(w http.ResponseWriter, status int, meta, data any) {
	type answer struct {
		Meta any `json:"meta"`
		Data any `json:"data"`
	}
	writeJSON(w, status, map[string]any{"ocs": answer{meta, data}})
}

func (n *Nextcloud) ocsUser(w http.ResponseWriter, r *http.Request) {
	user, ok := n.ocs(w, r, http.MethodGet)
	if !ok {
		return
	}
	top, err := n.disk.find(user, "/")
	if err != nil {
		n.unknown(w, r)
		return
	}
	used := n.disk.size(top)
	data := map[string]any{
		"enabled": true, "id": user, "firstLoginTimestamp": 1795197171, "lastLoginTimestamp": 1795197232,
		"lastLogin": 1795197232000, "backend": "Database", "subadmin": []any{},
		"quota":   map[string]any{"free": -3, "used": used, "total": -3, "relative": 0, "quota": -3},
		"manager": "", "avatarScope": "v2-federated", "email": n.emailOrNull(user), "additional_mail": []any{}, "additional_mailScope": []any{},
		"displayname": n.users[user].DisplayName, "display-name": n.users[user].DisplayName, "profile_enabled": "1", "groups": []any{}, "language": "en",
		"locale": "", "notify_email": nil, "backendCapabilities": map[string]any{"setDisplayName": true, "setPassword": true},
	}
	for field, scope := range map[string]string{
		"email": "v2-federated", "displayname": "v2-federated", "phone": "v2-local", "address": "v2-local", "website": "v2-local",
		"twitter": "v2-local", "fediverse": "v2-local", "organisation": "v2-local", "role": "v2-local", "headline": "v2-local",
		"biography": "v2-local", "profile_enabled": "v2-local", "pronouns": "v2-federated",
	} {
		data[field+"Scope"] = scope
		if _, told := data[field]; !told {
			data[field] = ""
		}
	}
	writeOCS(w, http.StatusOK, 200, "OK", data)
}

func (n *Nextcloud) emailOrNull(user string) any {
	if email := n.email(user); email != "" {
		return email
	}
	return nil
}

//go:embed testdata/nextcloud-capabilities.json
var nextcloudCapabilities []byte

func (n *Nextcloud) ocsCapabilities(w http.ResponseWriter, r *http.Request) {
	if _, ok := n.ocs(w, r, http.MethodGet); ok {
		n.capabilities(w, nextcloudCapabilities)
	}
}

func (n *Nextcloud) ocsShares(w http.ResponseWriter, r *http.Request) {
	if user, ok := n.ocs(w, r, r.Method); ok {
		ocsShares{n.server, true}.serve(w, r, user)
	}
}

func writeRecorded(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// newAppPassword gives an app password to who signs in with his real one.
func (n *Nextcloud) newAppPassword(w http.ResponseWriter, r *http.Request) {
	user, ok := n.ocs(w, r, http.MethodGet)
	if !ok {
		return
	}
	name, password, _ := r.BasicAuth()
	if !n.passwordMatches(user, password) {
		writeOCS(w, http.StatusForbidden, 403, "You cannot request a new apppassword with an apppassword", []any{})
		return
	}
	writeOCS(w, http.StatusOK, 200, "OK", map[string]string{
		"apppassword": n.makeAppPassword(appPassword{user: user, loginName: name, name: r.UserAgent()}),
	})
}

// NewAppPassword makes an app password for a user, as he does in his settings.
func (n *Nextcloud) NewAppPassword(user string) string {
	return n.makeAppPassword(appPassword{user: user, loginName: user, name: "made in the settings"})
}

func (n *Nextcloud) makeAppPassword(is appPassword) string {
	password := token(72)
	n.grants.keep(password)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.appPasswords[password] = is
	return password
}

// endAppPassword ends the app password, or the grant, of who asks.
func (n *Nextcloud) endAppPassword(w http.ResponseWriter, r *http.Request) {
	if _, ok := n.ocs(w, r, http.MethodDelete); !ok {
		return
	}
	n.counters.Revocations.Add(1)
	secret, byToken := bearer(r)
	if !byToken {
		_, secret, _ = r.BasicAuth()
	}
	n.mu.Lock()
	_, appPassword := n.appPasswords[secret]
	delete(n.appPasswords, secret)
	n.mu.Unlock()
	if !appPassword && !n.grants.revoke(secret) {
		writeOCS(w, http.StatusForbidden, 403, "no app password in use", []any{})
		return
	}
	writeOCS(w, http.StatusOK, 200, "OK", []any{})
}
