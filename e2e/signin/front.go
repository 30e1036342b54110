// Package signin is what the sign-in servers of the end-to-end tests have in common: a front that counts what the plugin
// asks of them, remembers every secret that passes, tells what should never have come twice, and can break one answer.
package signin

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
)

// maxBody is how much of a request or an answer the front reads.
const maxBody = 1 << 20

// UserIDTokenType says that a subject token is a user's id at Zitadel, and no token at all.
const UserIDTokenType = "urn:zitadel:params:oauth:token-type:user_id"

// The grants that are counted by name.
const (
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange" // RFC 8693 2.1
	grantAssertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"     // RFC 7523 2.1
)

// Paths are where a sign-in server answers.
type Paths struct{ Token, Revocation, Keys string }

// Counts is what a sign-in server has been asked since it started.
type Counts struct {
	// TokenRequests counts every call of the token endpoint; Codes, Refreshes, Exchanges (RFC 8693) and
	// Assertions (RFC 7523) those of one grant. Refused ones count as well.
	TokenRequests, Codes, Refreshes, Exchanges, Assertions int
	// Revocations counts requests to end a token (RFC 7009).
	Revocations int
	// KeyReads counts how often the public keys were fetched.
	KeyReads int
	// Replays counts token requests with a code, refresh token or assertion that an earlier one has had.
	Replays int
}

// Fault is something that goes wrong with a sign-in server.
type Fault struct {
	// Callback changes the parameters with which the browser is sent back (RFC 6749 4.1.2).
	Callback func(url.Values)
	// Answer changes what the token endpoint gives, once the server has given it.
	Answer func(map[string]any)
	// Status, if set, is the token endpoint's answer, before the server hears of the request; Error is its code.
	Status int
	Error  string
	// Keys, if set, is the answer to who asks for the public keys.
	Keys int
	// Lose has the server do what it is asked at the token endpoint, and the answer never arrives.
	Lose bool
}

// Front stands before a sign-in server.
type Front struct {
	next  http.Handler
	paths Paths

	mu       sync.Mutex
	counts   Counts
	fault    *Fault
	requests []url.Values // every token request, as it was sent
	access   []string     // every access token that was given out
	spent    map[string]bool
	secrets  map[string]bool
}

// NewFront makes the front of the server that next is.
func NewFront(next http.Handler, paths Paths) *Front {
	return &Front{next: next, paths: paths, spent: map[string]bool{}, secrets: map[string]bool{}}
}

// Break breaks what the fault describes until the function that it returns is called. There is one fault at a time.
func (f *Front) Break(fault Fault) (mend func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = &fault
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.fault = nil
	}
}

// Counts reads all counters.
func (f *Front) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// TokenRequests gives the parameters of every token request, in their order.
func (f *Front) TokenRequests() []url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// AccessTokens gives every access token that was given out, in their order.
func (f *Front) AccessTokens() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.access)
}

// Secrets gives everything secret that the server has handed out or been shown.
func (f *Front) Secrets() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.secrets))
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case f.paths.Token:
		f.token(w, r)
		return
	case f.paths.Revocation:
		f.add(func(c *Counts) { c.Revocations++ })
	case f.paths.Keys:
		f.add(func(c *Counts) { c.KeyReads++ })
		if status := f.broken().Keys; status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	answer := f.ask(r)
	f.callback(answer.header)
	answer.send(w)
}

func (f *Front) add(count func(*Counts)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count(&f.counts)
}

func (f *Front) broken() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		return Fault{}
	}
	return *f.fault
}

// ask has the server answer into memory.
func (f *Front) ask(r *http.Request) *answer {
	got := &answer{header: http.Header{}, status: http.StatusOK}
	f.next.ServeHTTP(got, r)
	return got
}

// token passes a token request on, once it is counted and its secrets are known.
func (f *Front) token(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		http.Error(w, "the request can't be read", http.StatusBadRequest)
		return
	}
	f.heard(form)
	fault := f.broken()
	if fault.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(fault.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": fault.Error})
		return
	}
	got := f.ask(r)
	var issued map[string]any
	if got.status == http.StatusOK && json.Unmarshal(got.body.Bytes(), &issued) == nil {
		f.given(issued)
		if fault.Answer != nil {
			fault.Answer(issued)
			got.body.Reset()
			_ = json.NewEncoder(&got.body).Encode(issued)
		}
	}
	if fault.Lose {
		panic(http.ErrAbortHandler)
	}
	got.send(w)
}

// readForm reads a request's form and leaves its body to be read again, unless somebody has read both already.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.PostForm != nil {
		return r.PostForm, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return url.ParseQuery(string(body))
}

// heard counts a token request, and what came before.
func (f *Front) heard(form url.Values) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, form)
	f.counts.TokenRequests++
	switch form.Get("grant_type") {
	case "authorization_code":
		f.counts.Codes++
	case "refresh_token":
		f.counts.Refreshes++
	case grantExchange:
		f.counts.Exchanges++
	case grantAssertion:
		f.counts.Assertions++
	}
	once := []string{"code", "code_verifier", "refresh_token", "assertion"}
	if form.Get("subject_token_type") != UserIDTokenType { // the id of a user may come again
		once = append(once, "subject_token")
	}
	for _, name := range once {
		if value := form.Get(name); value != "" {
			if f.spent[value] {
				f.counts.Replays++
			}
			f.spent[value], f.secrets[value] = true, true
		}
	}
	for _, name := range []string{"client_secret", "actor_token"} {
		if value := form.Get(name); value != "" {
			f.secrets[value] = true
		}
	}
}

// given remembers the tokens of an answer.
func (f *Front) given(issued map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range []string{"access_token", "refresh_token", "id_token"} {
		if value, _ := issued[name].(string); value != "" {
			f.secrets[value] = true
		}
	}
	if value, _ := issued["access_token"].(string); value != "" {
		f.access = append(f.access, value)
	}
}

// callback remembers the code with which the browser is sent back, or changes its parameters.
func (f *Front) callback(header http.Header) {
	location, err := url.Parse(header.Get("Location"))
	if err != nil {
		return
	}
	query := location.Query()
	if !query.Has("state") || !query.Has("code") && !query.Has("error") {
		return
	}
	f.mu.Lock()
	if code := query.Get("code"); code != "" {
		f.secrets[code] = true
	}
	f.mu.Unlock()
	if fault := f.broken(); fault.Callback != nil {
		fault.Callback(query)
		location.RawQuery = query.Encode()
		header.Set("Location", location.String())
	}
}

// answer is a server's answer before anybody gets it.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

func (a *answer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) //nolint:gosec // what the server behind has answered
}
