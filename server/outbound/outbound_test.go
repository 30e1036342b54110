package outbound

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// listener is a live server on loopback that counts who reached it.
type listener struct {
	*httptest.Server
	requests    atomic.Int64
	connections atomic.Int64
}

func listen(t *testing.T, secure bool, handler http.HandlerFunc) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.requests.Add(1)
		handler(w, r)
	}))
	l.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			l.connections.Add(1)
		}
	}
	l.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		l.StartTLS()
	} else {
		l.Start()
	}
	t.Cleanup(l.Close)
	return l
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func newClient(t *testing.T, config Config) *http.Client {
	t.Helper()
	client, err := New(config)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func get(t *testing.T, client *http.Client, address string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return send(t, client, request)
}

// send reads the answer's body to its end, so that the connection can be used again.
func send(t *testing.T, client *http.Client, request *http.Request) (*http.Response, error) {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response, nil
}

func certificates(server *listener) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestLoopbackIsReachedOnlyWhenAllowed(t *testing.T) {
	server := listen(t, false, hello)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	spellings := map[string]string{
		"address":          "127.0.0.1",
		"mapped into IPv6": "[::ffff:127.0.0.1]",
		"mapped, in hex":   "[::ffff:7f00:1]",
		"name":             "localhost",
	}
	for name, host := range spellings {
		t.Run(name, func(t *testing.T) {
			address := (&url.URL{Scheme: "http", Host: host + ":" + portText(port)}).String()

			_, err := get(t, newClient(t, Config{AllowHTTP: true}), address)
			var blocked *BlockedAddressError
			require.ErrorAs(t, err, &blocked)
			assert.True(t, blocked.BlockedAddress().IsLoopback())
			assert.Zero(t, server.connections.Load())
		})
	}
	_, err := get(t, newClient(t, Config{AllowHTTP: true, Allowed: loopback}), server.URL)
	require.NoError(t, err)
	assert.EqualValues(t, 1, server.requests.Load())
}

func portText(port int) string { return (&net.TCPAddr{Port: port}).String()[1:] }

func TestRebindingNameIsJudgedAtEachConnection(t *testing.T) {
	server := listen(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		hello(w, r)
	})
	answers := newResolver(t, "127.0.0.1", "10.11.12.13", "127.0.0.1")
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback, Resolver: answers.resolver()})
	address := "http://files.example.com" + server.Listener.Addr().String()[len("127.0.0.1"):]

	_, err := get(t, client, address)
	require.NoError(t, err)

	_, err = get(t, client, address)
	var blocked *BlockedAddressError
	require.ErrorAs(t, err, &blocked)
	assert.Equal(t, netip.MustParseAddr("10.11.12.13"), blocked.Address)

	_, err = get(t, client, address)
	require.NoError(t, err)
	assert.EqualValues(t, 2, server.connections.Load())
}

func TestNameOfLoopbackIsNoWayIn(t *testing.T) {
	server := listen(t, false, hello)
	answers := newResolver(t, "127.0.0.1")
	client := newClient(t, Config{AllowHTTP: true, Resolver: answers.resolver()})

	_, err := get(t, client, "http://files.example.com"+server.Listener.Addr().String()[len("127.0.0.1"):])

	var blocked *BlockedAddressError
	require.ErrorAs(t, err, &blocked)
	assert.Zero(t, server.connections.Load())
}

