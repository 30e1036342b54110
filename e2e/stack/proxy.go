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
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
)

// proxy stands before a Mattermost server. What breaks the contract of the plugin's API is answered
// with 502 and remembered.
type proxy struct {
	// URL is where the proxy is found.
	URL     string
	reverse *httputil.ReverseProxy
	server  *http.Server

	mu     sync.Mutex
	broken []error
}

// startProxy listens on a free loopback port for the server at target, whose site lies at subpath; ctx is for the start
// alone.
func startProxy(ctx context.Context, target, subpath string) (*proxy, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	checked, err := newContract(target+subpath, new(http.Transport))
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{URL: "http://" + listener.Addr().String()}
	quiet := log.New(io.Discard, "", 0)
	p.reverse = &httputil.ReverseProxy{
		Transport: checked,
		ErrorLog:  quiet,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			// The server knows its site by this name, and refuses others' web sockets.
			r.Out.Host = r.In.Host
		},
		ErrorHandler: p.fail,
	}
	p.server = &http.Server{Handler: p.reverse, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
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
