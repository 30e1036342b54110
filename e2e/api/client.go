// Package api is a client of the plugin's own HTTP API, written from its contract.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// Entry is a file or a folder of the host.
type Entry struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Path       string    `json:"path"`
	Kind       string    `json:"kind"`
	Size       int64     `json:"size"`
	MIMEType   string    `json:"mime_type"`
	ModifiedAt time.Time `json:"modified_at"`
	ETag       string    `json:"etag"`
	// Permissions say what the caller may do with it.
	Permissions []string `json:"permissions"`
	Favorite    *bool    `json:"favorite"`
	Shared      *bool    `json:"shared"`
	Space       string   `json:"space"`
	// HasThumbnail tells whether the host has a small image of it.
	HasThumbnail bool `json:"has_thumbnail"`
}

// Page is one answer of GET /files.
type Page struct {
	Folder       *Entry       `json:"folder"`
	Entries      []Entry      `json:"entries"`
	Truncated    bool         `json:"truncated"`
	NextCursor   string       `json:"next_cursor"`
	Total        *int         `json:"total"`
	Capabilities Capabilities `json:"capabilities"`
}

// Capabilities says what the host can do.
type Capabilities struct {
	Thumbnails bool `json:"thumbnails"`
	Search     bool `json:"search"`
	Recent     bool `json:"recent"`
	Favorites  bool `json:"favorites"`
	Shared     bool `json:"shared"`
	StableIDs  bool `json:"stable_ids"`
	Spaces     bool `json:"spaces"`
	// Links are the kinds of links that the host gives out.
	Links struct {
		Internal bool `json:"internal"`
		Public   bool `json:"public"`
	} `json:"links"`
	Save bool `json:"save"`
}

// Attachment is the body of POST /attach.
type Attachment struct {
	ChannelID string `json:"channel_id"`
	RootID    string `json:"root_id,omitempty"`
	Message   string `json:"message,omitempty"`
	Items     []Item `json:"items"`
	As        string `json:"as,omitempty"`
	DryRun    bool   `json:"dry_run,omitempty"`
	// Link says more of as: link.
	Link *LinkRequest `json:"link,omitempty"`
}

// LinkRequest says what links are wanted.
type LinkRequest struct {
	Audience       string   `json:"audience,omitempty"`
	Permission     string   `json:"permission,omitempty"`
	Password       string   `json:"password,omitempty"`
	ExpiresAt      string   `json:"expires_at,omitempty"`
	RemoveWithPost bool     `json:"remove_with_post,omitempty"`
	Label          string   `json:"label,omitempty"`
	GrantTo        []string `json:"grant_to,omitempty"`
}

// Link is a link as the API tells it.
type Link struct {
	ID             string     `json:"id"`
	URL            string     `json:"url"`
	Audience       string     `json:"audience"`
	Permission     string     `json:"permission"`
	PasswordSet    bool       `json:"password_set"`
	Password       string     `json:"password"`
	ExpiresAt      *time.Time `json:"expires_at"`
	RemoveWithPost bool       `json:"remove_with_post"`
	RevokedAt      *time.Time `json:"revoked_at"`
}

// PostedLink is a link of the caller's in a channel.
type PostedLink struct {
	ID     string `json:"id"`
	PostID string `json:"post_id"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Link   Link   `json:"link"`
}

// Card is what the plugin knows of a post.
type Card struct {
	PostID string `json:"post_id"`
	UserID string `json:"user_id"`
	Items  []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
		Link *Link  `json:"link"`
	} `json:"items"`
}

// Audience says who could open links.
type Audience struct {
	Can     int      `json:"can"`
	Cannot  int      `json:"cannot"`
	Unknown int      `json:"unknown"`
	Offers  []string `json:"offers"`
	Members []struct {
		UserID string `json:"user_id"`
		Access string `json:"access"`
	} `json:"members"`
}

// Grant is what came of letting a member in.
type Grant struct {
	UserID string   `json:"user_id"`
	Result string   `json:"result"`
	Error  *Problem `json:"error"`
}

// Item names a file by path or by id.
type Item struct {
	Path string `json:"path,omitempty"`
	ID   string `json:"id,omitempty"`
	ETag string `json:"etag,omitempty"`
}

// Attached is the answer of POST /attach.
type Attached struct {
	PostID    string         `json:"post_id"`
	FileInfos []FileInfo     `json:"file_infos"`
	Items     []AttachedItem `json:"items"`
	Audience  *Audience      `json:"audience"`
	Grants    []Grant        `json:"grants"`
}

// FileInfo is a file as Mattermost's own API shows it.
type FileInfo struct {
	ID        string `json:"id"`
	UserID    string `json:"user_id"`
	ChannelID string `json:"channel_id"`
	PostID    string `json:"post_id"`
	Name      string `json:"name"`
	Size      int64  `json:"size"`
	MIMEType  string `json:"mime_type"`
}

// AttachedItem says what became of one item.
type AttachedItem struct {
	ID     string   `json:"id"`
	Path   string   `json:"path"`
	Name   string   `json:"name"`
	Size   int64    `json:"size"`
	FileID string   `json:"file_id"`
	Link   *Link    `json:"link"`
	Error  *Problem `json:"error"`
}

// Saving is the body of POST /save.
type Saving struct {
	FileID   string `json:"file_id"`
	Folder   string `json:"folder,omitempty"`
	FolderID string `json:"folder_id,omitempty"`
	Name     string `json:"name,omitempty"`
	Conflict string `json:"conflict,omitempty"`
}

// Saved is its answer.
type Saved struct {
	Entry   Entry `json:"entry"`
	Renamed bool  `json:"renamed"`
}

// Connection is the answer of GET /connection.
type Connection struct {
	State   string `json:"state"`
	Method  string `json:"method"`
	Account string `json:"account"`
	Grant   string `json:"grant"`
	// Methods are those that the caller may use now, the best first.
	Methods   []string `json:"methods"`
	Automatic bool     `json:"automatic"`
	// Pending is an account that waits for the user's word, Refused why a method does not connect him.
	Pending *struct {
		Account     string `json:"account"`
		DisplayName string `json:"display_name"`
		Email       string `json:"email"`
	} `json:"pending"`
	Refused *struct {
		Method string `json:"method"`
		Reason string `json:"reason"`
	} `json:"refused"`
	Host struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"host"`
}

