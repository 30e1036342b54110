package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sync/errgroup"
)

// calls is one request that many callers repeat, each on a connection of his own that he keeps.
type calls struct {
	Method, URL string        // callerNumber in URL is a number of the caller's own
	Headers     []http.Header // the callers take them in turn: one for each user, or one for all
	Body        []byte
	Status      int // of a good answer
	Callers     int
	WarmUp      int // calls of each caller that are not counted
	Each        int // calls of each caller that are
}

// listing is the first page of a folder through the plugin, for the stack's user.
func (b *bench) listing(folder string) calls { return b.listingAs(folder, b.token) }

// listingAs is listing for the users of these tokens.
func (b *bench) listingAs(folder string, tokens ...string) calls {
	c := calls{Method: http.MethodGet, URL: b.BaseURL() + "/files?" + url.Values{"path": {folder}}.Encode(),
		Status: http.StatusOK, Callers: 1, Each: 1}
	for _, token := range tokens {
		c.Headers = append(c.Headers, http.Header{"Authorization": {"Bearer " + token}})
	}
	return c
}

// health is the least that the plugin can be asked: what it takes is the way there and back.
func (b *bench) health() calls {
	return calls{Method: http.MethodGet, URL: b.BaseURL() + "/health", Headers: []http.Header{{}}, Status: http.StatusOK, Callers: 1, Each: 1}
}

// propfind is what the plugin asks the host at base for that page.
func (b *bench) propfind(base, folder string) calls {
	return calls{Method: "PROPFIND", URL: base + folder[1:] + "/", Headers: []http.Header{b.asked.header}, Body: b.asked.body,
		Status: http.StatusMultiStatus, Callers: 1, Each: 1}
}

// run makes the calls and returns how long each that counts took, to the last byte of its answer.
func (c calls) run(ctx context.Context) ([]time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: c.Callers, MaxIdleConnsPerHost: c.Callers, DisableCompression: true}}
	times := make([]time.Duration, c.Callers*c.Each)
	group, ctx := errgroup.WithContext(ctx)
	for caller := range c.Callers {
		group.Go(func() error {
			for i := -c.WarmUp; i < c.Each; i++ {
				took, err := c.call(ctx, client, numbered(c.URL, caller), c.Headers[caller%len(c.Headers)])
				if err != nil {
					return err
				}
				if i >= 0 {
					times[caller*c.Each+i] = took
				}
			}
			return nil
		})
	}
	return times, group.Wait()
}

func (c calls) call(ctx context.Context, client *http.Client, address string, header http.Header) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, c.Method, address, bytes.NewReader(c.Body))
	if err != nil {
		return 0, err
	}
	request.Header = header.Clone()
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode != c.Status {
		return 0, fmt.Errorf("%s %s: %s", c.Method, address, response.Status)
	}
	return time.Since(began), nil
}

// driveCommand makes this program a process of callers.
const driveCommand = "drive"

// runApart is run in a process of its own: the host lives in ours, and would answer callers in it with less work than
// the plugin, which is in another.
func (c calls) runApart(ctx context.Context) (times []time.Duration, spent time.Duration, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	told, err := json.Marshal(c)
	if err != nil {
		return nil, 0, err
	}
	command := exec.CommandContext(ctx, program, driveCommand)
	command.Stdin, command.Stderr = bytes.NewReader(told), os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, 0, err
	}
	err = json.Unmarshal(out, &times)
	return times, command.ProcessState.UserTime() + command.ProcessState.SystemTime(), err
}

// drive is the process of callers.
func drive(ctx context.Context, in io.Reader, out io.Writer) error {
	var c calls
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return err
	}
	times, err := c.run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(times)
}
