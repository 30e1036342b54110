package suite

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// postRaw sends a body as it is and gives the API's error, if any.
func postRaw(t *testing.T, path, body string, header http.Header) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.BaseURL()+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	maps.Copy(request.Header, header)
	response, err := site.Plugin(site.User).Send(request)
	if err != nil {
		return api.AsProblem(err)
	}
	return response.Body.Close()
}

// TestBodiesAreReadStrictly sends what another reader than the plugin could read in another way.
func TestBodiesAreReadStrictly(t *testing.T) {
	foreign := newChannel(t)
	const item = `"items":[{"path":"/Welcome.txt"}]`
	channel := `"channel_id":"` + site.ChannelID + `"`
	good := `{` + channel + `,` + item + `}`
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	_, err := io.WriteString(writer, good)
	must(t, errors.Join(err, writer.Close()))

	tests := map[string]struct {
		body, field string
		header      http.Header
	}{
		"no body":                         {``, "body", nil},
		"no object":                       {`[` + good + `]`, "body", nil},
		"two objects":                     {good + good, "body", nil},
		"an object cut off":               {good[:len(good)-1], "body", nil},
		"a mark of byte order":            {"\ufeff" + good, "body", nil},
		"another encoding":                {"\xff\xfe{\x00}\x00", "body", nil},
		"one channel, then another":       {`{"channel_id":"` + foreign + `",` + channel + `,` + item + `}`, "channel_id", nil},
		"a channel in another case":       {`{"Channel_ID":"` + foreign + `",` + channel + `,` + item + `}`, "Channel_ID", nil},
		"who to act as":                   {`{"user_id":"` + site.User2.ID + `",` + channel + `,` + item + `}`, "user_id", nil},
		"null for a channel":              {`{"channel_id":null,` + item + `}`, "channel_id", nil},
		"null for an item":                {`{` + channel + `,"items":[{"path":"/Welcome.txt"},null]}`, "items[1]", nil},
		"a number for a path":             {`{` + channel + `,"items":[{"path":"/Welcome.txt"},{"path":7}]}`, "items[1].path", nil},
		"a text for a yes or no":          {`{` + channel + `,` + item + `,"dry_run":"false"}`, "dry_run", nil},
		"an unknown field of an item":     {`{` + channel + `,"items":[{"path":"/Welcome.txt","owner":"bob"}]}`, "items[0].owner", nil},
		"two paths of an item":            {`{` + channel + `,"items":[{"path":"/Welcome.txt","path":"/Kinds"}]}`, "items[0].path", nil},
		"half a character":                {`{` + channel + `,` + item + `,"message":"\ud83d"}`, "message", nil},
		"bytes that are no text":          {`{` + channel + `,` + item + ",\"message\":\"\xff\"}", "message", nil},
		"a NUL":                           {`{` + channel + `,` + item + `,"message":"a\u0000b"}`, "message", nil},
		"deep nesting":                    {`{"items":` + strings.Repeat(`[`, 100_000), "items[0]", nil},
		"a form":                          {good, "Content-Type", http.Header{"Content-Type": {"text/plain"}}},
		"no type":                         {good, "Content-Type", http.Header{"Content-Type": {""}}},
		"compressed":                      {zipped.String(), "Content-Encoding", http.Header{"Content-Encoding": {"gzip"}}},
		"compressed and not said to be":   {zipped.String(), "body", nil},
		"a character set that isn't ours": {good, "Content-Type", http.Header{"Content-Type": {"application/json; charset=utf-7"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := site.Host.Counts().WithCredential
			problem := wantProblem(t, postRaw(t, "/attach", test.body, test.header), "invalid_request", 400)
			if problem.Details["field"] != test.field {
				t.Errorf("the field is %v, want %q", problem.Details["field"], test.field)
			}
			if after := site.Host.Counts().WithCredential; after != before {
				t.Error("the host was asked all the same")
			}
		})
	}
	wantProblem(t, postRaw(t, "/attach?host=other", good, nil), "invalid_request", 400)
	must(t, postRaw(t, "/attach", good, nil))
}

// TestTenThousandItems are refused by their number alone.
func TestTenThousandItems(t *testing.T) {
	paths := make([]string, 10_000)
	for i := range paths {
		paths[i] = "/Welcome.txt"
	}
	before := site.Host.Counts().WithCredential
	_, err := site.Plugin(site.User).Attach(t.Context(), copies(paths...))
	problem := wantProblem(t, err, "too_large", 413)
	if problem.Details["limit"] != float64(10) || problem.Details["actual"] != float64(10_000) || problem.Details["limit_owner"] == nil {
		t.Errorf("details are %v", problem.Details)
	}
	if after := site.Host.Counts().WithCredential; after != before {
		t.Error("the host was asked all the same")
	}
}

// spaces is a body without an end that counts what is taken of it.
type spaces struct{ taken atomic.Int64 }

func (s *spaces) Read(buffer []byte) (int, error) {
	for i := range buffer {
		buffer[i] = ' '
	}
	s.taken.Add(int64(len(buffer)))
	return len(buffer), nil
}

// TestABodyWithoutEnd is cut at the limit: what comes after it is not waited for.
func TestABodyWithoutEnd(t *testing.T) {
	const length, slack = 1 << 30, 64 << 20 // the slack is what the two ends of a connection buffer
	body := new(spaces)
	// The contract's transport would read the body first, so this client goes without it.
	client := rest.New(site.BaseURL(), site.User.Token)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, client.URL+"/attach", io.LimitReader(body, length))
	must(t, err)
	request.ContentLength = length
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Send(request)
	if err == nil {
		must(t, response.Body.Close())
	}
	problem := wantProblem(t, api.AsProblem(err), "too_large", 413)
	if problem.Details["limit"] != float64(1<<20) || problem.Details["limit_owner"] != "plugin" || problem.Details["field"] != "body" {
		t.Errorf("details are %v", problem.Details)
	}
	if taken := body.taken.Load(); taken > slack {
		t.Errorf("%d bytes were taken", taken)
	}
}