// Health is the answer of GET /health; the fields that the caller may not see are empty.
type Health struct {
	Status     string             `json:"status"`
	Version    string             `json:"version"`
	Mattermost string             `json:"mattermost_version"`
	Connection *Connection        `json:"connection"`
	Checks     map[string][]Check `json:"checks"`
}

// Check is the last result of one of the plugin's checks.
type Check struct {
	Status  string    `json:"status"`
	Latency *float64  `json:"observedValue"` // milliseconds
	Time    time.Time `json:"time"`
	Output  string    `json:"output"`
}

// Problem is the one shape of errors.
type Problem struct {
	ID         string         `json:"id"`
	Code       string         `json:"code"`
	Message    string         `json:"message"`
	StatusCode int            `json:"status_code"`
	RequestID  string         `json:"request_id"`
	Details    map[string]any `json:"details"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.StatusCode, p.Code, p.Message) }

// Client calls the plugin's API. Errors of the API are *Problem.
type Client struct{ *rest.Client }

// List lists a folder; query holds the parameters of GET /files.
func (c Client) List(ctx context.Context, query url.Values) (Page, error) {
	var page Page
	return page, AsProblem(c.Get(ctx, "/files?"+query.Encode(), &page))
}

// Attach brings files into a channel.
func (c Client) Attach(ctx context.Context, attachment Attachment) (Attached, error) {
	var attached Attached
	return attached, AsProblem(c.Post(ctx, "/attach", attachment, &attached))
}

// Save saves a file of Mattermost at the host.
func (c Client) Save(ctx context.Context, saving Saving) (Saved, error) {
	var saved Saved
	return saved, AsProblem(c.Post(ctx, "/save", saving, &saved))
}

// MakeFolder makes a folder at the host.
func (c Client) MakeFolder(ctx context.Context, path string) (Entry, error) {
	var entry Entry
	return entry, AsProblem(c.Post(ctx, "/folders", map[string]string{"path": path}, &entry))
}

// AttachOnce is Attach with an idempotency key.
func (c Client) AttachOnce(ctx context.Context, key string, attachment Attachment) (Attached, error) {
	var attached Attached
	body, err := json.Marshal(attachment)
	if err != nil {
		return attached, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/attach", bytes.NewReader(body))
	if err != nil {
		return attached, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := c.Send(request)
	if err != nil {
		return attached, AsProblem(err)
	}
	defer func() { _ = response.Body.Close() }()
	return attached, json.NewDecoder(response.Body).Decode(&attached)
}

// Refreshed is the answer of POST /refresh.
type Refreshed struct {
	PostID  string          `json:"post_id"`
	ReplyID string          `json:"reply_id"`
	Items   []RefreshedItem `json:"items"`
}

// RefreshedItem says what has become of one item of a post.
type RefreshedItem struct {
	Name   string   `json:"name"`
	State  string   `json:"state"`
	Before Version  `json:"before"`
	After  *Version `json:"after"`
	FileID string   `json:"file_id"`
	Error  *Problem `json:"error"`
}

// Version is how an entry was at one time.
type Version struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// Refresh asks what has become of the files of a post, and for newer versions unless it is a dry run.
func (c Client) Refresh(ctx context.Context, postID string, dryRun bool) (Refreshed, error) {
	var refreshed Refreshed
	body := map[string]any{"post_id": postID, "dry_run": dryRun}
	return refreshed, AsProblem(c.Post(ctx, "/refresh", body, &refreshed))
}

// Card tells what the plugin knows of a post.
func (c Client) Card(ctx context.Context, postID string) (Card, error) {
	var card Card
	return card, AsProblem(c.Get(ctx, "/cards/"+postID, &card))
}

// Links lists the caller's own public links in a channel.
func (c Client) Links(ctx context.Context, channelID string) ([]PostedLink, error) {
	var answer struct {
		Links []PostedLink `json:"links"`
	}
	err := AsProblem(c.Get(ctx, "/links?channel_id="+channelID, &answer))
	return answer.Links, err
}

// ChangeLink changes one of them.
func (c Client) ChangeLink(ctx context.Context, id string, change map[string]string) (PostedLink, error) {
	var link PostedLink
	return link, AsProblem(c.Patch(ctx, "/links/"+id, change, &link))
}

// RevokeLink ends one of them.
func (c Client) RevokeLink(ctx context.Context, id string) error {
	return AsProblem(c.Delete(ctx, "/links/"+id))
}

// Connection tells how the caller is connected.
func (c Client) Connection(ctx context.Context) (Connection, error) {
	var connection Connection
	return connection, AsProblem(c.Get(ctx, "/connection", &connection))
}

// Authorize begins a sign-in and gives the address where it goes on.
func (c Client) Authorize(ctx context.Context) (string, error) {
	var answer struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	err := AsProblem(c.Post(ctx, "/connection", struct{}{}, &answer))
	return answer.AuthorizeURL, err
}

// BeginLoginFlow begins a sign-in that does not come back to Mattermost, and gives the address where it goes on.
func (c Client) BeginLoginFlow(ctx context.Context) (string, error) {
	var answer struct {
		LoginURL string `json:"login_url"`
	}
	err := AsProblem(c.Post(ctx, "/connection", struct{}{}, &answer))
	return answer.LoginURL, err
}

// Accept says whether the account that is pending is the caller's.
func (c Client) Accept(ctx context.Context, accept bool) (Connection, error) {
	var connection Connection
	return connection, AsProblem(c.Post(ctx, "/connection", map[string]bool{"accept": accept}, &connection))
}

// ConnectAutomatically asks for access without a click.
func (c Client) ConnectAutomatically(ctx context.Context) (Connection, error) {
	var connection Connection
	return connection, AsProblem(c.Post(ctx, "/connection", struct{}{}, &connection))
}

// ConnectWithPassword connects by user name and app password.
func (c Client) ConnectWithPassword(ctx context.Context, username, password string) (Connection, error) {
	var connection Connection
	body := map[string]string{"username": username, "password": password}
	return connection, AsProblem(c.Post(ctx, "/connection", body, &connection))
}

// Confirm connects by the code that a sign-in without a Mattermost session has shown.
func (c Client) Confirm(ctx context.Context, code string) (Connection, error) {
	var connection Connection
	return connection, AsProblem(c.Post(ctx, "/connection", map[string]string{"confirm": code}, &connection))
}

// Disconnect forgets the connection.
func (c Client) Disconnect(ctx context.Context) error {
	return AsProblem(c.Delete(ctx, "/connection"))
}

// Kept is what an admin may know of a user's connection.
type Kept struct {
	UserID   string `json:"user_id"`
	Username string `json:"username"`
	State    string `json:"state"`
	Grant    string `json:"grant"`
	Account  string `json:"account"`
	Since    string `json:"since"`
	LastUsed string `json:"last_used"`
}

// KeptPage is one answer of GET /admin/connections.
type KeptPage struct {
	Connections []Kept `json:"connections"`
	NextCursor  string `json:"next_cursor"`
	Counts      *struct {
		Total   int            `json:"total"`
		ByState map[string]int `json:"by_state"`
		ByGrant map[string]int `json:"by_grant"`
	} `json:"counts"`
}

// KeptConnections lists whose access the plugin keeps; query holds the parameters of GET /admin/connections.
func (c Client) KeptConnections(ctx context.Context, query url.Values) (KeptPage, error) {
	var page KeptPage
	return page, AsProblem(c.Get(ctx, "/admin/connections?"+query.Encode(), &page))
}

// RevokeConnection ends another user's connection.
func (c Client) RevokeConnection(ctx context.Context, userID string) error {
	return AsProblem(c.Delete(ctx, "/admin/connections/"+userID))
}

// Health asks how the plugin is, as far as the caller may know.
func (c Client) Health(ctx context.Context) (Health, error) {
	var health Health
	return health, AsProblem(c.Get(ctx, "/health", &health))
}

// AsProblem reads the API's own error out of an answer other than 2xx.
func AsProblem(err error) error {
	var status *rest.StatusError
	if !errors.As(err, &status) {
		return err
	}
	p := new(Problem)
	if json.Unmarshal([]byte(status.Body), p) != nil || p.Code == "" {
		return err
	}
	return p
}
