package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// maxLoginFlowPages is how many pages a sign-in by Nextcloud's Login Flow v2 has at most: one that says who asks, the
// login, one that asks for access, and the last.
const maxLoginFlowPages = 4

// Person is somebody at a browser of his own, with his account at the file host.
type Person struct {
	// Browser keeps cookies and follows redirects.
	Browser *http.Client
	// Name and Password are those that he logs in by at the host.
	Name, Password string
}

// NewPerson is hostUser at a browser in which nobody is logged in.
func NewPerson(hostUser string) (Person, error) {
	jar, err := cookiejar.New(nil)
	return Person{Browser: &http.Client{Jar: jar}, Name: hostUser, Password: HostPassword(hostUser)}, err
}

// GrantLoginFlow goes through the pages of Nextcloud's Login Flow v2 from the address that the client was given,
// logs in where that is asked, and lets the client in. The client can collect its credentials when it returns.
func (p Person) GrantLoginFlow(ctx context.Context, loginURL string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, loginURL, nil)
	if err != nil {
		return err
	}
	for range maxLoginFlowPages {
		at, page, err := p.open(request)
		if err != nil {
			return err
		}
		switch {
		case strings.Contains(page.text, "Account connected"):
			return nil
		case page.found:
			request, err = p.submit(ctx, at, page)
		case len(page.links) == 1:
			request, err = follow(ctx, at, page.links[0])
		default:
			return fmt.Errorf("the sign-in ended at %s: %s", at, page.text)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("the sign-in has no end; after %d pages it is at %s", maxLoginFlowPages, request.URL)
}

// open gives the page to which a request leads, and its address.
func (p Person) open(request *http.Request) (*url.URL, signInForm, error) {
	response, err := p.Browser.Do(request) //nolint:gosec // it goes where the test's own servers send it
	if err != nil {
		return nil, signInForm{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
	if err != nil {
		return nil, signInForm{}, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, signInForm{}, fmt.Errorf("%s: %s %s", response.Request.URL, response.Status, body)
	}
	page, err := readPage(body)
	return response.Request.URL, page, err
}

func (p Person) submit(ctx context.Context, at *url.URL, page signInForm) (*http.Request, error) {
	target, err := at.Parse(page.action)
	if err != nil {
		return nil, err
	}
	body := strings.NewReader(page.fillWith(p.Name, p.Password).Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request, nil
}

func follow(ctx context.Context, at *url.URL, link string) (*http.Request, error) {
	target, err := at.Parse(link)
	if err != nil {
		return nil, err
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
}

// Email is the address of the Mattermost account.
func (a *Account) Email() string { return a.Username + "@example.com" }

// VerifyEmail has Mattermost take the user's address as his, as if he had followed the link in its mail. The account
// must be a system admin's.
func (a *Account) VerifyEmail(ctx context.Context, user *Account) error {
	return a.Post(ctx, "/api/v4/users/"+user.ID+"/email/verify/member", nil, nil)
}
