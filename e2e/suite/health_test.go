package suite

import "testing"

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
