package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// App tokens are made and ended by the service auth-app of OpenCloud and of ownCloud Infinite Scale. What they list of a
// token differs: the first versions list its bcrypt hash, which ends it; later ones an id.
const (
	appTokensPath = "/auth-app/tokens"
	graphUserPath = "/graph/v1.0/users/"

	// appTokenLabel names the tokens of this plugin where the host lets a caller name them; impersonatedLabel is that of
	// tokens made for others elsewhere.
	appTokenLabel     = "filehost-attach"
	impersonatedLabel = "Generated via Impersonation API"

	maxCompared    = 10 // hashes of one user's tokens that one is compared with
	maxHashCost    = 12 // of such a hash: OpenCloud's is 11, and each one more doubles the time
	maxSweptTokens = 20 // at a time
)

// appToken is one as the host lists it.
type appToken struct {
	Token   string    `json:"token"` // its hash or its id; the token itself when it is made
	Expires time.Time `json:"expiration_date"`
	Label   string    `json:"label"`
}

// isHash tells whether what stands for a token is its bcrypt hash, and not an id.
func (t appToken) isHash() bool { return strings.HasPrefix(t.Token, "$2") }

// bearable tells whether what is listed is a hash that can be compared with in less than a second.
func (t appToken) bearable() bool {
	cost, err := bcrypt.Cost([]byte(t.Token))
	return err == nil && cost <= maxHashCost
}

// hashing compares tokens with hashes, one at a time: each comparison keeps a processor busy, and the server has other
// things to do.
type hashing struct {
	turn    chan struct{}
	compare func(hash, secret []byte) error
}

func newHashing() hashing {
	return hashing{turn: make(chan struct{}, 1), compare: bcrypt.CompareHashAndPassword}
}

// find returns the listed token that the secret is, if its hash is among the first. It changes what is listed, and fails
// only when ctx ends.
func (h hashing) find(ctx context.Context, listed []appToken, secret filehost.Secret) (found appToken, ok bool, err error) {
	tooLate := func() error {
		return filehost.E(filehost.Timeout, "It took too long to find out which app token this is.", ctx.Err())
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return appToken{}, false, tooLate()
	}
	listed = slices.DeleteFunc(listed, func(t appToken) bool { return !t.bearable() })
	for _, token := range listed[:min(len(listed), maxCompared)] {
		if ctx.Err() != nil {
			return appToken{}, false, tooLate()
		}
		if h.compare([]byte(token.Token), []byte(secret.Reveal())) == nil {
			return token, true, nil
		}
	}
	return appToken{}, false, nil
}

// AppTokens returns the host's app tokens; nil = it makes none.
func (c *Client) AppTokens() filehost.AppTokens {
	if !c.profile.appTokens {
		return nil
	}
	return c
}

// MintAppToken implements filehost.AppTokens.
func (c *Client) MintAppToken(ctx context.Context, by filehost.Credential, name string, life time.Duration) (filehost.AppToken, error) {
	user, err := c.graphUser(ctx, by, name)
	if err != nil {
		return filehost.AppToken{}, err
	}
	query := url.Values{"userID": {user.ID}, "expiry": {life.String()}, "label": {appTokenLabel}}
	response, err := c.do(ctx, call{
		method:     http.MethodPost,
		url:        c.host.Origin() + c.base.Escaped() + appTokensPath + "?" + query.Encode(),
		header:     map[string]string{"Accept": "application/json"},
		credential: &by,
		accept:     []int{http.StatusOK, http.StatusCreated},
	})
	if err != nil {
		return filehost.AppToken{}, c.appTokensRefused(err)
	}
	defer func() { _ = response.Body.Close() }()
	var made appToken
	if err := c.readJSON(response.Body, &made); err != nil {
		return filehost.AppToken{}, err
	}
	if made.Token == "" || made.Expires.IsZero() {
		return filehost.AppToken{}, c.nonsense(errors.New("the host made no app token"))
	}
	return filehost.AppToken{Username: user.Name, Secret: filehost.NewSecret(made.Token), Expires: made.Expires}, nil
}

// graphUser is a user as the graph API knows him.
type graphUser struct {
	ID      string `json:"id"`
	Name    string `json:"onPremisesSamAccountName"`
	Enabled *bool  `json:"accountEnabled"` // nil = the host doesn't say
}

