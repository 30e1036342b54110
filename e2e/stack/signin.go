package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// SignIn goes through the file host's sign-in page as a person would: it opens authorizeURL in the
// account's browser, fills the form with the host's user name and password, and follows the way
// back to the plugin. It gives the last answer, whose body the caller closes.
func (s *Stack) SignIn(ctx context.Context, account *Account, authorizeURL, hostUser string) (*http.Response, error) {
	form, err := OpenSignIn(ctx, account.Browser, authorizeURL)
	if err != nil {
		return nil, err
	}
	return SubmitSignIn(ctx, account.Browser, form, hostUser)
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
	if response.StatusCode != http.StatusOK || !strings.HasSuffix(response.Request.URL.Path, "/login") {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return "", fmt.Errorf("no sign-in form at %s: %s %s", response.Request.URL, response.Status, body)
	}
	return response.Request.URL.String(), nil
}

// SubmitSignIn fills the form at the address that OpenSignIn gave and follows all redirects that
// browser follows.
func SubmitSignIn(ctx context.Context, browser *http.Client, form, hostUser string) (*http.Response, error) {
	at, err := url.Parse(form)
	if err != nil {
		return nil, err
	}
	fields := url.Values{
		"request":  {at.Query().Get("request")},
		"username": {hostUser},
		"password": {HostPassword(hostUser)},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, form, strings.NewReader(fields.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return browser.Do(request)
}
