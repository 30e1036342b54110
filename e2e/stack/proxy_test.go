package stack

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
)

// TestProxy shows that what breaks the contract doesn't get through, is told at the end, and that
// all else passes as it is.
func TestProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Seen-Host", r.Host)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	p, err := startProxy(t.Context(), server.URL, Config{Proxy: true, Subpath: "/chat"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/chat/api/v4/system/ping": http.StatusOK, "/chat" + apiPath + "/connection": http.StatusBadGateway} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, response.StatusCode, body, want)
		}
		if seen := response.Header.Get("Seen-Host"); want == http.StatusOK && seen != request.Host {
			t.Errorf("%s: the server saw the host %s, want %s", path, seen, request.Host)
		}
	}
	if err := p.Stop(); !errors.Is(err, contract.ErrBroken) {
		t.Errorf("the proxy ends with %v", err)
	}
}

// TestProxyWithPage shows that a page has its path and nothing else, and that other answers pass unchecked where no
// contract is asked for.
func TestProxyWithPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Seen", "server "+r.URL.Path)
	}))
	defer server.Close()
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Seen", "page/"+r.URL.Path) })
	p, err := startProxy(t.Context(), server.URL, Config{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		PagePath: "page/", PagePath + "host.css": "page/host.css", "/host-pages": "server /host-pages", "//x": "server //x",
		apiPath + "/connection": "server " + apiPath + "/connection",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if seen := response.Header.Get("Seen"); seen != want {
			t.Errorf("%s: %q saw it, want %q", path, seen, want)
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}