// graphUser looks a user up. The answer must be for the name that was asked for: hosts fold and search.
func (c *Client) graphUser(ctx context.Context, by filehost.Credential, name string) (graphUser, error) {
	none := filehost.E(filehost.NotFound, c.host.Name+" has no such user.", nil)
	if _, ok := filehost.Root.Join(name); !ok || len(name) > maxNameBytes {
		return graphUser{}, none
	}
	response, err := c.do(ctx, call{
		method:     http.MethodGet,
		url:        c.host.Origin() + c.base.Escaped() + graphUserPath + url.PathEscape(name),
		header:     map[string]string{"Accept": "application/json"},
		credential: &by,
		accept:     []int{http.StatusOK},
	})
	switch {
	case filehost.KindOf(err) == filehost.NotFound:
		return graphUser{}, none
	case err != nil:
		return graphUser{}, err
	}
	defer func() { _ = response.Body.Close() }()
	var user graphUser
	if err := c.readJSON(response.Body, &user); err != nil {
		return graphUser{}, err
	}
	_, fits := filehost.Root.Join(user.Name)
	switch {
	case user.ID == "" || !fits || strings.Contains(user.Name, ":"):
		return graphUser{}, c.nonsense(errors.New("the user's name or id can't be used"))
	case user.ID != name && user.Name != name, user.Enabled != nil && !*user.Enabled:
		return graphUser{}, none
	}
	return user, nil
}

// appTokensRefused words a failure of the service for app tokens.
func (c *Client) appTokensRefused(err error) error {
	switch filehost.KindOf(err) {
	case filehost.NotFound, filehost.Unsupported, filehost.Conflict, filehost.Changed:
		return filehost.E(filehost.Unsupported, c.host.Name+" makes no app tokens.", err)
	}
	return err
}

// AppTokenExpiry implements filehost.AppTokens. A host that lists ids doesn't say.
func (c *Client) AppTokenExpiry(ctx context.Context, credential filehost.Credential) (time.Time, error) {
	listed, err := c.appTokens(ctx, credential)
	if err != nil {
		return time.Time{}, err
	}
	found, _, err := c.hashing.find(ctx, listed, credential.Secret)
	return found.Expires, err
}

// SweepAppTokens implements filehost.AppTokens: nobody else does it, and each such token slows its user's sign-ins down.
func (c *Client) SweepAppTokens(ctx context.Context, credential filehost.Credential) error {
	listed, err := c.appTokens(ctx, credential)
	if err != nil {
		return err
	}
	swept := 0
	for _, token := range listed {
		ours := token.Label == appTokenLabel || token.Label == impersonatedLabel
		if !ours || token.Token == "" || c.clock.Since(token.Expires) <= time.Minute || swept == maxSweptTokens {
			continue
		}
		swept++
		if err := c.deleteAppToken(ctx, credential, token.Token); err != nil {
			return err
		}
	}
	return nil
}

// endAppToken lets an app token end itself. It fails with Forbidden when the password is none, but a user's own.
func (c *Client) endAppToken(ctx context.Context, credential filehost.Credential) error {
	none := filehost.E(filehost.Forbidden, "This is no app token of "+c.host.Name+".", nil)
	if credential.Scheme != filehost.Basic {
		return none
	}
	listed, err := c.appTokens(ctx, credential)
	if err != nil {
		return err
	}
	byID := slices.ContainsFunc(listed, func(t appToken) bool { return !t.isHash() })
	found, ok, err := c.hashing.find(ctx, listed, credential.Secret)
	switch {
	case err != nil:
		return err
	case ok:
		return c.deleteAppToken(ctx, credential, found.Token)
	case !byID:
		return none
	}
	// A host that lists ids doesn't say which is this token's, and takes the token itself instead.
	return c.deleteAppToken(ctx, credential, credential.Secret.Reveal())
}

func (c *Client) appTokens(ctx context.Context, credential filehost.Credential) ([]appToken, error) {
	response, err := c.do(ctx, call{
		method:     http.MethodGet,
		url:        c.host.Origin() + c.base.Escaped() + appTokensPath,
		header:     map[string]string{"Accept": "application/json"},
		credential: &credential,
		accept:     []int{http.StatusOK},
	})
	if err != nil {
		return nil, c.appTokensRefused(err)
	}
	defer func() { _ = response.Body.Close() }()
	var listed []appToken
	if err := c.readJSON(response.Body, &listed); err != nil {
		return nil, err
	}
	slices.SortFunc(listed, func(a, b appToken) int { return b.Expires.Compare(a.Expires) }) // the latest first
	return listed, nil
}

// deleteAppToken ends the token that the text stands for. It never reaches an error.
func (c *Client) deleteAppToken(ctx context.Context, credential filehost.Credential, text string) error {
	response, err := c.do(ctx, call{
		method:     http.MethodDelete,
		url:        c.host.Origin() + c.base.Escaped() + appTokensPath + "?" + url.Values{"token": {text}}.Encode(),
		credential: &credential,
		accept:     []int{http.StatusOK, http.StatusNoContent},
	})
	if err != nil {
		return c.appTokensRefused(err)
	}
	return response.Body.Close()
}

// readJSON reads a JSON answer of limited length.
func (c *Client) readJSON(body io.Reader, into any) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxJSONBytes+1))
	switch {
	case err != nil:
		return err
	case len(raw) > maxJSONBytes:
		return c.nonsense(errors.New("the JSON answer is too long"))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return c.nonsense(fmt.Errorf("the answer is not the JSON expected (%T)", err)) // its words could quote a token
	}
	return nil
}
