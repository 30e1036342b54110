package suite

import (
	"context"
	"net/http"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

// TestScopesLeftOpen leaves the scopes to the plugin: what it asks for by itself is enough to stay signed in at a server
// that gives a refresh token only to who also asks for consent (OpenID Connect Core 11).
func TestScopesLeftOpen(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", map[string]any{"oauthscopes": ""})
	client := site.Plugin(connectAt(t))
	host.ExpireAccessTokens("alice")
	_, err := client.List(t.Context(), in("/"))
	must(t, err)
	if counts := server.Counts(); counts.Codes != 1 || counts.Refreshes != 1 {
		t.Errorf("the server was asked %+v", counts)
	}
}

// TestAnotherUsersIDTokenAtARefresh has the server mix up its users at a refresh. Nobody knows then whose the new tokens
// are: they are revoked, and the user connects again.
func TestAnotherUsersIDTokenAtARefresh(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", nil)
	client := site.Plugin(connectAt(t))
	host.ExpireAccessTokens("alice")
	mend := server.Break(signin.Fault{Answer: func(answer map[string]any) {
		genuine, _ := answer["id_token"].(string)
		another, err := server.Key.Resign(genuine, func(claims map[string]any) { claims["sub"] = "bob" })
		if err != nil {
			t.Error(err)
		}
		answer["id_token"] = another
	}})
	_, err := client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	mend()
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.State != "reconnect" {
		t.Errorf("the connection is %+v", connection)
	}
	tokens := server.AccessTokens()
	eventually(t, "the tokens that came with it are revoked", func() bool {
		_, good := server.User(context.WithoutCancel(t.Context()), tokens[len(tokens)-1])
		return !good
	})
	before := server.Counts()
	_, err = client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	if after := server.Counts(); after.TokenRequests != before.TokenRequests {
		t.Errorf("then the server was asked %+v, before %+v", after, before)
	}
}

// TestKeysOutOfReach signs in at a server whose keys can't be had: nobody is connected, what was issued is revoked, and
// /health says so. With the keys back, it works.
func TestKeysOutOfReach(t *testing.T) {
	_, server := useSignInServer(t, "oidc-provider", nil)
	mend := server.Break(signin.Fault{Keys: http.StatusServiceUnavailable})
	configure(t, server.Settings()) // the plugin forgets the keys that it has
	account := newAccount(t)
	wantNothingOfASignIn(t, server, account)
	wantCheck(t, "token_endpoint", "fail", "keys", "503", "Nobody can sign in")
	mend()
	eventually(t, "the check passes", func() bool { return checkStatus(adminHealth(t), "token_endpoint") == "pass" })
	connectAt(t)
}
