package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxJSONBytes is the longest JSON answer that is read.
const maxJSONBytes = 1 << 20

// Account implements filehost.Remote.
func (c *Client) Account(ctx context.Context, credential filehost.Credential) (string, error) {
	user, err := c.HostUser(ctx, credential)
	return user.ID, err
}

// HostUser returns whose a credential is, by the user API of OCS, which Nextcloud and ownCloud have. Where there is none, a
// look at the root folder proves the credential, and the user name of Basic (RFC 7617) is the account. It fails as
// Account does.
func (c *Client) HostUser(ctx context.Context, credential filehost.Credential) (filehost.HostUser, error) {
	if c.profile.accountPath == "" {
		_, err := c.Stat(ctx, credential, filehost.Root)
		return filehost.HostUser{ID: credential.Username}, err
	}
	var answer struct {
		OCS struct {
			Meta struct {
				StatusCode int `json:"statuscode"`
			} `json:"meta"`
			Data json.RawMessage `json:"data"` // an object, or an empty array when the call failed
		} `json:"ocs"`
	}
	err := c.getJSON(ctx, call{
		url:        c.host.Origin() + c.base.Escaped() + c.profile.accountPath,
		header:     map[string]string{"OCS-APIRequest": "true", "Accept": "application/json"},
		credential: &credential,
	}, &answer)
	if err != nil {
		return filehost.HostUser{}, err
	}
	switch answer.OCS.Meta.StatusCode {
	case http.StatusOK, 100: // OCS version 2 and 1
	case http.StatusUnauthorized, 997:
		return filehost.HostUser{}, c.statusError(http.StatusUnauthorized)
	default:
		return filehost.HostUser{}, c.nonsense(fmt.Errorf("OCS status %d", answer.OCS.Meta.StatusCode))
	}
	var user struct {
		ID          string `json:"id"`
		DisplayName string `json:"displayname"`  // Nextcloud's...
		Display     string `json:"display-name"` // ...and what others have
		Email       string `json:"email"`        // null when there is none
	}
	if err := json.Unmarshal(answer.OCS.Data, &user); err != nil {
		return filehost.HostUser{}, c.nonsense(err)
	}
	if _, ok := filehost.Root.Join(user.ID); !ok || len(user.ID) > maxNameBytes {
		return filehost.HostUser{}, c.nonsense(errors.New("the user's id doesn't fit into a path"))
	}
	return filehost.HostUser{ID: user.ID, DisplayName: shown(cmp.Or(user.DisplayName, user.Display)), Email: shown(user.Email)}, nil
}

// shown is a text of the host as it is shown to a person: "" when it is longer than any name, or no text at all.
func shown(text string) string {
	if len(text) > maxNameBytes || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	return text
}

// Probe reads the user's top folder, which proves that a credential is good for files.
func (c *Client) Probe(ctx context.Context, credential filehost.Credential) error {
	_, err := c.Stat(ctx, credential, filehost.Root)
	return err
}

// Revoker returns the call by which a credential ends itself: an app password, or a token of the host's own sign-in. nil =
// the host has no such route. The call fails with Forbidden when the credential is neither.
func (c *Client) Revoker() func(ctx context.Context, credential filehost.Credential) error {
	switch {
	case c.profile.appTokens:
		return c.endAppToken
	case c.profile.revokePath == "":
		return nil
	}
	return c.revoke
}

func (c *Client) revoke(ctx context.Context, credential filehost.Credential) error {
	response, err := c.do(ctx, call{
		method:     http.MethodDelete,
		url:        c.host.Origin() + c.base.Escaped() + c.profile.revokePath,
		header:     map[string]string{"OCS-APIRequest": "true", "Accept": "application/json"},
		credential: &credential,
		accept:     []int{http.StatusOK},
	})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// getJSON gets a JSON answer of limited length.
func (c *Client) getJSON(ctx context.Context, call call, into any) error {
	call.method, call.accept = http.MethodGet, []int{http.StatusOK}
	response, err := c.do(ctx, call)
	switch filehost.KindOf(err) {
	case filehost.NotFound, filehost.Unsupported, filehost.Conflict, filehost.Changed:
		// These are about files. That an API is not there is for the admin, not for the user.
		return c.nonsense(err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return c.readJSON(response.Body, into)
}
