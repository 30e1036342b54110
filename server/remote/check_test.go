package remote

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
)

func TestCheck(t *testing.T) {
	const (
		nextcloud = `{"installed":true,"maintenance":false,"needsDbUpgrade":false,"version":"31.0.2.1","versionstring":"31.0.2","edition":"","productname":"Our Cloud","extendedSupport":false}`
		opencloud = `{"installed":true,"maintenance":false,"productname":"OpenCloud"}`
	)
	type status struct {
		code   int
		header map[string]string
		body   string
	}
	cases := map[string]struct {
		kind   string
		answer status
		want   filehost.Kind // Internal = all is well
		remedy string
	}{
		"Nextcloud, renamed":          {"nextcloud", status{200, nil, nextcloud}, filehost.Internal, ""},
		"OpenCloud":                   {"opencloud", status{200, nil, opencloud}, filehost.Internal, ""},
		"OpenCloud as ownCloud":       {"owncloud", status{200, nil, opencloud}, filehost.NotConfigured, "choose what it is as “Kind of file host”"},
		"Nextcloud as OpenCloud":      {"opencloud", status{200, nil, strings.Replace(nextcloud, "Our Cloud", "Nextcloud", 1)}, filehost.NotConfigured, "choose what it is as “Kind of file host”"},
		"OpenCloud as Nextcloud":      {"nextcloud", status{200, nil, opencloud}, filehost.NotConfigured, "choose what it is as “Kind of file host”"},
		"Nextcloud as ownCloud":       {"owncloud", status{200, nil, strings.Replace(nextcloud, "Our Cloud", "Nextcloud", 1)}, filehost.NotConfigured, "choose what it is as “Kind of file host”"},
		"maintenance, told":           {"nextcloud", status{200, nil, strings.Replace(nextcloud, `"maintenance":false`, `"maintenance":true`, 1)}, filehost.Maintenance, "maintenance"},
		"maintenance, refused":        {"nextcloud", status{503, map[string]string{"X-Nextcloud-Maintenance-Mode": "1"}, ""}, filehost.Maintenance, "maintenance"},
		"not installed":               {"nextcloud", status{200, nil, `{"installed":false}`}, filehost.HostUnavailable, "installation"},
		"JSON of something else":      {"nextcloud", status{200, nil, `{}`}, filehost.HostUnavailable, "answers, but not as a file host of this kind does: correct “Address of the file host”"},
		"a page":                      {"nextcloud", status{200, map[string]string{"Content-Type": "text/html; charset=UTF-8"}, "<html>"}, filehost.HostUnavailable, "answers with a web page"},
		"an endless answer":           {"nextcloud", status{200, nil, strings.Repeat(" ", maxJSONBytes+1)}, filehost.HostUnavailable, "answers, but not as a file host"},
		"no such page":                {"nextcloud", status{404, nil, ""}, filehost.HostUnavailable, "has no /dav/status.php (404), which a host of its kind has: correct “Address of the file host”"},
		"redirect":                    {"nextcloud", status{301, map[string]string{"Location": "/nextcloud/"}, ""}, filehost.HostUnavailable, "/nextcloud/, and redirects are not followed: if that is the file host, enter it as “Address of the file host”"},
		"too many requests":           {"nextcloud", status{429, nil, ""}, filehost.RateLimited, "without a limit"},
		"a proxy's sign-in":           {"nextcloud", status{407, map[string]string{"Proxy-Authenticate": "Basic"}, ""}, filehost.HostUnavailable, "A proxy between Mattermost and Files"},
		"an access rule":              {"nextcloud", status{403, nil, ""}, filehost.HostUnavailable, "refuses to show /dav/status.php (403)"},
		"a sign-in before the state":  {"nextcloud", status{401, nil, ""}, filehost.HostUnavailable, "refuses to show /dav/status.php (401)"},
		"TLS wanted":                  {"nextcloud", status{400, nil, "Client sent an HTTP request to an HTTPS server."}, filehost.HostUnavailable, "begin with https://"},
		"out of service":              {"nextcloud", status{503, nil, ""}, filehost.HostUnavailable, "does not say that it is in maintenance"},
		"a broken host":               {"nextcloud", status{502, nil, ""}, filehost.HostUnavailable, "an error of its own (502): look into its log"},
		"a gateway's time-out":        {"nextcloud", status{504, nil, ""}, filehost.Timeout, "does not answer in time"},
		"a redirect to nowhere":       {"nextcloud", status{302, nil, ""}, filehost.HostUnavailable, "does not say where to"},
		"a redirect elsewhere":        {"nextcloud", status{302, map[string]string{"Location": "https://login.example.com/sign-in?token=canary"}, ""}, filehost.HostUnavailable, "redirects to https://login.example.com/sign-in, and"},
		"a redirect to its new place": {"nextcloud", status{301, map[string]string{"Location": "https://cloud.example.com/nc/status.php"}, ""}, filehost.HostUnavailable, "redirects to https://cloud.example.com/nc, and"},
		"a redirect of great length":  {"nextcloud", status{301, map[string]string{"Location": "/" + strings.Repeat("x", 999)}, ""}, filehost.HostUnavailable, "xxx…, and redirects"},
		"WebDAV, sign-in wanted":      {"webdav", status{401, map[string]string{"WWW-Authenticate": "Basic"}, "<html>"}, filehost.Internal, ""},
		"WebDAV, no entry for nobody": {"webdav", status{403, nil, ""}, filehost.Internal, ""},
		"WebDAV, open to all":         {"webdav", status{207, nil, listingOf("")}, filehost.Internal, ""},
		"WebDAV, half an answer":      {"webdav", status{207, nil, listingOf("")[:20]}, filehost.HostUnavailable, "answers, but not as a file host"},
		"WebDAV, a page":              {"webdav", status{200, map[string]string{"Content-Type": "text/html; charset=UTF-8"}, "<html>"}, filehost.HostUnavailable, "answers with a web page"},
		"WebDAV, method not allowed":  {"webdav", status{405, nil, ""}, filehost.HostUnavailable, "There is no WebDAV at Files (http://127.0.0.1:"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, c.kind, "/dav", func(w http.ResponseWriter, r *http.Request) {
				assert.Empty(t, r.Header.Values("Authorization"))
				for name, value := range c.answer.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.answer.code)
				_, _ = io.WriteString(w, c.answer.body)
			})
			err := client.Check(t.Context())
			if c.want == filehost.Internal {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.want, filehost.KindOf(err))
			assert.Contains(t, remedyOf(t, err), c.remedy)
			assert.Contains(t, remedyOf(t, err), "Files (http://127.0.0.1:", "its name and address")
			assert.NotContains(t, remedyOf(t, err), "canary")
		})
	}
}

