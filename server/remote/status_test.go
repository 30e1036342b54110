package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestStatuses(t *testing.T) {
	cases := map[string]struct {
		status int
		header map[string]string
		want   filehost.Kind
		wait   time.Duration
	}{
		"credential rejected":           {401, nil, filehost.CredentialRejected, 0},
		"forbidden":                     {403, nil, filehost.Forbidden, 0},
		"not found":                     {404, nil, filehost.NotFound, 0},
		"gone":                          {410, nil, filehost.NotFound, 0},
		"method not allowed":            {405, nil, filehost.Unsupported, 0},
		"not implemented":               {501, nil, filehost.Unsupported, 0},
		"conflict":                      {409, nil, filehost.Conflict, 0},
		"precondition failed":           {412, nil, filehost.Changed, 0},
		"locked":                        {423, map[string]string{"Retry-After": "3"}, filehost.Conflict, 3 * time.Second},
		"too early":                     {425, nil, filehost.Conflict, 0},
		"too many requests":             {429, map[string]string{"Retry-After": "7"}, filehost.RateLimited, 7 * time.Second},
		"request timeout":               {408, nil, filehost.Timeout, 0},
		"gateway timeout":               {504, nil, filehost.Timeout, 0},
		"server error":                  {500, nil, filehost.HostUnavailable, 0},
		"bad gateway":                   {502, nil, filehost.HostUnavailable, 0},
		"unavailable":                   {503, map[string]string{"Retry-After": "5"}, filehost.HostUnavailable, 5 * time.Second},
		"insufficient storage":          {507, nil, filehost.HostUnavailable, 0},
		"maintenance":                   {503, map[string]string{"X-Nextcloud-Maintenance-Mode": "1", "Retry-After": "120"}, filehost.Maintenance, 2 * time.Minute},
		"maintenance of something else": {500, map[string]string{"X-Nextcloud-Maintenance-Mode": "1"}, filehost.HostUnavailable, 0},
		"redirect":                      {302, map[string]string{"Location": "/login"}, filehost.HostUnavailable, 0},
		"not modified":                  {304, nil, filehost.HostUnavailable, 0},
		"bad request":                   {400, nil, filehost.HostUnavailable, 0},
		"success of another kind":       {200, nil, filehost.HostUnavailable, 0},
		"no content":                    {204, nil, filehost.HostUnavailable, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, "nextcloud", "", func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
			})
			_, err := client.Stat(t.Context(), alice, filehost.Root)
			assert.Equal(t, c.want, filehost.KindOf(err))
			var ours *filehost.Error
			require.ErrorAs(t, err, &ours)
			assert.Equal(t, c.wait, ours.RetryAfter)
			assert.Contains(t, ours.Message, "Files", "the host by its name")
			assert.NotContains(t, ours.Error(), alice.Secret.Reveal())
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := at("18:00:00")
	for header, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"120":                           2 * time.Minute,
		"-5":                            0,
		"soon":                          0,
		"86400":                         maxRetryAfter,
		"99999999999999999999":          0,
		"Fri, 20 Nov 2026 18:00:30 GMT": 30 * time.Second,
		"Fri, 20 Nov 2026 17:00:00 GMT": 0,
		"Fri, 20 Nov 2099 17:00:00 GMT": maxRetryAfter,
	} {
		assert.Equal(t, want, retryAfter(header, now), header)
	}
}

func TestHostThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := clientOf(t, server.URL, Config{}).Stat(t.Context(), alice, filehost.Root)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

func TestNextcloudSaysWhatIsTheMatterInTheNameOfAnException(t *testing.T) {
	const (
		page = `<?xml version="1.0" encoding="utf-8"?><d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">` +
			`<s:exception>%s</s:exception><s:message>%s</s:message></d:error>`
		unavailable = `Sabre\DAV\Exception\ServiceUnavailable`
		disabled    = `OC\User\DisabledUserException`
		message     = disabled + ": Account disabled"
	)
	cases := map[string]struct {
		status                   int
		page, exception, message string
		want                     filehost.Kind
	}{
		"by password":             {503, page, unavailable, message, filehost.Forbidden},
		"by password, years ago":  {503, page, unavailable, `OC\User\LoginException: Nutzer deaktiviert`, filehost.Forbidden},
		"by token":                {500, page, disabled, "Account disabled", filehost.Forbidden},
		"by token, years ago":     {500, page, `OC\User\LoginException`, "Nutzer deaktiviert", filehost.Forbidden},
		"maintenance":             {503, page, `OCA\DAV\Exception\ServerMaintenanceMode`, "System is in maintenance mode.", filehost.Maintenance},
		"maintenance of a part":   {500, page, `OCA\DAV\Exception\ServerMaintenanceMode`, "System is in maintenance mode.", filehost.HostUnavailable},
		"another trouble":         {503, page, unavailable, `OCP\Lock\LockedException: DisabledUserException`, filehost.HostUnavailable},
		"another exception":       {500, page, `OC\ServerNotAvailableException`, message, filehost.HostUnavailable},
		"not of the library":      {503, "<html>%s%s</html>", unavailable, message, filehost.HostUnavailable},
		"a page too long to read": {503, strings.Repeat(" ", drainBytes) + page, unavailable, message, filehost.HostUnavailable},
		"a page that breaks off":  {503, page[:60] + "%.0s%.0s", unavailable, message, filehost.HostUnavailable},
		"a file of that content":  {404, page, unavailable, message, filehost.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, "nextcloud", "", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = fmt.Fprintf(w, c.page, c.exception, c.message)
			})
			_, err := client.Stat(t.Context(), alice, filehost.Root)
			assert.Equal(t, c.want, filehost.KindOf(err))
		})
	}
}

func TestTimeOfTheCallerIsOver(t *testing.T) {
	client := serve(t, "webdav", "", func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err := client.Stat(ctx, alice, filehost.Root)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
}

func TestCredentialStaysAtTheHost(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another server was called")
	}))
	t.Cleanup(elsewhere.Close)
	for _, kind := range []string{"nextcloud", "owncloud", "opencloud", "webdav"} {
		client := serve(t, kind, "", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", elsewhere.URL+r.URL.Path)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		_, err := client.Stat(t.Context(), alice, path(t, "/a"))
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
		_, _, err = list(t.Context(), client, filehost.Root)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
		_, err = client.Open(t.Context(), alice, known(t, ""))
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
		assert.Error(t, client.Check(t.Context()))

		_, err = client.do(t.Context(), call{method: http.MethodGet, url: elsewhere.URL, credential: &alice})
		assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	}
}

func TestNewRefusesWhatCanNotWork(t *testing.T) {
	address := func(raw string) filehost.Host {
		parsed, err := url.Parse(raw)
		require.NoError(t, err)
		return filehost.Host{BaseURL: parsed}
	}
	good := Config{Host: address("https://files.example.com/a"), Client: &http.Client{}, StallAfter: time.Second}
	_, err := New(good)
	require.NoError(t, err)
	for name, change := range map[string]func(*Config){
		"no base URL":         func(c *Config) { c.Host.BaseURL = nil },
		"no host":             func(c *Config) { c.Host = address("/a") },
		"a way up":            func(c *Config) { c.Host = address("https://files.example.com/a/../b") },
		"no client":           func(c *Config) { c.Client = nil },
		"no limit of a stall": func(c *Config) { c.StallAfter = 0; c.Clock = clockwork.NewFakeClock() },
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			change(&config)
			_, err := New(config)
			require.Error(t, err)
		})
	}
}
