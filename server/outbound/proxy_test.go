package outbound

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// forwarder is a real HTTP proxy on loopback. Every name leads to one server.
type forwarder struct {
	*httptest.Server
	to string

	mu      sync.Mutex
	status  int
	asked   []string // methods and targets
	headers []http.Header
}

func newForwarder(t *testing.T, to string) *forwarder {
	t.Helper()
	f := &forwarder{to: to, status: http.StatusOK}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *forwarder) proxy(t *testing.T) Proxy {
	t.Helper()
	address, err := url.Parse(f.URL)
	require.NoError(t, err)
	return Proxy{URL: address, Credentials: filehost.NewSecret("mm:canary")}
}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked, f.headers = append(f.asked, r.Method+" "+r.Host), append(f.headers, r.Header.Clone())
	status := f.status
	f.mu.Unlock()
	if status != http.StatusOK || r.Method != http.MethodConnect {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "through the proxy")
		return
	}
	server, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", f.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	// Before the answer: the first bytes behind it would be the HTTP server's, which reads ahead until then.
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

// secure is a TLS server whose certificate is for example.com, with what makes a client trust it.
func secure(t *testing.T) (server *listener, ca []byte) {
	t.Helper()
	server = listen(t, true, hello)
	return server, certificates(server)
}

func TestServersBeyondAProxyAreReachedThroughIt(t *testing.T) {
	server, ca := secure(t)
	f := newForwarder(t, server.Listener.Addr().String())
	// The proxy lies on loopback, which is not allowed: naming it is enough.
	client := newClient(t, Config{CA: ca, Proxy: f.proxy(t), AllowHTTP: true})
	response, err := get(t, client, "https://example.com/secret?token=canary")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	response, err = get(t, client, "http://example.com/plain")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, []string{"CONNECT example.com:443", "GET example.com"}, f.asked)
	for _, header := range f.headers {
		assert.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("mm:canary")), header.Get("Proxy-Authorization"))
	}
	assert.EqualValues(t, 1, server.requests.Load())
}

func TestWhatTheProxyIsNotForIsReachedWithoutItAndThroughTheFilter(t *testing.T) {
	server := listen(t, false, hello)
	f := newForwarder(t, server.Listener.Addr().String())
	proxy := f.proxy(t)
	proxy.Except = "intranet.example"
	resolver := newResolver(t, "127.0.0.1").resolver()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)

	client := newClient(t, Config{Proxy: proxy, AllowHTTP: true, Resolver: resolver})
	_, err = get(t, client, "http://intranet.example:"+port)
	var blocked *BlockedAddressError
	require.ErrorAs(t, err, &blocked, "loopback is blocked")
	client = newClient(t, Config{Proxy: proxy, AllowHTTP: true, Resolver: resolver, Allowed: loopback})
	_, err = get(t, client, "http://intranet.example:"+port)
	require.NoError(t, err)
	assert.Empty(t, f.asked)
}

func TestAddressesInURLsAreFilteredBeforeAProxyIsAsked(t *testing.T) {
	f := newForwarder(t, "")
	client := newClient(t, Config{Proxy: f.proxy(t), AllowHTTP: true})
	for _, target := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.7/", "http://[::ffff:10.0.0.7]/", "http://[fd00:ec2::254]/",
		"http://10.1/", "http://0x0a000007/", "http://167772167/", "http://10.0.0.7./", "http://127.0.0.1:1/", "http://localhost:1/",
	} {
		_, err := get(t, client, target)
		require.Error(t, err, target)
		assert.Empty(t, f.asked, target)
	}
}

func TestAProxyThatRefusesIsToldFromAServerThatDoes(t *testing.T) {
	server, ca := secure(t)
	f := newForwarder(t, server.Listener.Addr().String())
	client := newClient(t, Config{CA: ca, Proxy: f.proxy(t)})
	for status, want := range map[int]string{
		http.StatusProxyAuthRequired: "wants a sign-in (407)",
		http.StatusForbidden:         "does not connect to the host (403)",
	} {
		f.mu.Lock()
		f.status = status
		f.mu.Unlock()
		_, err := get(t, client, "https://example.com/")
		var refusal *ProxyError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, status, refusal.Status)
		assert.Contains(t, filehost.WayRemedy(err, "the host", "Address"), want)
		assert.NotContains(t, err.Error(), "canary")
	}
	f.Close()
	_, err := get(t, client, "https://example.com/")
	assert.Contains(t, filehost.WayRemedy(err, "the host", "Address"), "can't be reached")
}

// repeating is a proxy that gives back the credentials it is sent, in the answers that net/http quotes in its errors.
func repeating(t *testing.T, answer func(credentials string) string) *url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		_, _ = io.WriteString(connection, answer(user+":"+password+" "+r.Header.Get("Proxy-Authorization")))
		_ = connection.Close()
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	return address
}

func TestTheProxysCredentialsReachNoError(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("mm:canary"))
	for name, answer := range map[string]func(string) string{
		"as a status line":     func(sent string) string { return sent + "\r\n\r\n" },
		"as a status":          func(sent string) string { return "HTTP/1.1 " + sent + "\r\n\r\n" },
		"as words of a status": func(sent string) string { return "HTTP/1.1 403 " + sent + "\r\nContent-Length: 0\r\n\r\n" },
		"as a header line": func(sent string) string {
			return "HTTP/1.1 200 OK\r\n" + strings.ReplaceAll(sent, ":", " ") + "\r\n\r\n"
		},
		"as a length": func(sent string) string { return "HTTP/1.1 200 OK\r\nContent-Length: " + sent + "\r\n\r\n" },
		"as two lengths": func(sent string) string {
			return "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: " + sent + "\r\n\r\n"
		},
		"as an encoding": func(sent string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + sent + "\r\n\r\n" },
		"as a trailer": func(sent string) string {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Trailer, " + sent + "\r\n\r\n"
		},
		"as what follows": func(sent string) string { return "HTTP/1.1 200 OK\r\n\r\n" + sent },
		"nothing":         func(string) string { return "" },
	} {
		proxy := Proxy{URL: repeating(t, answer), Credentials: filehost.NewSecret("mm:canary")}
		client := newClient(t, Config{Proxy: proxy, AllowHTTP: true})
		for _, target := range []string{"https://example.com/", "http://example.com/"} {
			_, err := get(t, client, target)
			if err == nil {
				continue // the head of an answer, of which nothing is an error
			}
			for shown := err; shown != nil; shown = errors.Unwrap(shown) {
				for _, text := range []string{fmt.Sprintf("%v %+v %#v", shown, shown, shown), filehost.WayRemedy(err, "the host", "Address")} {
					assert.NotContains(t, text, "canary", "%s %s", name, target)
					assert.NotContains(t, text, encoded, "%s %s", name, target)
				}
			}
		}
	}
}
