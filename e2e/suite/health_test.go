package suite

import (
	"testing"
)

func TestHealthDepths(t *testing.T) {
	nobody, err := as(t, nil).Health(t.Context())
	must(t, err)
	if nobody.Status != "pass" || nobody.Connection != nil || nobody.Checks != nil || nobody.Version != "" {
		t.Errorf("nobody sees %+v", nobody)
	}
	user, err := as(t, site.User).Health(t.Context())
	must(t, err)
	if user.Status != "pass" || user.Connection == nil || user.Connection.State != "connected" || user.Checks != nil {
		t.Errorf("a user sees %+v", user)
	}
	admin, err := as(t, site.Admin).Health(t.Context())
	must(t, err)
	for _, name := range []string{"configuration", "key", "kv_store", "host", "token_endpoint", "transfers"} {
		if check := admin.Checks[name]; len(check) == 0 || check[0].Status != "pass" {
			t.Errorf("an admin sees the check %s as %+v", name, check)
		}
	}
	if admin.Version == "" {
		t.Error("an admin sees no version")
	}
}

// TestHealthCallsNobody shows that asking for health starts nothing at the host.
func TestHealthCallsNobody(t *testing.T) {
	client := as(t, nil)
	before := site.Host.Counts()
	for range 50 {
		_, err := client.Health(t.Context())
		must(t, err)
	}
	after := site.Host.Counts()
	if after.TokenRequests != before.TokenRequests || after.Gets != before.Gets {
		t.Errorf("the host was asked: %+v, then %+v", before, after)
	}
}

// TestWrongSettings shows that a wrong setting is named to the admin and leaves the plugin standing.
func TestWrongSettings(t *testing.T) {
	configureBroken(t, map[string]any{"hosturl": "ftp://files.example.com"})
	_, err := as(t, site.User).List(t.Context(), in("/"))
	wantProblem(t, err, "not_configured", 503)
	_, err = as(t, site.User).Attach(t.Context(), copies("/Welcome.txt"))
	wantProblem(t, err, "not_configured", 503)
	health := brokenHealth(t)
	if check := health.Checks["configuration"]; health.Status != "fail" || len(check) == 0 || check[0].Status != "fail" || check[0].Output == "" {
		t.Errorf("an admin sees %+v", health)
	}
}
