package stack

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

type echo struct{ seen *http.Request }

func (e *echo) RoundTrip(request *http.Request) (*http.Response, error) {
	e.seen = request
	var body io.Reader = strings.NewReader("")
	if request.Body != nil {
		body = request.Body
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: request.ContentLength}, nil
}

func TestPathsAreBelowTheHomeOfAHostThatHasOne(t *testing.T) {
	for asked, want := range map[string]string{
		"http://x/api/files":                         "path=%2FMine",
		"http://x/api/files?path=%2F":                "path=%2FMine%2F",
		"http://x/api/files?limit=1&path=/a%20b&q=c": "limit=1&path=%2FMine/a%20b&q=c",
		"http://x/api/files?id=p":                    "id=p",
		"http://x/api/files?path=relative":           "path=relative",
		"http://x/api/files?path=%zz":                "path=%zz",
		"http://x/api/health":                        "",
		"http://x/elsewhere?path=/a":                 "path=/a",
	} {
		next := &echo{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, asked, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := home{base: "http://x/api", folder: func() string { return "Mine" }, next: next}.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := next.seen.URL.RawQuery; got != want {
			t.Errorf("%s became %q, want %q", asked, got, want)
		}
	}
	const body = `{"items":[{"path": "/a"},{"path":"b"}],"folder":"/"}`
	next := &echo{}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/api/attach", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := home{base: "http://x/api", folder: func() string { return "Mine" }, next: next}.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if next.seen.ContentLength != int64(len(body)+2*len("/Mine")) {
		t.Errorf("%d bytes were sent", next.seen.ContentLength)
	}
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != body || response.ContentLength != int64(len(body)) {
		t.Errorf("%s came back, %v", got, err)
	}
}
