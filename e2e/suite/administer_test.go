package suite

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// allKept reads all pages, one connection at a time, and the counts.
func allKept(t *testing.T, query url.Values) (byUser map[string]api.Kept, first api.KeptPage) {
	t.Helper()
	byUser = map[string]api.Kept{}
	query.Set("limit", "1")
	for page := 0; ; page++ {
		got, err := site.Plugin(site.Admin).KeptConnections(t.Context(), query)
		must(t, err)
		if page == 0 {
			first = got
		}
		if (got.Counts != nil) != (page == 0) || len(got.Connections) > 1 {
			t.Fatalf("page %d is %+v", page, got)
		}
		for _, kept := range got.Connections {
			if _, twice := byUser[kept.UserID]; twice {
				t.Fatalf("%s is on two pages", kept.Username)
			}
			byUser[kept.UserID] = kept
		}
		if got.NextCursor == "" {
			return byUser, first
		}
		query.Set("cursor", got.NextCursor)
	}
}

// TestAnAdminSeesAndEndsConnections shows that an admin learns whose access is kept, but nothing that gives access, and
// that what he revokes ends at the host.
func TestAnAdminSeesAndEndsConnections(t *testing.T) {
	account := newConnected(t, "carol")
	all, first := allKept(t, url.Values{})
	kept, ok := all[account.ID]
	if !ok || kept.State != "connected" || kept.Grant != "authorization_code" || kept.Account != "carol" || kept.Username != account.Username || kept.Since == "" {
		t.Errorf("the connection is listed as %+v", kept)
	}
	if first.Counts.Total < len(all) || first.Counts.ByState["connected"] == 0 || first.Counts.ByGrant["authorization_code"] == 0 {
		t.Errorf("the counts are %+v, with %d on all pages", first.Counts, len(all))
	}
	listed, err := json.Marshal(all)
	must(t, err)
	for _, secret := range site.Host.Secrets() {
		if strings.Contains(string(listed), secret) {
			t.Fatalf("the list holds a secret: %s", secret)
		}
	}
	if reconnect, _ := allKept(t, url.Values{"state": {"reconnect"}}); reconnect[account.ID].UserID != "" {
		t.Error("a connection that works is listed as one that doesn't")
	}

	left := site.Host.Grants("carol")
	if site.Host.Traits().Revokes {
		left--
	}
	must(t, site.Plugin(site.Admin).RevokeConnection(t.Context(), account.ID))
	if got := site.Host.Grants("carol"); got != left {
		t.Errorf("%d grants at the host, want %d", got, left)
	}
	if got := state(t, account); got != "not_connected" {
		t.Errorf("the connection is %s", got)
	}
	wantProblem(t, site.Plugin(site.Admin).RevokeConnection(t.Context(), account.ID), "not_found", 404)
	if all, _ := allKept(t, url.Values{}); all[account.ID].UserID != "" {
		t.Errorf("it is still listed as %+v", all[account.ID])
	}
}

// TestOnlyAdminsSeeOthersConnections tries it as everybody else, with sessions and with tokens.
func TestOnlyAdminsSeeOthersConnections(t *testing.T) {
	account := newConnected(t, "carol")
	token, _ := newToken(t, account.ID)
	var bot struct {
		ID string `json:"user_id"`
	}
	must(t, site.Admin.Post(t.Context(), "/api/v4/bots", map[string]string{"username": "b" + strings.ToLower(rand.Text()[:12])}, &bot))
	botToken, _ := newToken(t, bot.ID)
	for name, client := range map[string]api.Client{
		"a user": site.Plugin(account), "a user's token": withToken(token),
		"a bot": site.Plugin(&stack.Account{Client: rest.New(site.Mattermost.URL, botToken), ID: bot.ID}),
	} {
		_, err := client.KeptConnections(t.Context(), nil)
		t.Log(name)
		wantProblem(t, err, "forbidden", 403)
		wantProblem(t, client.RevokeConnection(t.Context(), account.ID), "forbidden", 403)
	}
	_, err := withToken("").KeptConnections(t.Context(), nil)
	wantProblem(t, err, "not_authenticated", 401)
	if got := state(t, account); got != "connected" {
		t.Errorf("the connection is %s", got)
	}
	adminToken, _ := newToken(t, site.Admin.ID)
	_, err = withToken(adminToken).KeptConnections(t.Context(), nil)
	must(t, err)
}

// TestWhatMattermostHandsToSupport shows that what the server itself gives out of the plugin holds no secret: the
// configuration, and the support packet where there is one (it takes a licence).
func TestWhatMattermostHandsToSupport(t *testing.T) {
	key := "canary " + rand.Text() + rand.Text()
	actor, account, proxy := "canary "+rand.Text(), "canary "+rand.Text(), "canary:"+rand.Text()
	configure(t, map[string]any{"encryptionkey": key, "exchangeactortoken": actor, "serviceaccountsecret": account, "proxycredentials": proxy})
	newConnected(t, "carol")
	secrets := append(site.Host.Secrets(), key, actor, account, proxy)
	for _, path := range []string{"/api/v4/config", "/api/v4/plugins", "/api/v4/plugins/statuses", "/api/v4/config/client?format=old"} {
		var shown json.RawMessage
		must(t, site.Admin.Get(t.Context(), path, &shown))
		for _, secret := range secrets {
			if masksSecrets[site.Mattermost.Version] && strings.Contains(string(shown), secret) {
				t.Errorf("%s holds a secret: %s", path, secret)
			}
		}
	}
	err := site.Admin.Get(t.Context(), "/api/v4/system/support_packet", nil)
	var refused *rest.StatusError
	if !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("the support packet is there without a licence (%v): look into it for secrets", err)
	}
}
