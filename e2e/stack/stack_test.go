package stack_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestScannerSeesAnUpload proves the harness itself: a real server, with a plugin of ours in it
// that reads what a user uploads.
func TestScannerSeesAnUpload(t *testing.T) {
	s, err := stack.Up(t.Context(), stack.Config{Dir: t.TempDir(), Scanner: true, Say: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(); err != nil {
			t.Error(err)
		}
	})
	upload := func(content string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			s.Mattermost.URL+"/api/v4/files?filename=a.txt&channel_id="+s.ChannelID, strings.NewReader(content))
		if err != nil {
			return err
		}
		response, err := s.User.Send(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := upload("harmless"); err != nil {
		t.Fatal(err)
	}
	if err := upload(stack.ScannerMarker); err == nil {
		t.Error("the scanner let its marker pass")
	}
	seen, err := s.Scanned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Name != "a.txt" || seen[0].Size != 8 {
		t.Errorf("the scanner saw %+v", seen)
	}
}

// TestSites brings up the sites that are set up in other ways, up to users who have logged in.
func TestSites(t *testing.T) {
	for name, cfg := range map[string]stack.Config{
		"below a subpath":               {Subpath: "/chat"},
		"below a subpath, with a proxy": {Subpath: "/chat", Proxy: true},
		"without an address":            {NoSiteURL: true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Dir = t.TempDir()
			s, err := stack.Up(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Down(); err != nil {
					t.Error(err)
				}
			})
			var settings struct{ SiteURL string }
			if err := s.User.Get(t.Context(), "/api/v4/config/client?format=old", &settings); err != nil {
				t.Fatal(err)
			}
			want := s.Mattermost.URL
			if cfg.NoSiteURL {
				want = ""
			}
			if settings.SiteURL != want || !strings.HasSuffix(s.Mattermost.URL, cfg.Subpath) || s.User.CSRF() == "" {
				t.Errorf("found at %q, calls itself %q", s.Mattermost.URL, settings.SiteURL)
			}
		})
	}
}

// newHost starts an embedded host whose one user alice has a small tree.
func newHost(t *testing.T) *embedded.Host {
	t.Helper()
	host, err := embedded.Start(t.Context(), hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: "alice", Password: stack.HostPassword("alice")}},
		ClientID: "client", ClientSecret: "secret", RedirectURIs: []string{"http://127.0.0.1/callback"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	if err := sample.WriteSmall(host.Dir("alice")); err != nil {
		t.Fatal(err)
	}
	return host
}

// signIn runs the authorization code flow with PKCE by hand, up to the tokens.
func signIn(t *testing.T, host *embedded.Host) (oauth2.Config, *oauth2.Token) {
	t.Helper()
	config := oauth2.Config{
		ClientID: "client", ClientSecret: "secret", RedirectURL: "http://127.0.0.1/callback",
		Endpoint: oauth2.Endpoint{
			AuthURL: host.Issuer() + "/authorize", TokenURL: host.Issuer() + "/oauth/token", AuthStyle: oauth2.AuthStyleInHeader,
		},
		Scopes: []string{"openid", "offline_access"},
	}
	verifier := oauth2.GenerateVerifier()
	browser := &http.Client{CheckRedirect: func(request *http.Request, _ []*http.Request) error {
		if request.URL.Path == "/callback" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	form, err := stack.OpenSignIn(t.Context(), browser, config.AuthCodeURL("the-state", oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		t.Fatal(err)
	}
	response, err := stack.SubmitSignIn(t.Context(), browser, form, "alice")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	back, err := url.Parse(response.Header.Get("Location"))
	if err != nil || back.Query().Get("state") != "the-state" {
		t.Fatalf("redirect to %q, %v", back, err)
	}
	token, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier)); err == nil {
		t.Error("a code was good twice")
	}
	return config, token
}

func davStatus(t *testing.T, url string, authorize func(*http.Request)) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Depth", "1")
	authorize(request)
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}

func TestHostTakesTokensAndPasswords(t *testing.T) {
	host := newHost(t)
	config, token := signIn(t, host)
	status := func(authorize func(*http.Request)) int { return davStatus(t, host.URL(), authorize) }

	if got := status(token.SetAuthHeader); got != http.StatusMultiStatus {
		t.Errorf("with a token: %d", got)
	}
	if got := status(func(r *http.Request) { r.SetBasicAuth("alice", stack.HostPassword("alice")) }); got != http.StatusMultiStatus {
		t.Errorf("with a password: %d", got)
	}
	if got := status(func(r *http.Request) { r.SetBasicAuth("alice", "wrong") }); got != http.StatusUnauthorized {
		t.Errorf("with a wrong password: %d", got)
	}

	host.ExpireAccessTokens("alice")
	if got := status(token.SetAuthHeader); got != http.StatusUnauthorized {
		t.Errorf("with an expired token: %d", got)
	}
	spent := &oauth2.Token{RefreshToken: token.RefreshToken}
	fresh, err := config.TokenSource(t.Context(), spent).Token()
	if err != nil {
		t.Fatal(err)
	}
	if got := status(fresh.SetAuthHeader); got != http.StatusMultiStatus {
		t.Errorf("with a refreshed token: %d", got)
	}
	if _, err := config.TokenSource(t.Context(), spent).Token(); err == nil {
		t.Error("a refresh token was good twice")
	}
	host.RevokeGrants("alice")
	if got := status(fresh.SetAuthHeader); got != http.StatusUnauthorized {
		t.Errorf("with a revoked token: %d", got)
	}
	if got := host.Counts().Refreshes; got != 2 {
		t.Errorf("%d refreshes counted", got)
	}
}

func TestHostRevokes(t *testing.T) {
	host := newHost(t)
	_, token := signIn(t, host)
	form := url.Values{"token": {token.RefreshToken}, "token_type_hint": {"refresh_token"}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, host.Issuer()+"/revoke", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("client", "secret")
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || host.Grants("alice") != 0 {
		t.Errorf("status %d, %d grants left", response.StatusCode, host.Grants("alice"))
	}
	if got := davStatus(t, host.URL(), token.SetAuthHeader); got != http.StatusUnauthorized {
		t.Errorf("the access token survived its grant: %d", got)
	}
}

func TestTreeKeepsEveryName(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]int{sample.HostileFolder: len(sample.HostileNames), sample.ManyFolder: sample.ManyCount} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil || len(entries) != want {
			t.Errorf("%s holds %d entries, want %d (%v)", folder, len(entries), want, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, sample.HugeFile))
	if err != nil || info.Size() != sample.HugeSize {
		t.Errorf("%s: %v, %v", sample.HugeFile, info, err)
	}
}

func TestApacheWantsThePassword(t *testing.T) {
	apache, err := stack.StartApache(t.Context(), "dora", "pass:word ü", sample.WriteSmall)
	if apache != nil {
		t.Cleanup(func() { _ = apache.Stop() })
	}
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]int{"": 401, "wrong": 401, "pass:word ü": 207} {
		got := davStatus(t, apache.URL, func(r *http.Request) { r.SetBasicAuth("dora", password) })
		if got != want {
			t.Errorf("with password %q: %d, want %d", password, got, want)
		}
	}
}
