package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// Account is a Mattermost user with a session of his own and a browser that holds it.
type Account struct {
	*rest.Client
	ID, Username, Password string
	// Browser keeps cookies and follows redirects, as a person's browser does.
	Browser *http.Client
}

// CreateAccount makes a user and logs him in. The first user of a server becomes its admin.
func CreateAccount(ctx context.Context, by *rest.Client, username string) (*Account, error) {
	account := &Account{Client: rest.New(by.URL, ""), Username: username, Password: "Pw1!" + rand.Text()}
	user := map[string]string{
		"username": username, "password": account.Password, "email": username + "@example.com",
	}
	var created struct{ ID string }
	if err := by.Post(ctx, "/api/v4/users", user, &created); err != nil {
		return nil, err
	}
	account.ID = created.ID
	return account, account.login(ctx)
}

// login fills the browser with the session's cookies and keeps its token for the API client.
func (a *Account) login(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	a.Browser = &http.Client{Jar: jar}
	body := strings.NewReader(fmt.Sprintf(`{"login_id":%q,"password":%q}`, a.Username, a.Password))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+"/api/v4/users/login", body)
	if err != nil {
		return err
	}
	// Only a web client gets cookies.
	request.Header.Set("X-Requested-With", "XMLHttpRequest")
	response, err := (&rest.Client{HTTP: a.Browser}).Send(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if a.Token = a.cookie("MMAUTHTOKEN"); a.Token == "" {
		return errors.New("login gave no session cookie")
	}
	return nil
}

func (a *Account) cookie(name string) string {
	site, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	for _, cookie := range a.Browser.Jar.Cookies(site) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// CSRF is what a browser session must send as X-CSRF-Token with anything but a GET.
func (a *Account) CSRF() string { return a.cookie("MMCSRF") }

// CreateTeam makes an open team and gives its id.
func (a *Account) CreateTeam(ctx context.Context, name string) (string, error) {
	var team struct{ ID string }
	err := a.Post(ctx, "/api/v4/teams", map[string]string{"name": name, "display_name": name, "type": "O"}, &team)
	return team.ID, err
}

// CreateChannel makes a public channel and gives its id.
func (a *Account) CreateChannel(ctx context.Context, teamID, name string) (string, error) {
	var channel struct{ ID string }
	err := a.Post(ctx, "/api/v4/channels", map[string]string{
		"team_id": teamID, "name": name, "display_name": name, "type": "O",
	}, &channel)
	return channel.ID, err
}

// JoinTeam makes user a member of the team.
func (a *Account) JoinTeam(ctx context.Context, teamID string, user *Account) error {
	return a.Post(ctx, fmt.Sprintf("/api/v4/teams/%s/members", teamID),
		map[string]string{"team_id": teamID, "user_id": user.ID}, nil)
}

// JoinChannel makes user a member of the channel.
func (a *Account) JoinChannel(ctx context.Context, channelID string, user *Account) error {
	return a.Post(ctx, fmt.Sprintf("/api/v4/channels/%s/members", channelID),
		map[string]string{"user_id": user.ID}, nil)
}
