package stack

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
)

// proxy stands before a Mattermost server, and puts a page below its address. What breaks the contract of the plugin's API
// is answered with 502 and remembered, where that is asked for.
type proxy struct {
	// URL is where the proxy is found.
	URL    string
	server *http.Server

	mu     sync.Mutex
	broken []error
}

// startProxy listens on a free loopback port for the server at target, as cfg's Proxy, Page and Subpath say; ctx is for the
// start alone.
func startProxy(ctx context.Context, target string, cfg Config) (*proxy, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	var transport http.RoundTripper = new(http.Transport)
	if cfg.Proxy {
		if transport, err = newContract(target+cfg.Subpath, transport); err != nil {
			return nil, err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{URL: "http://" + listener.Addr().String()}
	quiet := log.New(io.Discard, "", 0)
	reverse := &httputil.ReverseProxy{
		Transport: transport,
		ErrorLog:  quiet,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			// The server knows its site by this name, and refuses others' web sockets.
			r.Out.Host = r.In.Host
		},
		ErrorHandler: p.fail,
	}
	p.server = &http.Server{Handler: withPage(cfg.Subpath+PagePath, cfg.Page, reverse), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// withPage leaves what lies below path to page, if there is one, and all else to next as it is.
func withPage(path string, page, next http.Handler) http.Handler {
	if page == nil {
		return next
	}
	page = http.StripPrefix(path, page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			page.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *proxy) fail(w http.ResponseWriter, _ *http.Request, err error) {
	if errors.Is(err, contract.ErrBroken) {
		p.mu.Lock()
		p.broken = append(p.broken, err)
		p.mu.Unlock()
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// Stop ends the proxy and fails when anything that came through broke the contract.
func (p *proxy) Stop() error {
	err := p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(append(p.broken, err)...)
}
