package suite

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// wantCheck waits until the admin's health has the check with that status and a remedy that holds
// all of the fragments.
func wantCheck(t *testing.T, name, status string, fragments ...string) {
	t.Helper()
	var remedy string
	defer func() {
		if t.Failed() {
			t.Logf("the check says at last: %s", remedy)
		}
	}()
	eventually(t, "the check "+name+" has status "+status+" and a remedy with "+strings.Join(fragments, " … "), func() bool {
		check := adminHealth(t).Checks[name]
		if len(check) == 0 {
			return false
		}
		if remedy = check[0].Output; check[0].Status != status {
			return false
		}
		for _, fragment := range fragments {
			if !strings.Contains(remedy, fragment) {
				return false
			}
		}
		return true
	})
	t.Logf("| %s | %s | %s |", name, status, remedy)
}

// page answers every request in the same way.
func page(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// dated answers as by a clock that is off.
func dated(off time.Duration, answer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		answer.ServeHTTP(w, r)
	})
}

// healthy is what Nextcloud's status.php says.
const healthy = `{"installed":true,"maintenance":false,"needsDbUpgrade":false,"version":"31.0.2.1","versionstring":"31.0.2","edition":"","productname":"Nextcloud","extendedSupport":false}`

// nextcloudAt are settings for a Nextcloud without a sign-in server of its own.
func nextcloudAt(address string) map[string]any {
	return map[string]any{"hostkind": "nextcloud", "hosturl": address, "signin": "password"}
}

// closed is an address where nobody listens, nor can while the test runs: its port is taken.
func closed(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { must(t, syscall.Close(socket)) })
	must(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(socket)
	must(t, err)
	return fmt.Sprintf("http://127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port) //nolint:forcetypeassert // as it was bound
}

// TestEveryFailureOfTheHostHasItsRemedy produces each failure and reads what the admin is told. The
// checks run at once when the settings change, so that each case takes no round of theirs.
func TestEveryFailureOfTheHostHasItsRemedy(t *testing.T) {
	company := newAuthority(t)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: company.cert.Raw}))
	good := page(200, healthy, "Content-Type", "application/json")
	goodTLS := serveTLS(t, company.issue(t, nil), good)
	expired := company.issue(t, func(c *x509.Certificate) { c.NotBefore, c.NotAfter = time.Unix(0, 0), time.Unix(1e9, 0) })
	named := company.issue(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example.org"} })
	self := new(authority)
	selfCert, selfKey := self.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: company.cert.NotBefore, NotAfter: company.cert.NotAfter})
	selfSigned := company.issue(t, nil)
	selfSigned.Certificate, selfSigned.PrivateKey = [][]byte{selfCert.Raw}, selfKey
	gone, plain := closed(t), serve(t, good)
	tests := map[string]struct {
		address string
		more    map[string]any
		status  string
		remedy  []string
	}{
		"wrong URL":                    {serve(t, http.NotFoundHandler()), nil, "fail", []string{"has no /status.php (404)", "correct “Address of the file host”"}},
		"wrong URL of a WebDAV host":   {serve(t, http.NotFoundHandler()), map[string]any{"hostkind": "webdav"}, "fail", []string{"There is no WebDAV at", "(404)", "“Address of the file host”"}},
		"refused":                      {gone, nil, "fail", []string{"refuses the connection at " + strings.TrimPrefix(gone, "http://"), "“Address of the file host”"}},
		"DNS":                          {unknownName, nil, "fail", []string{"DNS knows no xxx", "“Address of the file host”"}},
		"TLS, authority":               {goodTLS, nil, "fail", []string{"was issued by “CN=Company CA”", "“CA certificates”"}},
		"TLS, self-signed":             {serveTLS(t, selfSigned, good), nil, "fail", []string{"signed by no authority but itself", "“CA certificates”"}},
		"TLS, expired":                 {serveTLS(t, expired, good), map[string]any{"hostca": ca}, "fail", []string{"is valid only from 1970-01-01 to 2001-09-09", "renew it"}},
		"TLS, another name":            {serveTLS(t, named, good), map[string]any{"hostca": ca}, "fail", []string{"is for other.example.org, not for 127.0.0.1"}},
		"TLS, trusted":                 {goodTLS, map[string]any{"hostca": ca}, "pass", nil},
		"https to plain HTTP":          {strings.Replace(plain, "http:", "https:", 1), nil, "fail", []string{"answers without TLS", "“Allow plain HTTP”"}},
		"http to TLS":                  {strings.Replace(goodTLS, "https:", "http:", 1), nil, "fail", []string{"takes no plain HTTP (400)", "begin with https://"}},
		"blocked address":              {plain, map[string]any{"allowedaddresses": ""}, "fail", []string{"add 127.0.0.1 to “Allowed private addresses”"}},
		"maintenance, refused":         {serve(t, page(503, "", "X-Nextcloud-Maintenance-Mode", "1", "Retry-After", "120")), nil, "fail", []string{"is in maintenance", "occ maintenance:mode --off"}},
		"maintenance, told":            {serve(t, page(200, strings.Replace(healthy, `"maintenance":false`, `"maintenance":true`, 1))), nil, "fail", []string{"is in maintenance"}},
		"wrong product":                {serve(t, page(200, strings.Replace(healthy, `"Nextcloud"`, `"ownCloud"`, 1))), nil, "fail", []string{"says that it is ownCloud", "“Kind of file host”"}},
		"clock an hour behind":         {serve(t, dated(-time.Hour, page(200, healthy))), nil, "warn", []string{"The clock of", "is 1 h 0 min behind", "NTP"}},
		"clock an hour ahead":          {serve(t, dated(time.Hour+10*time.Second, page(200, healthy))), nil, "warn", []string{"is 1 h 0 min ahead of"}},
		"too many requests":            {serve(t, page(429, "")), nil, "fail", []string{"refuses requests as too many (429)"}},
		"a broken host":                {serve(t, page(502, "")), nil, "fail", []string{"an error of its own (502)"}},
		"redirect to another origin":   {serve(t, page(302, "", "Location", "https://login.example.com/?secret=canary")), nil, "fail", []string{"redirects to https://login.example.com/, and redirects are not followed"}},
		"captive page":                 {serve(t, page(200, "<html>Pay here", "Content-Type", "text/html")), nil, "fail", []string{"answers with a web page", "sign in at"}},
		"captive page before WebDAV":   {serve(t, page(200, "<html>Pay here", "Content-Type", "text/html")), map[string]any{"hostkind": "webdav"}, "fail", []string{"answers with a web page"}},
		"a proxy that wants a sign-in": {serve(t, page(407, "", "Proxy-Authenticate", "Basic")), nil, "fail", []string{"A proxy between Mattermost and", "(407)"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := nextcloudAt(test.address)
			for key, value := range test.more {
				settings[key] = value
			}
			configure(t, settings)
			fragments := test.remedy
			if !strings.HasPrefix(name, "DNS") && test.status != "pass" {
				fragments = append(fragments, "("+test.address)
			}
			wantCheck(t, "host", test.status, fragments...)
		})
	}
}

