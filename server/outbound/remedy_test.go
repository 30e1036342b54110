package outbound

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// authority issues certificates that nobody trusts by default.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Company CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	return a
}

// sign makes a certificate for the template's names; the first one signs itself.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	parent, parentKey := a.cert, a.key
	if parent == nil {
		parent, parentKey = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(a.t, err)
	return cert, key
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// serve starts a server on 127.0.0.1 whose certificate is for the names and valid from begin to end.
func (a *authority) serve(begin, end time.Time, names ...string) string {
	cert, key := a.sign(&x509.Certificate{DNSNames: names, NotBefore: begin, NotAfter: end, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	server := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	a.t.Cleanup(server.Close)
	return server.URL
}

// rawServer answers every request with the same bytes and closes the connection.
func rawServer(t *testing.T, answer string) string {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1))
			_, _ = io.WriteString(conn, answer)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	return "http://" + listener.Addr().String()
}

// TestEveryWayToMissAServerHasARemedy meets each failure for real, on loopback.
func TestEveryWayToMissAServerHasARemedy(t *testing.T) {
	company := newAuthority(t)
	past, now, future := time.Date(2021, 2, 3, 0, 0, 0, 0, time.UTC), time.Date(2022, 3, 4, 0, 0, 0, 0, time.UTC), time.Date(2119, 1, 1, 0, 0, 0, 0, time.UTC)
	good := company.serve(past, future, "other.example.org", "*.example.net")
	unknown := company.serve(past, future, "files.example.org")
	stale := company.serve(past, now, "files.example.org")
	itself := listen(t, true, hello)
	plain := listen(t, false, hello)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	old := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	named := func(address string) string {
		return strings.Replace(strings.Replace(address, "127.0.0.1", "files.example.org", 1), "http:", "https:", 1)
	}
	trusting := Config{Allowed: loopback, AllowHTTP: true, CA: company.pem(), Resolver: newResolver(t, "127.0.0.1").resolver()}
	for name, c := range map[string]struct {
		config  Config
		address string
		remedy  string
	}{
		"private address": {Config{Resolver: newResolver(t, "10.1.2.3").resolver()}, "https://files.example.org",
			"Files has the address 10.1.2.3, which is not public, and such addresses are called only where an admin lists them: add 10.1.2.3 to “Allowed private addresses” in the plugin's settings, or, if that is not the right server, correct “Address”."},
		"metadata of a cloud": {Config{Resolver: newResolver(t, "169.254.169.254").resolver()}, "https://files.example.org",
			"Files has the address 169.254.169.254, where clouds give their machines secrets; the plugin does not call it. Correct “Address” in the plugin's settings, or the DNS entry."},
		"metadata in a network that is allowed": {Config{Allowed: []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10")}, Resolver: newResolver(t, "100.100.100.200").resolver()}, "https://files.example.org",
			"Files has the address 100.100.100.200, where clouds give their machines secrets; the plugin does not call it. Correct “Address” in the plugin's settings, or the DNS entry."},
		"a name that DNS does not know": {Config{Resolver: newRefusing(t, dnsmessage.RCodeNameError).resolver()}, "https://files.example.org",
			"DNS knows no files.example.org: correct “Address” in the plugin's settings, or add the name to the DNS that the Mattermost server's machine uses."},
		"DNS that fails": {Config{Resolver: newRefusing(t, dnsmessage.RCodeServerFailure).resolver()}, "https://files.example.org",
			"The name files.example.org can't be looked up, because the DNS server of the Mattermost server's machine does not answer: check that machine's name servers."},
		"certificate of an authority of its own": {Config{Allowed: loopback, Resolver: trusting.Resolver}, named(unknown),
			"The certificate of Files was issued by “CN=Company CA”, which is not trusted here: paste that authority's certificate into “CA certificates” in the plugin's settings, or, if the authority is a public one, let the server send its intermediate certificates too."},
		"certificate signed by itself": {trusting, itself.URL,
			"The certificate of Files is signed by no authority but itself (“O=Acme Co”): paste it into “CA certificates” in the plugin's settings, or have one issued by an authority that is trusted."},
		"certificate for another name": {trusting, named(good),
			"The certificate of Files is for other.example.org, *.example.net, not for files.example.org: correct “Address” in the plugin's settings, or give the server a certificate for files.example.org."},
		"certificate that has expired": {trusting, named(stale),
			"The certificate of Files is valid only from 2021-02-03 to 2022-03-04: renew it there. If today lies in between, the clock of the Mattermost server's machine is wrong."},
		"https to a port of plain http": {trusting, named(plain.URL),
			"Files answers without TLS: “Address” in the plugin's settings has the wrong port, or must begin with http:// (and needs “Allow plain HTTP”)."},
		"http to a port of TLS": {trusting, rawServer(t, "\x15\x03\x01\x00\x02\x02\x46"),
			"Files wants TLS: let “Address” in the plugin's settings begin with https://."},
		"TLS that is too old": {trusting, old.URL,
			"Files refuses the TLS connection (tls: protocol version not supported): it must offer TLS 1.2 or newer for this name and ask for no client certificate."},
		"something that is no web server": {trusting, rawServer(t, "SSH-2.0-OpenSSH_9.2\r\n"),
			"What answers as Files does not speak HTTP: correct the port of “Address” in the plugin's settings."},
		"a connection that is just closed": {trusting, rawServer(t, ""),
			"Files ends the connection without an answer: look into its log, and at the firewall or proxy in between."},
		"nobody there": {trusting, gone.URL,
			"Files refuses the connection at " + gone.Listener.Addr().String() + ": check that it runs, and that “Address” in the plugin's settings has the right name and port."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := get(t, newClient(t, c.config), c.address)
			var unreachable *UnreachableError
			require.ErrorAs(t, err, &unreachable)
			assert.Equal(t, c.remedy, unreachable.Remedy("Files", "Address"), "%v", err)
		})
	}
}

func TestWhatIsNotOfTheWayHasNoRemedyHere(t *testing.T) {
	assert.Empty(t, (&UnreachableError{Err: context.Canceled}).Remedy("Files", "Address"))
}

func TestANetworkThatIsAwayHasARemedy(t *testing.T) {
	to := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443}
	for remedy, cause := range map[string]error{
		"Files does not answer at 192.0.2.1:443: check that it is switched on": context.DeadlineExceeded,
		"No connection to Files at 192.0.2.1:443 can be made":                  net.ErrClosed,
	} {
		assert.Contains(t, (&UnreachableError{Err: &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: cause}}).Remedy("Files", "Address"), remedy)
	}
}

func TestWordsOfAServerAreShortAndOnOneLine(t *testing.T) {
	got := clean("a\nb\x1b[31m" + strings.Repeat("x", 1000))
	assert.Len(t, []rune(got), maxClean+1)
	assert.NotContains(t, got, "\n")
	assert.NotContains(t, got, "\x1b")
	assert.Equal(t, "a, b, c, others", namesOf(&x509.Certificate{DNSNames: []string{"a", "b", "c", "d"}}))
	assert.Equal(t, "192.0.2.1", namesOf(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1)}}))
	assert.Equal(t, "no name that could be compared", namesOf(&x509.Certificate{}))
}
