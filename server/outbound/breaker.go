package outbound

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	failuresToOpen    = 5 // in a row
	failuresOfOneUser = 3 // of these, which one user's requests may be the cause of
	openTime          = 10 * time.Second
)

// SparedError is the refusal to call a server that has failed too often in a row.
type SparedError struct {
	Origin string
	Wait   time.Duration // until it is called again
	Err    error         // why the last call failed
}

// Error implements error.
func (e *SparedError) Error() string {
	return fmt.Sprintf("call to %s spared for %s, after: %v", e.Origin, e.Wait, e.Err)
}

// Unwrap gives the last failure to errors.Is and errors.As.
func (e *SparedError) Unwrap() error { return e.Err }

// SparedFor returns Wait. A package that must not know this one finds the error by this method.
func (e *SparedError) SparedFor() time.Duration { return e.Wait }

// breakers keeps one breaker per origin in front of the transport, so that a server that is down costs nobody a
// time-out after the first few. It counts what a server does to everybody: giving no answer, and the errors of a broken
// server. One user can make a server do that to him, by a folder on a storage that hangs; so what he meets alone spares
// it for nobody, unless there is not even a connection. The body of an answer is not watched: it may be one user's
// broken file.
type breakers struct {
	next     *http.Transport
	mu       sync.Mutex
	byOrigin map[string]*breaker
}

type breaker struct {
	circuitbreaker.CircuitBreaker[any]
	mu     sync.Mutex
	last   error          // why the last call failed
	byUser map[string]int // failures in a row that count, of those that a user's request may be the cause of
}

func (b *breakers) of(origin string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.byOrigin[origin]
	if !ok {
		found = &breaker{byUser: map[string]int{}, CircuitBreaker: circuitbreaker.NewBuilder[any]().
			WithFailureThreshold(failuresToOpen).WithSuccessThreshold(1).WithDelay(openTime).Build()}
		b.byOrigin[origin] = found
	}
	return found
}

// RoundTrip implements http.RoundTripper.
func (b *breakers) RoundTrip(request *http.Request) (*http.Response, error) {
	origin, ctx := filehost.OriginOf(request.URL), request.Context()
	breaker := b.of(origin)
	if !filehost.IsProbe(ctx) && !breaker.TryAcquirePermit() {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, &SparedError{Origin: origin, Wait: breaker.RemainingDelay(), Err: breaker.lastFailure()}
	}
	var connected atomic.Bool
	response, err := b.next.RoundTrip(request.WithContext(noting(ctx, &connected)))
	user := "" // whose request may be the cause of a failure
	if connected.Load() {
		user = filehost.UserOf(ctx)
	}
	switch {
	case err == nil && broken(response):
		breaker.failed(ctx, user, fmt.Errorf("status %d", response.StatusCode))
	case err == nil:
		breaker.answered(ctx)
	default:
		err = unreachable(err)
		breaker.failed(ctx, user, err)
	}
	return response, err
}

// noting notes whether a request has got a connection to be sent on.
func noting(ctx context.Context, connected *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
}

// broken tells whether an answer is that of a server that is broken for everybody. 503 is not: hosts say so in their
// maintenance, and of one user's storage that is away. Neither are 501 and 507, which are about the request, nor a 500 in
// XML: there WebDAV works and tells of one request, such as that of an account which Nextcloud has disabled.
func broken(response *http.Response) bool {
	switch response.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError:
		kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
		return kind != "application/xml" && kind != "text/xml"
	}
	return false
}

// answered closes the breaker.
func (b *breaker) answered(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.byUser)
	if filehost.IsProbe(ctx) && !b.IsClosed() {
		b.Close()
		return
	}
	b.RecordSuccess()
}

// failed counts a failure, unless the server was never called, or the caller didn't wait for it, or the same user has met
// enough of them. A probe's failure is not counted: there may be many of them without anybody having asked for anything.
func (b *breaker) failed(ctx context.Context, user string, cause error) {
	var blocked *BlockedAddressError
	says := !errors.As(cause, &blocked) && !errors.Is(context.Cause(ctx), context.Canceled)
	// A half-open breaker has given its one permit away and must get it back, whatever came of it.
	if filehost.IsProbe(ctx) || (!says && !b.IsHalfOpen()) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = cause
	if user != "" && !b.IsHalfOpen() {
		if b.byUser[user] == failuresOfOneUser {
			return
		}
		b.byUser[user]++
	}
	b.RecordFailure()
}

func (b *breaker) lastFailure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}
