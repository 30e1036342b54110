// Package remote is the client of the file host. It implements filehost.Remote over WebDAV (RFC 4918); what differs from
// host to host is data, in one table of profiles.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// drainBytes is what is read of a body that nobody wants, so that its connection can be used again.
const drainBytes = 4 << 10

// Config makes a Client.
type Config struct {
	Host       filehost.Host
	Client     *http.Client    // reaches the host; needs no total time-out
	StallAfter time.Duration   // an exchange fails when it waits so long for a byte of the host
	Clock      clockwork.Clock // nil = the real one
	Troubled   func()          // called when Check begins to have something to say of users' requests; nil = nobody asks
}

// Client is the client of one file host. It is safe for concurrent use.
type Client struct {
	host    filehost.Host
	profile profile
	grants
	webPage    webPage
	base       filehost.Path // the path of the host's base URL
	http       *http.Client
	stallAfter time.Duration
	clock      clockwork.Clock
	keeping    keeping
	spaces     spaceCache
	traffic    *traffic
	hashing    hashing
	offering   *recent[person, offered]
	names      *recent[nameOf, string]
	witness    func(*http.Response) // of a check: sees each answer; nil otherwise
}

var _ filehost.Remote = (*Client)(nil)

// New makes the client of a host. It fails when the base URL can't be that of a host, or Config is not complete.
func New(config Config) (*Client, error) {
	if config.Host.BaseURL == nil || config.Host.BaseURL.Host == "" {
		return nil, errors.New("the host has no base URL")
	}
	if config.Client == nil || config.StallAfter <= 0 {
		return nil, errors.New("remote.Config needs a Client and a positive StallAfter")
	}
	base, err := decodePath(config.Host.BaseURL.EscapedPath())
	if err != nil {
		return nil, err
	}
	client := *config.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	clock := config.Clock
	if clock == nil {
		clock = clockwork.NewRealClock()
	}
	profile := profileOf(config.Host.Kind)
	return &Client{
		host:       config.Host,
		profile:    profile,
		grants:     newGrants(profile),
		webPage:    newWebPage(config.Host.Origin(), base, profile.webPath),
		base:       base,
		http:       &client,
		stallAfter: config.StallAfter,
		clock:      clock,
		traffic:    newTraffic(clock, config.Troubled),
		hashing:    newHashing(),
		offering:   newRecent[person, offered](clock, mostRemembered),
		names:      newRecent[nameOf, string](clock, mostRemembered),
	}, nil
}

// readMethods change nothing at the host (RFC 9110 9.2.1; RFC 4918 9.1, RFC 3253 3.6, RFC 5323 2).
var readMethods = []string{http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND", "REPORT", "SEARCH"}

// call is one request to the host.
type call struct {
	method     string
	url        string
	header     map[string]string
	body       []byte
	content    *part                // instead of body; nil = none
	credential *filehost.Credential // nil = none is sent
	accept     []int                // the statuses that are no error
	patience   time.Duration        // for the first byte of the answer, where that is longer than for the others
	secret     bool                 // the address is one that lets whoever knows it in: errors don't tell it
}

// do sends a call. The answer's body gives errors of the domain, is guarded against stalling, and must be closed.
func (c *Client) do(ctx context.Context, call call) (*http.Response, error) {
	if call.credential != nil {
		ctx = filehost.ForUser(ctx, call.credential.UserID)
	}
	exchange, guard := c.guard(ctx)
	request, err := c.request(exchange, call)
	if err != nil {
		guard.end()
		return nil, err
	}
	c.traffic.count(func(t *tally) { t.sent++ })
	guard.startFor(max(c.stallAfter, call.patience))
	call.content.under(guard, max(c.stallAfter, call.patience))
	response, err := c.http.Do(request)
	call.content.answered()
	guard.stop()
	if err != nil {
		guard.end()
		if call.secret {
			err = withoutURL(err)
		}
		return nil, guard.classify(withoutQuery(err))
	}
	c.note(response)
	response.Body = &guardedBody{ReadCloser: response.Body, guard: guard}
	if !slices.Contains(call.accept, response.StatusCode) {
		defer func() { _ = response.Body.Close() }()
		return nil, c.refusal(response)
	}
	return response, nil
}

// withoutQuery removes the query from the address in an error: it can hold a token that is ended, or what a user looks for.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		failed.URL, _, _ = strings.Cut(failed.URL, "?")
	}
	return err
}

// withoutURL removes the address.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// note takes down what came of a request that was answered.
func (c *Client) note(response *http.Response) {
	if response.StatusCode == http.StatusTooManyRequests {
		c.traffic.count(func(t *tally) { t.limited++ })
	}
	if c.witness != nil {
		c.witness(response)
	}
}

func (c *Client) request(ctx context.Context, call call) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, call.method, call.url, bytes.NewReader(call.body))
	if err != nil {
		return nil, filehost.E(filehost.Internal, "The request to "+c.host.Name+" can't be made.", err)
	}
	call.content.send(request)
	for name, value := range call.header {
		request.Header.Set(name, value)
	}
	if call.credential == nil {
		return request, nil
	}
	// The one place where a credential goes on the wire.
	if filehost.OriginOf(request.URL) != c.host.Origin() {
		return nil, filehost.E(filehost.Internal, "The request to "+c.host.Name+" can't be made.",
			errors.New("a credential is for the host's own origin only"))
	}
	if call.credential.ReadOnly && !slices.Contains(readMethods, call.method) {
		return nil, filehost.E(filehost.Forbidden, "Your access to "+c.host.Name+" lets you read, and change nothing.",
			fmt.Errorf("%s with a credential that is for reading", call.method))
	}
	switch call.credential.Scheme {
	case filehost.Basic:
		request.SetBasicAuth(call.credential.Username, call.credential.Secret.Reveal())
	default:
		request.Header.Set("Authorization", string(filehost.Bearer)+" "+call.credential.Secret.Reveal())
	}
	return request, nil
}