func TestAddresses(t *testing.T) {
	allow := func(prefixes ...string) (list []netip.Prefix) {
		for _, prefix := range prefixes {
			list = append(list, netip.MustParsePrefix(prefix))
		}
		return list
	}
	cases := map[string]struct {
		allowed []netip.Prefix
		address string
		want    bool
	}{
		"public":                                {nil, "93.184.215.14:443", true},
		"public, IPv6":                          {nil, "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443", true},
		"private 10":                            {nil, "10.0.0.1:443", false},
		"private 172.16":                        {nil, "172.31.255.255:443", false},
		"private 192.168":                       {nil, "192.168.1.1:443", false},
		"carrier-grade NAT":                     {nil, "100.100.100.200:443", false},
		"unspecified":                           {nil, "0.0.0.0:443", false},
		"unspecified, IPv6":                     {nil, "[::]:443", false},
		"loopback":                              {nil, "127.0.0.53:53", false},
		"loopback, IPv6":                        {nil, "[::1]:443", false},
		"loopback, mapped":                      {nil, "[::ffff:127.0.0.1]:443", false},
		"loopback, compatible":                  {nil, "[::127.0.0.1]:443", false},
		"link-local":                            {nil, "169.254.1.1:443", false},
		"link-local, IPv6 with zone":            {nil, "[fe80::1%eth0]:443", false},
		"unique local":                          {nil, "[fd12::1]:443", false},
		"multicast":                             {nil, "224.0.0.1:443", false},
		"broadcast":                             {nil, "255.255.255.255:443", false},
		"metadata":                              {nil, "169.254.169.254:80", false},
		"metadata, mapped":                      {nil, "[::ffff:169.254.169.254]:80", false},
		"metadata, IPv6":                        {nil, "[fd00:ec2::254]:80", false},
		"metadata, Oracle":                      {nil, "192.0.0.192:80", false},
		"metadata, Azure":                       {nil, "168.63.129.16:80", false},
		"NAT64":                                 {nil, "[64:ff9b::7f00:1]:443", false},
		"6to4":                                  {nil, "[2002:7f00:1::1]:443", false},
		"Teredo":                                {nil, "[2001:0:7f00:1::1]:443", false},
		"allowed host":                          {allow("10.1.2.3/32"), "10.1.2.3:443", true},
		"neighbour of an allowed host":          {allow("10.1.2.3/32"), "10.1.2.4:443", false},
		"allowed host, mapped":                  {allow("10.1.2.3/32"), "[::ffff:10.1.2.3]:443", true},
		"allowed as a mapped prefix":            {allow("::ffff:10.0.0.0/104"), "10.1.2.3:443", true},
		"all of IPv6 allows no mapped IPv4":     {allow("::/0"), "[::ffff:127.0.0.1]:443", false},
		"allowed unique local":                  {allow("fd12::/16"), "[fd12::1]:443", true},
		"allowed link-local with zone":          {allow("fe80::/10"), "[fe80::1%eth0]:443", true},
		"allowed private leaves metadata alone": {allow("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"), "169.254.169.254:80", false},
		"allowed NAT64, public behind":          {allow("64:ff9b::/96"), "[64:ff9b::5db8:d70e]:443", true},
		"allowed NAT64, loopback behind":        {allow("64:ff9b::/96"), "[64:ff9b::7f00:1]:443", false},
		"no address":                            {nil, "nowhere", false},

		"metadata in allowed link-local":         {allow("169.254.0.0/16"), "169.254.169.254:80", false},
		"metadata in allowed link-local, mapped": {allow("::ffff:169.254.0.0/112"), "[::ffff:169.254.169.254]:80", false},
		"metadata of containers":                 {allow("169.254.0.0/16"), "169.254.170.2:80", false},
		"its neighbour in link-local":            {allow("169.254.0.0/16"), "169.254.169.253:80", true},
		"metadata in allowed unique local":       {allow("fd00::/8"), "[fd00:ec2::254]:80", false},
		"metadata in allowed carrier-grade NAT":  {allow("100.64.0.0/10"), "100.100.100.200:80", false},
		"metadata in all that is allowed":        {allow("0.0.0.0/0"), "168.63.129.16:80", false},
		"metadata in half a network":             {allow("169.254.169.254/31"), "169.254.169.254:80", false},
		"metadata allowed by its address":        {allow("169.254.169.254/32"), "169.254.169.254:80", true},
		"metadata allowed as mapped":             {allow("::ffff:169.254.169.254/128"), "169.254.169.254:80", true},
		"public metadata allowed by its address": {allow("168.63.129.16/32"), "168.63.129.16:80", true},
		"IPv6 metadata allowed by its address":   {allow("fd00:ec2::254/128"), "[fd00:ec2::254]:80", true},
		"another address allowed":                {allow("100.64.0.0/10", "100.100.100.201/32"), "100.100.100.200:80", false},
		"metadata behind NAT64":                  {allow("64:ff9b::/96"), "[64:ff9b::a83f:8110]:80", false},
		"local NAT64":                            {nil, "[64:ff9b:1::5db8:d70e]:443", false},
		"local NAT64, public behind":             {allow("64:ff9b:1::/48"), "[64:ff9b:1::5db8:d70e]:443", true},
		"local NAT64, loopback behind":           {allow("64:ff9b:1::/48"), "[64:ff9b:1::7f00:1]:443", false},
		"local NAT64, metadata behind":           {allow("64:ff9b:1::/48"), "[64:ff9b:1::a9fe:a9fe]:80", false},
		"local NAT64 /48, public behind":         {allow("64:ff9b:1::/48"), "[64:ff9b:1:5db8:d7:e00::]:80", true},
		"local NAT64 /48, metadata behind":       {allow("64:ff9b:1::/48"), "[64:ff9b:1:a9fe:a9:fe00::]:80", false},
		"local NAT64 /56, metadata behind":       {allow("64:ff9b:1::/48"), "[64:ff9b:1:a9:fe:a9fe::]:80", false},
		"local NAT64 /64, metadata behind":       {allow("64:ff9b:1::/48"), "[64:ff9b:1:0:a9:fea9:fe00::]:80", false},
		"local NAT64, allowed by its address":    {allow("64:ff9b:1::a9fe:a9fe/128"), "[64:ff9b:1::a9fe:a9fe]:80", true},
		"local NAT64, the inner one allowed":     {allow("64:ff9b:1::/48", "169.254.169.254/32"), "[64:ff9b:1::a9fe:a9fe]:80", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newAddressFilter(c.allowed).control(t.Context(), "tcp", c.address, nil)
			if c.want {
				assert.NoError(t, err)
				return
			}
			var blocked *BlockedAddressError
			assert.ErrorAs(t, err, &blocked)
		})
	}
}