// TestWaysOut names what lies outside of the user's own folder, in each way that a path or an id can be written.
func TestWaysOut(t *testing.T) {
	id := func(path string) string { return "p" + base64.RawURLEncoding.EncodeToString([]byte(path)) }
	for _, query := range []string{
		"path=/../bob", "path=/%2e%2e/bob", "path=/..%2Fbob", "path=/Kinds/../../bob", "path=/./", "path=//", "path=/Kinds//", "path=/Kinds//part",
		"path=/..%5Cbob", "path=/Kinds%5C..%5C..%5Cbob", "path=..", "path=bob", "path=/%00", "path=/Kinds%00.txt", "path=/%FF", "path=/%C0%AE%C0%AE/bob",
		"path=https://example.com/", "path=/" + strings.Repeat("a/", 2048) + "a",
		"id=" + id("/../bob"), "id=" + id("/Kinds/../../bob"), "id=" + id("bob"), "id=" + id("/"), "id=" + id("/Kinds//x"), "id=" + id("/a\x00"), "id=" + id("/"+strings.Repeat("a", 5000)),
		"id=" + id("/Kinds") + "=", "id=" + id("/Kinds") + "%0A", "id=x", "id=p%2F", "id=../bob",
	} {
		t.Run(query[:min(len(query), 40)], func(t *testing.T) {
			before := site.Host.Counts().WithCredential
			problem := wantProblem(t, api.AsProblem(site.Plugin(site.User).Get(t.Context(), "/files?"+query, nil)), "invalid_request", 400)
			if name, _, _ := strings.Cut(query, "="); problem.Details["field"] != name {
				t.Errorf("the field is %v", problem.Details["field"])
			}
			if after := site.Host.Counts().WithCredential; after != before {
				t.Error("the host was asked all the same")
			}
		})
	}
}

// TestNamesAreNotNormalised asks for one spelling of a name: it is not the file of another spelling.
func TestNamesAreNotNormalised(t *testing.T) {
	const decomposed = "cafe\u0301 decomposed.txt"
	if site.Host.Takes(decomposed) {
		attach(t, copies(sample.HostileFolder+"/"+decomposed))
	}
	for _, path := range []string{sample.HostileFolder + "/café decomposed.txt", "/WELCOME.txt", "/Welcome.txt ", "/%57elcome.txt", "/Welcome.txt\u200b"} {
		_, err := site.Plugin(site.User).Attach(t.Context(), copies(path))
		wantProblem(t, err, "not_found", 404)
	}
}

// TestOtherSpellingsOfRoutes reach no other route, and nothing behind the plugin.
func TestOtherSpellingsOfRoutes(t *testing.T) {
	base, err := url.Parse(site.Mattermost.URL)
	must(t, err)
	for _, path := range []string{
		"/plugins/filehost-attach/api/nothing", "/plugins/filehost-attach/api/files/", "/plugins/filehost-attach/api//files", "/plugins/filehost-attach/api/Files",
		"/plugins/filehost-attach/api/files%2F", "/plugins/filehost-attach/api%2Ffiles%00", "/plugins/filehost-attach/api/connection/callback/default/x",
		"/plugins/filehost-attach/public/../plugin.json", "/plugins/filehost-attach/public/%2e%2e/plugin.json", "/plugins/filehost-attach/",
		"/plugins/filehost-attach/files", "/plugins/filehost-attach/api/connection/confirm/a%2Fb",
	} {
		t.Run(path, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.Mattermost.URL, nil)
			must(t, err)
			request.URL = &url.URL{Scheme: base.Scheme, Host: base.Host, Opaque: "//" + base.Host + base.Path + path} // as it is spelled
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			request.Header.Set("Authorization", "Bearer "+site.User.Token)
			response, err := client.Do(request)
			must(t, err)
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			must(t, err)
			if response.StatusCode/100 == 2 || response.StatusCode >= 500 || bytes.Contains(body, []byte("Welcome")) {
				t.Errorf("got %d %s", response.StatusCode, body)
			}
		})
	}
}
