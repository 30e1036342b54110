package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"
)

// asked is a request that the plugin has made.
type asked struct {
	method, path string // path as it is in the address, escaped
	header       http.Header
	body         []byte
}

// byCurl are curl's arguments for the same request to an address. The body goes into the file.
func (a *asked) byCurl(file, address string) ([]string, error) {
	if err := os.WriteFile(file, a.body, 0o600); err != nil {
		return nil, err
	}
	args := []string{"--request", a.method, "--data-binary", "@" + file}
	for name, values := range a.header {
		// Those that curl makes itself, of the body and of the address.
		if slices.Contains([]string{"Content-Length", "Host"}, name) {
			continue
		}
		args = append(args, "--header", name+": "+values[0])
	}
	return append(args, address), nil
}

// slowHost stands before a host and makes it take longer before it answers. It remembers the last PROPFIND or SEARCH.
type slowHost struct {
	// URL is the host's WebDAV root, through this.
	URL    string
	delay  time.Duration
	server *http.Server

	mu   sync.Mutex
	seen *asked
}

// startSlowHost listens on a free loopback port for the host at target; ctx is for the start alone.
func startSlowHost(ctx context.Context, target string, delay time.Duration) (*slowHost, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	s := &slowHost{URL: "http://" + listener.Addr().String() + to.Path, delay: delay}
	reverse := &httputil.ReverseProxy{
		ErrorLog:      quiet,
		FlushInterval: -1, // an answer arrives as the host sends it
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		},
	}
	s.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.remember(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case <-time.After(s.delay):
			reverse.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *slowHost) remember(r *http.Request) error {
	if r.Method != "PROPFIND" && r.Method != "SEARCH" {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = &asked{r.Method, r.URL.EscapedPath(), r.Header.Clone(), body}
	return nil
}

// last is the last of them, or nil.
func (s *slowHost) last() *asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *slowHost) stop() error { return s.server.Close() }
