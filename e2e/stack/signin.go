package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// Plugin is the plugin's API as the account, held to its contract; nil is nobody.
func (s *Stack) Plugin(account *Account) api.Client {
	client := rest.New(s.BaseURL(), "")
	client.HTTP.Transport = s.Transport
	if account != nil {
		client.Token = account.Token
	}
	return api.Client{Client: client}
}

// WholePlugin is Plugin for paths as the host has them, from above a user's own files.
func (s *Stack) WholePlugin(account *Account) api.Client {
	client := s.Plugin(account)
	client.HTTP.Transport = s.whole
	return client
}

// Connect connects the account to hostUser's files on the embedded host through the host's real
// sign-in page, as a person would.
func (s *Stack) Connect(ctx context.Context, account *Account, hostUser string) error {
	plugin := s.Plugin(account)
	authorizeURL, err := plugin.Authorize(ctx)
	if err != nil {
		return err
	}
	form, err := OpenSignIn(ctx, account.Browser, authorizeURL)
	if err != nil {
		return err
	}
	response, err := SubmitSignIn(ctx, account.Browser, form, hostUser)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	connection, err := plugin.Connection(ctx)
	if err == nil && connection.State != "connected" {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		err = fmt.Errorf("signed in, yet %+v; the sign-in ended at %s: %s %s",
			connection, response.Request.URL.Path, response.Status, body)
	}
	return err
}

// OpenSignIn opens authorizeURL and gives the address of the host's sign-in form.
func OpenSignIn(ctx context.Context, browser *http.Client, authorizeURL string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, authorizeURL, nil)
	if err != nil {
		return "", err
	}
	response, err := browser.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
	if err != nil {
		return "", err
	}
	if _, err := readForm(body); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("no sign-in form at %s: %s %s", response.Request.URL, response.Status, body)
	}
	return response.Request.URL.String(), nil
}

// SubmitSignIn fills the form at the address that OpenSignIn gave and follows all redirects that
// browser follows.
func SubmitSignIn(ctx context.Context, browser *http.Client, form, hostUser string) (*http.Response, error) {
	page, err := http.NewRequestWithContext(ctx, http.MethodGet, form, nil)
	if err != nil {
		return nil, err
	}
	shown, err := browser.Do(page)
	if err != nil {
		return nil, err
	}
	defer func() { _ = shown.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(shown.Body, maxPageBytes))
	if err != nil {
		return nil, err
	}
	fields, err := readForm(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, form, strings.NewReader(fields.fill(hostUser).Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return browser.Do(request)
}