// unknownName is longer in its first part than DNS can hold (RFC 1035 2.3.4): resolvers say that there
// is no such name, and ask no name server.
var unknownName = "https://" + strings.Repeat("x", 64) + ".example.com"

// signInAt are settings for a sign-in server at an address, whose token endpoint is /token.
func signInAt(t *testing.T, address string) map[string]any {
	return map[string]any{
		"hostkind": "webdav", "hosturl": serve(t, page(401, "")), "signin": "oauth", "oauthissuer": "", "oauthscopes": "",
		"oauthauthorizeurl": address + "/authorize", "oauthtokenurl": address + "/token",
	}
}

// asTokenEndpoint answers the check's own request as token endpoints do.
func asTokenEndpoint(exchange http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		exchange.ServeHTTP(w, r)
	})
}

// exchange lets a new user come back from the sign-in server with some code, which the plugin
// redeems there.
func exchange(t *testing.T) {
	t.Helper()
	account := newAccount(t)
	authorizeURL, err := site.Plugin(account).Authorize(t.Context())
	must(t, err)
	parsed, err := url.Parse(authorizeURL)
	must(t, err)
	open(t, account.Browser, site.BaseURL()+"/connection/callback/default?"+url.Values{"state": {parsed.Query().Get("state")}, "code": {rand.Text()}}.Encode())
}