func remedyOf(t *testing.T, err error) string {
	t.Helper()
	var ours *filehost.Error
	require.ErrorAs(t, err, &ours)
	return ours.Message
}

func TestCheckNamesTheRemedy(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cases := map[string]struct {
		address string
		config  outbound.Config
		remedy  string
	}{
		"blocked address":   {secure.URL, outbound.Config{}, "add 127.0.0.1 to “Allowed private addresses”"},
		"unknown authority": {secure.URL, outbound.Config{Allowed: loopback}, "“CA certificates”"},
		"nobody there":      {gone.URL, outbound.Config{Allowed: loopback, AllowHTTP: true}, "refuses the connection at 127.0.0.1:"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			way, err := outbound.New(c.config)
			require.NoError(t, err)
			err = clientOf(t, c.address, Config{Host: filehost.Host{Kind: "nextcloud"}, Client: way}).Check(t.Context())
			assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
			assert.Contains(t, remedyOf(t, err), c.remedy)
		})
	}
}

func TestAccount(t *testing.T) {
	cases := map[string]struct {
		status int
		body   string
		want   string
		kind   filehost.Kind // when want is ""
	}{
		"OCS 2":                    {200, `{"ocs":{"meta":{"status":"ok","statuscode":200},"data":{"id":"alice","email":null}}}`, "alice", 0},
		"OCS 1":                    {200, `{"ocs":{"meta":{"statuscode":100},"data":{"id":"Ä b"}}}`, "Ä b", 0},
		"rejected":                 {401, `{"ocs":{"meta":{"statuscode":997},"data":[]}}`, "", filehost.CredentialRejected},
		"rejected within":          {200, `{"ocs":{"meta":{"statuscode":997},"data":[]}}`, "", filehost.CredentialRejected},
		"failed within":            {200, `{"ocs":{"meta":{"statuscode":996},"data":[]}}`, "", filehost.HostUnavailable},
		"no data":                  {200, `{"ocs":{"meta":{"statuscode":200},"data":[]}}`, "", filehost.HostUnavailable},
		"no id":                    {200, `{"ocs":{"meta":{"statuscode":200},"data":{}}}`, "", filehost.HostUnavailable},
		"an id that leads away":    {200, `{"ocs":{"meta":{"statuscode":200},"data":{"id":".."}}}`, "", filehost.HostUnavailable},
		"no such API":              {404, "", "", filehost.HostUnavailable},
		"a page":                   {200, `<html>`, "", filehost.HostUnavailable},
		"the CSRF check of an API": {412, `{"message":"CSRF check failed"}`, "", filehost.HostUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, "nextcloud", "/cloud", func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/cloud/ocs/v2.php/cloud/user?format=json", r.RequestURI)
				assert.Equal(t, "true", r.Header.Get("OCS-APIRequest"))
				_, password, _ := r.BasicAuth()
				assert.Equal(t, alice.Secret.Reveal(), password)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			account, err := client.Account(t.Context(), alice)
			assert.Equal(t, c.want, account)
			if c.want != "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.kind, filehost.KindOf(err), "%v", err)
		})
	}
}

