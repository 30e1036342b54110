package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// client calls the plugin and the host over connections that it keeps, one for each caller.
type client struct {
	b    *bench
	http *http.Client
}

func (b *bench) newClient(callers int) *client {
	return &client{b, &http.Client{Transport: &http.Transport{MaxIdleConns: 2 * callers, MaxIdleConnsPerHost: callers, DisableCompression: true}}}
}

// files lists the first page of a folder through the plugin and returns how long it took to the answer's last byte.
func (c *client) files(ctx context.Context, folder string) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.b.BaseURL()+"/files?"+url.Values{"path": {folder}}.Encode(), nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.b.token)
	return c.do(request, http.StatusOK)
}

// propfind asks the host at base the same that the plugin asks for this.
func (c *client) propfind(ctx context.Context, base, folder string) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, "PROPFIND", base+folder[1:]+"/", bytes.NewReader(c.b.asked.body))
	if err != nil {
		return 0, err
	}
	request.Header = c.b.asked.header.Clone()
	return c.do(request, http.StatusMultiStatus)
}

func (c *client) do(request *http.Request, want int) (time.Duration, error) {
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode != want {
		return 0, fmt.Errorf("%s %s: %s", request.Method, request.URL, response.Status)
	}
	return time.Since(began), nil
}
