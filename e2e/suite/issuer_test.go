package suite

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
)

// keySet are the names of the keys that the plugin publishes, read as a sign-in server does: without a session. What a key
// holds beside its public half is an error.
func keySet(t *testing.T) (names []string) {
	t.Helper()
	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	must(t, site.Plugin(nil).Get(t.Context(), "/jwks.json", &set))
	for _, key := range set.Keys {
		if got := slices.Sorted(maps.Keys(key)); !slices.Equal(got, []string{"alg", "e", "kid", "kty", "n", "use"}) {
			t.Errorf("a key has %q", got)
		}
		names = append(names, key["kid"])
	}
	return names
}

// TestThePluginAsAnIssuer reads what the plugin publishes of itself, and replaces its keys as an admin who fears that they
// are known: the old ones are published no more, and a server that trusts the plugin goes by the new ones at once.
func TestThePluginAsAnIssuer(t *testing.T) {
	for _, path := range []string{"/jwks.json", "/.well-known/openid-configuration"} {
		wantProblem(t, api.AsProblem(site.Plugin(nil).Get(t.Context(), path, nil)), "not_found", http.StatusNotFound)
	}
	server := useAssertions(t, nil)
	account := newAccount(t)
	must(t, server.link(account, "alice"))
	client := site.Plugin(account)
	_, err := client.List(t.Context(), in("/"))
	must(t, err)

	var published struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	must(t, site.Plugin(nil).Get(t.Context(), "/.well-known/openid-configuration", &published))
	if published.Issuer != site.BaseURL() || published.Keys != site.BaseURL()+"/jwks.json" {
		t.Errorf("the plugin calls itself %+v", published)
	}
	before := keySet(t)
	if len(before) != 2 {
		t.Errorf("published are %q, want the key that signs and the next", before)
	}

	wantProblem(t, api.AsProblem(client.Delete(t.Context(), "/admin/signing-keys")), "forbidden", http.StatusForbidden)
	must(t, site.Plugin(site.Admin).Delete(t.Context(), "/admin/signing-keys"))
	after := keySet(t)
	if slices.ContainsFunc(after, func(name string) bool { return slices.Contains(before, name) }) || len(after) != 2 {
		t.Errorf("published are %q, before %q", after, before)
	}
	reads := server.front.Counts().KeyReads
	server.host.ExpireAccessTokens("alice")
	_, err = client.List(t.Context(), in("/"))
	must(t, err)
	if counts := server.front.Counts(); counts.Assertions != 2 || counts.KeyReads < reads {
		t.Errorf("the server was asked %+v", counts)
	}
}