// TestEveryFailureOfTheTokenEndpointHasItsRemedy produces each failure and reads what the admin is
// told.
func TestEveryFailureOfTheTokenEndpointHasItsRemedy(t *testing.T) {
	gone := closed(t)
	tests := map[string]struct {
		address string
		more    map[string]any
		codes   int // of as many users, which the sign-in server is sent
		status  string
		remedy  []string
	}{
		"down":                     {gone, nil, 0, "fail", []string{"The sign-in server (" + gone + "/token) refuses the connection", "“OAuth token URL”"}},
		"broken":                   {serve(t, page(502, "")), nil, 0, "fail", []string{"an error of its own (502)"}},
		"nothing there":            {serve(t, http.NotFoundHandler()), nil, 0, "warn", []string{"seems to have nothing at this address (404)", "“OAuth token URL”"}},
		"a page":                   {serve(t, page(200, "<html>", "Content-Type", "text/html")), nil, 0, "warn", []string{"shows a web page", "“OAuth token URL”"}},
		"clock an hour behind":     {serve(t, dated(-time.Hour, page(405, ""))), nil, 0, "warn", []string{"The clock of the sign-in server", "1 h 0 min behind"}},
		"no metadata":              {gone, map[string]any{"oauthissuer": serve(t, http.NotFoundHandler()), "oauthtokenurl": "", "oauthauthorizeurl": ""}, 0, "fail", []string{"publishes no metadata", "“OAuth issuer”"}},
		"exchange: nothing there":  {serve(t, asTokenEndpoint(http.NotFoundHandler())), nil, 1, "warn", []string{"did not answer one user's sign-in as a token endpoint does (status 404)", "if others fail as well, correct “OAuth token URL”"}},
		"exchange: a page":         {serve(t, asTokenEndpoint(page(200, "<html>", "Content-Type", "text/html"))), nil, 2, "fail", []string{"did not answer the last sign-in as a token endpoint does", "without tokens", "“OAuth token URL”"}},
		"exchange: too many":       {serve(t, asTokenEndpoint(page(429, ""))), nil, 1, "warn", []string{"refuses requests as too many (429)"}},
		"exchange: a wrong client": {serve(t, asTokenEndpoint(page(401, `{"error":"invalid_client"}`, "Content-Type", "application/json"))), nil, 2, "fail", []string{"“OAuth client id” or “OAuth client secret”"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := signInAt(t, test.address)
			for key, value := range test.more {
				settings[key] = value
			}
			configure(t, settings)
			if test.codes > 0 {
				wantCheck(t, "token_endpoint", "pass")
			}
			for range test.codes {
				exchange(t)
			}
			wantCheck(t, "token_endpoint", test.status, test.remedy...)
			wantCheck(t, "host", "pass")
		})
	}
}

// TestAWrongClientSecretShowsAndClears signs in at the real sign-in server: the check itself sends no
// secret, but tells at once what the sign-ins of users have met. What one alone has met may be his own.
func TestAWrongClientSecretShowsAndClears(t *testing.T) {
	configure(t, map[string]any{"oauthclientsecret": "not the secret of " + rand.Text()})
	wantCheck(t, "token_endpoint", "pass")
	connect := func() {
		t.Helper()
		if err := site.Connect(t.Context(), newAccount(t), "bob"); err == nil {
			t.Error("a wrong secret was good enough")
		}
	}
	connect()
	wantCheck(t, "token_endpoint", "warn", "refused the plugin's client at one user's sign-in", "if others fail as well, enter “OAuth client id” and “OAuth client secret”")
	connect()
	wantCheck(t, "token_endpoint", "fail", "refused “OAuth client id” or “OAuth client secret” at the last sign-in", "enter those of its registration in the plugin's settings")
	must(t, site.Configure(t.Context(), site.HostSettings()))
	wantCheck(t, "token_endpoint", "pass")
	newConnected(t, "bob")
	wantCheck(t, "token_endpoint", "pass")
}

// TestWhatUsersMeetShows breaks only what users ask for, which the host's own check does not see. They
// take turns: what one user alone meets holds nobody back.
func TestWhatUsersMeetShows(t *testing.T) {
	users := []*stack.Account{site.User, newConnected(t, "bob")}
	tests := map[string]struct {
		fault hosts.Fault
		times int
		want  []string
	}{
		"429":             {hosts.Fault{Status: http.StatusTooManyRequests}, 1, []string{"1 of 1 were refused as too many (429)"}},
		"an open breaker": {hosts.Fault{Status: http.StatusBadGateway}, 6, []string{"1 of 6 were held back", "Look into the host's log"}},
		"a stall":         {hosts.Fault{End: hosts.Stall}, 1, []string{"1 of 1 were given up because no byte came"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			configure(t, nil)
			wantCheck(t, "host", "pass")
			test.fault.Method = "PROPFIND"
			if site.Host.Traits().Home != "" { // the list of spaces is asked for first
				test.fault.Method = http.MethodGet
			}
			for _, test.fault.User = range []string{"alice", "bob"} {
				defer site.Host.Fault(test.fault)()
			}
			for i := range test.times {
				if _, err := site.Plugin(users[i%len(users)]).List(t.Context(), in("/")); err == nil {
					t.Error("the fault has no effect")
				}
			}
			wantCheck(t, "host", "warn", test.want...)
		})
	}
}

