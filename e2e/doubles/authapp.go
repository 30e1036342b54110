package doubles

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/crypto/bcrypt"
)

// appTokenCost is that of the hashes that the host keeps of app tokens.
const appTokenCost = 11

// appToken is how the host tells of one: with itself when it is made, with its hash ever after.
type appToken struct {
	Token          string    `json:"token"`
	ExpirationDate time.Time `json:"expiration_date"`
	CreatedDate    time.Time `json:"created_date"`
	Label          string    `json:"label"`
}

// appTokens are those that a host has made.
type appTokens struct {
	clock clockwork.Clock

	mu            sync.Mutex
	impersonation bool
	all           []madeToken
}

type madeToken struct {
	user, token string
	kept        appToken
}

// good tells whether a token is one of the user's that has not expired.
func (a *appTokens) good(user, token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.all, func(each madeToken) bool {
		return each.user == user && sameSecret(token, each.token) && a.clock.Now().Before(each.kept.ExpirationDate)
	})
}

// make gives a user a new token.
func (a *appTokens) make(user, label string, life time.Duration) appToken {
	word := token(16)
	hash, err := bcrypt.GenerateFromPassword([]byte(word), appTokenCost)
	if err != nil {
		panic(err) // the token is short enough
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now().UTC()
	made := appToken{Token: string(hash), ExpirationDate: now.Add(life), CreatedDate: now.Truncate(time.Second), Label: label}
	a.all = append(a.all, madeToken{user, word, made})
	made.Token = word
	return made
}

// of lists a user's tokens, expired ones included.
func (a *appTokens) of(user string) []appToken {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := []appToken{}
	for _, each := range a.all {
		if each.user == user {
			all = append(all, each.kept)
		}
	}
	return all
}

// end takes the hash of a token, and the token itself for nothing that it knows.
func (a *appTokens) end(user, hash string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.all)
	a.all = slices.DeleteFunc(a.all, func(each madeToken) bool { return each.user == user && each.kept.Token == hash })
	return len(a.all) < before
}

// SetImpersonation lets administrators make app tokens for others (AUTH_APP_ENABLE_IMPERSONATION), or no longer. As
// installed they can't.
func (o *OpenCloud) SetImpersonation(allowed bool) {
	o.appTokens.mu.Lock()
	defer o.appTokens.mu.Unlock()
	o.appTokens.impersonation = allowed
}

// AppTokens is how many app tokens a user has, expired ones included.
func (o *OpenCloud) AppTokens(user string) int { return len(o.appTokens.of(user)) }

// authApp is the service for app tokens (services/auth-app/pkg/service/service.go).
func (o *OpenCloud) authApp(w http.ResponseWriter, r *http.Request) {
	o.faults.Serve(w, r, "", r.URL.Path, func(w http.ResponseWriter, r *http.Request) {
		user, ok := o.come(w, r)
		if !ok {
			return
		}
		w.Header().Set("X-Auth-App-Version", "0.1.0+ebba86148")
		switch r.Method {
		case http.MethodPost:
			o.makeAppToken(w, r, user)
		case http.MethodGet:
			writeText(w, o.appTokens.of(user))
		case http.MethodDelete:
			o.endAppToken(w, r, user)
		default:
			o.unknown(w, r)
		}
	})
}

func (o *OpenCloud) makeAppToken(w http.ResponseWriter, r *http.Request, caller string) {
	query := r.URL.Query()
	life, err := time.ParseDuration(query.Get("expiry"))
	if err != nil {
		http.Error(w, "error parsing expiry. Use e.g. 30m or 72h", http.StatusBadRequest)
		return
	}
	user, label := caller, "Generated via API"
	if id, name := query.Get("userID"), query.Get("userName"); id != "" || name != "" {
		o.appTokens.mu.Lock()
		impersonation := o.appTokens.impersonation
		o.appTokens.mu.Unlock()
		switch {
		case !impersonation:
			http.Error(w, "impersonation is not allowed", http.StatusForbidden)
			return
		case !o.users[caller].Admin:
			w.WriteHeader(http.StatusForbidden)
			return
		}
		found, ok := o.named(id, name)
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		user, label = found, "Generated via Impersonation API"
	}
	made := o.appTokens.make(user, label, life)
	o.grants.keep(made.Token)
	writeText(w, made)
}

// named finds an account by its id, or else by its name.
func (o *OpenCloud) named(id, name string) (user string, ok bool) {
	for _, each := range o.users {
		if id != "" && userID(each.Name) == id || id == "" && each.Name == name {
			return each.Name, true
		}
	}
	return "", false
}

// graphUser finds an account by its name or its id (services/graph/pkg/service/v0/users.go, GetUser).
func (o *OpenCloud) graphUser(w http.ResponseWriter, r *http.Request) {
	if _, ok := o.come(w, r); !ok {
		return
	}
	asked := r.PathValue("user")
	name, ok := o.named(asked, "")
	if !ok {
		name, ok = o.named("", asked)
	}
	if r.Method != http.MethodGet || !ok {
		writePlainJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"code": "itemNotFound", "message": "not found"}})
		return
	}
	writePlainJSON(w, http.StatusOK, map[string]any{
		"accountEnabled": true, "displayName": o.users[name].DisplayName, "id": userID(name), "mail": o.mail(name),
		"onPremisesSamAccountName": name, "surname": name, "userType": "Member",
	})
}

// endAppToken wants the hash: what is no hash of the caller's is an error of the server.
func (o *OpenCloud) endAppToken(w http.ResponseWriter, r *http.Request, user string) {
	o.counters.Revocations.Add(1)
	hash := r.URL.Query().Get("token")
	if hash == "" {
		http.Error(w, "missing auth-app token. Set 'token' parameter", http.StatusBadRequest)
		return
	}
	if !o.appTokens.end(user, hash) {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// writeText writes JSON that is not called so.
func writeText(w http.ResponseWriter, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // nothing but texts and times is written
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(encoded)
}