func TestRedirectIsNeverFollowed(t *testing.T) {
	other := listen(t, false, hello)
	var target atomic.Pointer[string]
	redirect := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", *target.Load())
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	plain, secure := listen(t, false, redirect), listen(t, true, redirect)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback, CA: certificates(secure)})
	for name, c := range map[string]struct{ from, to string }{
		"to another origin":           {plain.URL, other.URL},
		"from https to http":          {secure.URL, other.URL},
		"to a metadata address":       {plain.URL, "http://169.254.169.254/latest/"},
		"to another scheme":           {plain.URL, "file:///etc/passwd"},
		"to the same origin":          {plain.URL, plain.URL + "/elsewhere"},
		"to an address without words": {plain.URL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			target.Store(&c.to)
			before := plain.requests.Load() + secure.requests.Load()
			request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", c.from, strings.NewReader("body"))
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer canary")

			response, err := send(t, client, request)

			require.NoError(t, err)
			assert.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
			assert.Zero(t, other.connections.Load())
			assert.Equal(t, before+1, plain.requests.Load()+secure.requests.Load())
		})
	}
}

func TestURLs(t *testing.T) {
	server := listen(t, false, hello)
	parse := func(raw string) *url.URL {
		parsed, err := url.Parse(raw)
		require.NoError(t, err)
		return parsed
	}
	files := []*url.URL{parse("https://files.example.com/nextcloud"), parse(server.URL)}
	cases := map[string]struct {
		config Config
		target string
	}{
		"plain http":                 {Config{}, server.URL},
		"another scheme":             {Config{AllowHTTP: true}, "ftp://files.example.com/"},
		"user name":                  {Config{AllowHTTP: true}, "http://alice:secret@" + server.Listener.Addr().String()},
		"longer name":                {Config{Origins: files}, "https://files.example.com.evil.org/nextcloud"},
		"longer name, after a user":  {Config{Origins: files}, "https://files.example.com@evil.org/nextcloud"},
		"other port":                 {Config{Origins: files}, "https://files.example.com:8443/nextcloud"},
		"other scheme, allowed":      {Config{Origins: files, AllowHTTP: true}, "http://files.example.com/nextcloud"},
		"parent domain":              {Config{Origins: files}, "https://example.com/"},
		"other port on the same box": {Config{Origins: files, AllowHTTP: true}, "http://127.0.0.1:1/"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.config.Allowed = loopback
			_, err := get(t, newClient(t, c.config), c.target)
			var blocked *BlockedURLError
			require.ErrorAs(t, err, &blocked)
			assert.NotContains(t, blocked.Error(), "secret")
			assert.Zero(t, server.connections.Load())
		})
	}
	client := newClient(t, Config{Origins: files, AllowHTTP: true, Allowed: loopback})
	_, err := get(t, client, strings.Replace(server.URL, "http", "HTTP", 1)+"/any/path")
	require.NoError(t, err)
}

func TestTrust(t *testing.T) {
	server := listen(t, true, hello)

	_, err := get(t, newClient(t, Config{Allowed: loopback}), server.URL)
	require.Error(t, err)
	assert.Zero(t, server.requests.Load())

	_, err = get(t, newClient(t, Config{Allowed: loopback, CA: certificates(server)}), server.URL)
	require.NoError(t, err)

	_, err = New(Config{CA: []byte("no certificate")})
	require.Error(t, err)
}

func TestOldTLSIsRefused(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err := get(t, newClient(t, Config{Allowed: loopback, CA: certificates(&listener{Server: server})}), server.URL)
	require.ErrorContains(t, err, "protocol version")
}

func TestRequestGoesAsAsked(t *testing.T) {
	var header http.Header
	server := listen(t, false, func(_ http.ResponseWriter, r *http.Request) { header = r.Header })
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback, UserAgent: "filehost-attach/1.0"})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)

	_, err = send(t, client, request)

	require.NoError(t, err)
	assert.Equal(t, "filehost-attach/1.0", header.Get("User-Agent"))
	assert.Empty(t, header.Values("Accept-Encoding"), "a compressed body has neither ranges nor a length")
	assert.Empty(t, request.Header, "the caller's request is not ours to change")
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	proxy, err := newClient(t, Config{}).Transport.(*guard).proxy(&url.URL{Scheme: "https", Host: "cloud.example.com"})
	require.NoError(t, err)
	assert.Nil(t, proxy)
}

func TestAnswerWithEndlessHeadersIsRefused(t *testing.T) {
	server := listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeaderBytes))
	})
	_, err := get(t, newClient(t, Config{AllowHTTP: true, Allowed: loopback}), server.URL)
	require.Error(t, err)
}

func TestAServerThatDoesNotAnswerIsGivenUpWhenAskedTo(t *testing.T) {
	server := listen(t, false, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := get(t, newClient(t, Config{AllowHTTP: true, Allowed: loopback, HeaderTimeout: time.Millisecond}), server.URL)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout())
	assert.Zero(t, newClient(t, Config{}).Transport.(*guard).next.next.ResponseHeaderTimeout, "a file host is watched by its own client")
}

func TestCancelEndsTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := listen(t, false, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	_, err = send(t, newClient(t, Config{AllowHTTP: true, Allowed: loopback}), request)
	require.ErrorIs(t, err, context.Canceled)
}
