package doubles

import (
	"io"
	"net/http"
	"net/url"
)

// authorize begins a sign-in. There is no PKCE and no scope, and a redirect URI of the request isn't
// looked at: the registered one is used.
func (n *Nextcloud) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case query.Get("client_id") != n.config.ClientID:
		n.surprise(r, "an unknown client")
		_, _ = io.WriteString(w, "Your client is not authorized to connect. Please inform the administrator of your client.")
	case !query.Has("state"):
		n.surprise(r, "no state")
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	case query.Get("response_type") != "code":
		n.surprise(r, "response_type is "+query.Get("response_type"))
		n.sendBack(w, url.Values{"error": {"unsupported_response_type"}, "state": {query.Get("state")}})
	default:
		// The state stays in the session; here the page carries it.
		next := url.Values{"clientIdentifier": {n.config.ClientID}, "oauthState": {query.Get("state")}}
		redirect(w, http.StatusSeeOther, n.Origin()+"/login/flow?"+next.Encode())
	}
}

func (s *server) sendBack(w http.ResponseWriter, query url.Values) {
	redirect(w, http.StatusSeeOther, s.config.RedirectURIs[0]+"?"+query.Encode())
}

func (n *Nextcloud) loginFlow(w http.ResponseWriter, r *http.Request) {
	n.signIn(w, r, func(user string, asked url.Values) {
		code := token(128)
		n.grants.newCode(code, begun{user: user})
		n.sendBack(w, url.Values{"state": {asked.Get("oauthState")}, "code": {code}})
	})
}

// token is the token endpoint. Every refusal counts as a try to guess.
func (n *Nextcloud) token(w http.ResponseWriter, r *http.Request) {
	kind, ok := n.tokenRequest(w, r)
	if !ok {
		return
	}
	if n.exchanges.closed() {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><body><h2>Too many requests</h2></body></html>\n")
		return
	}
	if !r.PostForm.Has("grant_type") {
		n.surprise(r, "no grant_type")
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><body><h2>Internal Server Error</h2></body></html>\n")
		return
	}
	issued, user, problem := n.exchange(r, kind)
	if problem != "" {
		n.exchanges.fail()
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": problem})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": issued.access, "token_type": "Bearer", "expires_in": int(issued.life.Seconds()),
		"refresh_token": issued.refresh, "user_id": user,
	})
}

// exchange gives tokens for a code or a refresh token, or says what is wrong. A new access token ends
// the one before.
func (n *Nextcloud) exchange(r *http.Request, kind string) (issued tokens, user, problem string) {
	code, refresh := r.PostFormValue("code"), r.PostFormValue("refresh_token")
	var from begun
	var found bool
	switch kind {
	case "authorization_code":
		from, found = n.grants.code(code)
	case "refresh_token":
		_, found = n.grants.refreshable(refresh)
	default:
		n.surprise(r, "grant_type is "+kind)
		return tokens{}, "", "invalid_grant"
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	fresh := tokens{access: token(72), refresh: token(128), life: hour}
	switch {
	case !found:
		return tokens{}, "", "invalid_request"
	case id != n.config.ClientID, !sameSecret(secret, n.config.ClientSecret):
		return tokens{}, "", "invalid_client"
	case kind == "refresh_token":
		if user, issued, found = n.grants.renew(refresh, fresh, true); !found {
			return tokens{}, "", "invalid_request"
		}
		return issued, user, ""
	case !n.grants.spend(code):
		return tokens{}, "", "invalid_request"
	}
	return n.grants.open(from.user, fresh), from.user, ""
}