func TestAccountOfAHostWithoutUserAPI(t *testing.T) {
	client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "PROPFIND /dav/", r.Method+" "+r.RequestURI)
		if _, password, _ := r.BasicAuth(); password != alice.Secret.Reveal() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, `<multistatus xmlns="DAV:"><response><href>/dav/</href><propstat><prop><resourcetype><collection/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`)
	})
	account, err := client.Account(t.Context(), alice)
	require.NoError(t, err)
	assert.Equal(t, alice.Username, account)

	guessed := alice
	guessed.Secret = filehost.NewSecret("guessed")
	_, err = client.Account(t.Context(), guessed)
	assert.Equal(t, filehost.CredentialRejected, filehost.KindOf(err), "%v", err)
}

func TestACredentialEndsItself(t *testing.T) {
	const done, refused = `{"ocs":{"meta":{"status":"ok","statuscode":200,"message":"OK"},"data":[]}}`,
		`{"ocs":{"meta":{"status":"failure","statuscode":403,"message":"no app password in use"},"data":[]}}`
	bearer := filehost.Credential{Scheme: filehost.Bearer, Secret: filehost.NewSecret("token")}
	for name, c := range map[string]struct {
		credential filehost.Credential
		status     int
		body       string
		want       filehost.Kind // Internal = it is done
	}{
		"an app password":   {alice, 200, done, filehost.Internal},
		"a token":           {bearer, 200, done, filehost.Internal},
		"the user's own":    {alice, 403, refused, filehost.Forbidden},
		"one that is gone":  {alice, 401, "", filehost.CredentialRejected},
		"a host in trouble": {alice, 500, "", filehost.HostUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			client := serve(t, "nextcloud", "/cloud", func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "DELETE /cloud/ocs/v2.php/core/apppassword", r.Method+" "+r.RequestURI)
				assert.Equal(t, "true", r.Header.Get("OCS-APIRequest"))
				assert.NotEmpty(t, r.Header.Get("Authorization"))
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			err := client.Revoker()(t.Context(), c.credential)
			if c.want == filehost.Internal {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.want, filehost.KindOf(err), "%v", err)
		})
	}
	for _, kind := range []string{"owncloud", "webdav", "another"} {
		assert.Nil(t, serve(t, kind, "", func(http.ResponseWriter, *http.Request) {}).Revoker(), kind)
	}
}

func TestAHostThatIsDownIsSparedAndTheCheckSaysWhenItIsBack(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	var calls atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answer(listingOf(""))(w, r)
	}))
	t.Cleanup(host.Close)
	way, err := outbound.New(outbound.Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowHTTP: true})
	require.NoError(t, err)
	client := clientOf(t, host.URL+"/dav", Config{Host: filehost.Host{Kind: "webdav"}, Client: way})
	var ours *filehost.Error
	for ours == nil || ours.RetryAfter == 0 {
		_, err := client.Stat(t.Context(), alice, filehost.Root)
		require.ErrorAs(t, err, &ours)
		require.Equal(t, filehost.HostUnavailable, ours.Kind)
	}
	require.Contains(t, ours.Message, "has not answered lately")
	before := calls.Load()
	_, err = client.Stat(t.Context(), alice, filehost.Root)
	require.Error(t, err)
	require.Equal(t, before, calls.Load())

	require.Error(t, client.Check(t.Context()))
	down.Store(false)
	var degraded *filehost.Degraded
	require.ErrorAs(t, client.Check(t.Context()), &degraded, "it is back")
	require.Contains(t, degraded.Remedy, "of 7 were held back")
	_, err = client.Stat(t.Context(), alice, filehost.Root)
	require.NoError(t, err)
}