// TestAStoreThatIsDown takes the plugin's table away from the server, and then locks it.
func TestAStoreThatIsDown(t *testing.T) {
	configure(t, nil)
	wantCheck(t, "kv_store", "pass")
	database, err := site.Database(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, database.Close(context.WithoutCancel(t.Context()))) })
	change := func(statement string) {
		t.Helper()
		if _, err := database.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Error(err)
		}
	}
	t.Run("gone", func(t *testing.T) {
		change("ALTER TABLE pluginkeyvaluestore RENAME TO pluginkeyvaluestore_away")
		defer change("ALTER TABLE pluginkeyvaluestore_away RENAME TO pluginkeyvaluestore")
		wantCheck(t, "kv_store", "fail", "key-value store", "Mattermost's database")
		wantCheck(t, "key", "fail", "Mattermost's database")
		for name, account := range map[string]*stack.Account{"nobody": nil, "a user": site.User} {
			_, err := site.Plugin(account).Health(t.Context())
			if err == nil || !strings.Contains(err.Error(), `{"status":"fail"}`) {
				t.Errorf("%s sees %v", name, err)
			}
		}
		// New settings can't be put in force then, and they are not to blame.
		must(t, site.Configure(t.Context(), map[string]any{"stallseconds": 6}))
		eventually(t, "the plugin says why its settings are not in force", func() bool { return len(adminHealth(t).Checks) == 1 })
		wantCheck(t, "kv_store", "fail", "key-value store", "Mattermost's database")
	})
	configure(t, nil)
	wantCheck(t, "kv_store", "pass")
	t.Run("hanging", func(t *testing.T) {
		change("BEGIN")
		defer change("ROLLBACK")
		change("LOCK TABLE pluginkeyvaluestore IN ACCESS EXCLUSIVE MODE")
		if health := adminHealth(t); health.Connection != nil || health.Checks == nil {
			t.Errorf("an admin sees %+v", health)
		}
	})
	wantCheck(t, "kv_store", "pass")
}

// switchPlugin disables or enables the plugin on all nodes.
func switchPlugin(t *testing.T, action string) {
	t.Helper()
	must(t, site.OnAllNodes(func(admin *rest.Client) error {
		return admin.Post(t.Context(), "/api/v4/plugins/"+stack.PluginID+"/"+action, nil, nil)
	}))
}

// runs tells whether the plugin runs on any node.
func runs(t *testing.T) bool {
	t.Helper()
	type status struct {
		ID    string `json:"plugin_id"`
		State int
	}
	var statuses []status
	must(t, site.Admin.Get(t.Context(), "/api/v4/plugins/statuses", &statuses))
	const notRunning = 0
	return !slices.ContainsFunc(statuses, func(s status) bool { return s.ID == stack.PluginID && s.State == notRunning })
}

// TestAWrongSettingIsNamedByItsLabel gives the plugin settings that can't be put in force.
func TestAWrongSettingIsNamedByItsLabel(t *testing.T) {
	configureBroken(t, map[string]any{"hosturl": "ftp://files.example.com"})
	wantCheck(t, "configuration", "fail", "“Address of the file host”: the address must start with https://.")
}

// TestAnUploadRouteOutOfReachHasItsRemedy hides Mattermost's own routes from the plugin.
func TestAnUploadRouteOutOfReachHasItsRemedy(t *testing.T) {
	hideServer(t)
	both := []string{"by “Web Server Listen Address” (127.0.0.1:1): ", "connection refused", "by “Site URL” (http://127.0.0.1:1): "}
	wantCheck(t, "transfers", "fail", append(both, "Copies are refused", "“Allow copies that no plugin scans”")...)
	configure(t, map[string]any{"allowunscannedcopies": true})
	wantCheck(t, "transfers", "warn", append(both, "no plugin that scans uploads sees them")...)
}
