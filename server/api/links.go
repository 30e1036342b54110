package api

import (
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Who a link is for.
const (
	audienceInternal = "internal"
	audiencePublic   = "public"
)

// linkBody says what links a caller wants.
type linkBody struct {
	Audience       string          `json:"audience"`
	Permission     string          `json:"permission"`
	Password       filehost.Secret `json:"password"`
	ExpiresAt      string          `json:"expires_at"`
	RemoveWithPost bool            `json:"remove_with_post"`
	Label          string          `json:"label"`
	GrantTo        []string        `json:"grant_to"`
}

// read returns what a caller wants; nil = an internal link.
func (b *linkBody) read() (*filehost.LinkRequest, error) {
	if b == nil {
		b = &linkBody{}
	}
	wanted := &filehost.LinkRequest{Public: b.Audience == audiencePublic, Permission: filehost.SharePermission(b.Permission), Password: b.Password,
		RemoveWithPost: b.RemoveWithPost, Label: b.Label, GrantTo: b.GrantTo}
	if b.Audience != "" && b.Audience != audienceInternal && b.Audience != audiencePublic {
		return nil, filehost.Invalid("link.audience", "link.audience must be internal or public.")
	}
	if wanted.Permission == "" {
		wanted.Permission = filehost.MayView
	}
	seen := map[string]bool{}
	for _, user := range b.GrantTo {
		if !userID.MatchString(user) || seen[user] {
			return nil, filehost.Invalid("link.grant_to", "link.grant_to must be ids of users, each once.")
		}
		seen[user] = true
	}
	if b.ExpiresAt == "" {
		return wanted, nil
	}
	var err error
	wanted.ExpiresAt, err = readTime("link.expires_at", b.ExpiresAt)
	return wanted, err
}

func readTime(field, raw string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, raw)
	if err != nil {
		return at, filehost.Invalid(field, field+" must be a time as in RFC 3339, such as 2026-12-31T23:59:59Z.")
	}
	return at.UTC(), nil
}

// linkedBody is a link as it is. Password is shown once, to who has posted the link.
type linkedBody struct {
	ID             string     `json:"id,omitempty"`
	URL            string     `json:"url,omitempty"`
	Audience       string     `json:"audience"`
	Permission     string     `json:"permission,omitempty"`
	PasswordSet    bool       `json:"password_set"`
	Password       string     `json:"password,omitempty"`
	ExpiresAt      *time.Time `json:"expires_at,omitempty"`
	RemoveWithPost bool       `json:"remove_with_post"`
	RevokedAt      *time.Time `json:"revoked_at,omitempty"`
}

func newLinked(link *filehost.Linked, password filehost.Secret) *linkedBody {
	if link == nil {
		return nil
	}
	body := &linkedBody{URL: link.URL, Audience: audienceInternal, PasswordSet: link.Password, Password: password.Reveal(),
		RemoveWithPost: link.RemoveWithPost, ExpiresAt: known(link.ExpiresAt), RevokedAt: known(link.RevokedAt)}
	if link.Public {
		body.Audience, body.Permission = audiencePublic, string(link.Permission)
	}
	if body.RevokedAt != nil {
		body.URL = ""
	}
	return body
}

// known is a time as the contract has it; nil for none.
func known(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

type audienceBody struct {
	Can      int              `json:"can"`
	Cannot   int              `json:"cannot"`
	Unknown  int              `json:"unknown"`
	More     bool             `json:"more"`
	Password bool             `json:"password"`
	Members  []memberBody     `json:"members"`
	Offers   []filehost.Offer `json:"offers"`
}

type memberBody struct {
	UserID   string         `json:"user_id"`
	Username string         `json:"username"`
	Access   filehost.Reach `json:"access"`
}

func newAudience(audience *filehost.LinkAudience) *audienceBody {
	if audience == nil {
		return nil
	}
	body := &audienceBody{Can: audience.Counts[filehost.Can], Cannot: audience.Counts[filehost.Cannot], Unknown: audience.Counts[filehost.Unknown],
		More: audience.More, Password: audience.Password, Members: []memberBody{}, Offers: audience.Offers}
	for _, member := range audience.Members {
		body.Members = append(body.Members, memberBody{member.UserID, member.Username, member.Reach})
	}
	return body
}

type grantBody struct {
	UserID string               `json:"user_id"`
	Result filehost.GrantResult `json:"result"`
	Error  *errorBody           `json:"error,omitempty"`
}

func (h *Handler) newGrants(r *request, grants []filehost.Granted) []grantBody {
	var bodies []grantBody
	for _, grant := range grants {
		body := grantBody{UserID: grant.UserID, Result: grant.Result}
		if grant.Err != nil {
			described := h.describe(r, grant.Err)
			h.log(r, described, grant.Err)
			body.Error = &described
		}
		bodies = append(bodies, body)
	}
	return bodies
}

type cardBody struct {
	PostID   string         `json:"post_id"`
	UserID   string         `json:"user_id"`
	PostedAt time.Time      `json:"posted_at"`
	Host     cardHostBody   `json:"host"`
	Items    []cardItemBody `json:"items"`
}

type cardHostBody struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type cardItemBody struct {
	Name       string             `json:"name"`
	Kind       filehost.EntryKind `json:"kind"`
	Size       int64              `json:"size"`
	MIMEType   string             `json:"mime_type"`
	ModifiedAt *time.Time         `json:"modified_at"`
	FileID     string             `json:"file_id,omitempty"`
	Link       *linkedBody        `json:"link,omitempty"`
}

// card serves GET /cards/{post_id}.
func (h *Handler) card(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	card, err := service.Card(r.ctx, r.userID, r.variable("post_id"))
	if err != nil {
		return response{}, err
	}
	body := cardBody{PostID: card.PostID, UserID: card.UserID, PostedAt: card.PostedAt, Host: cardHostBody{service.Host.ID, service.Host.Name, service.Host.Kind},
		Items: make([]cardItemBody, len(card.Items))}
	for i, item := range card.Items {
		body.Items[i] = newCardItem(item)
	}
	return response{status: http.StatusOK, body: body}, nil
}

func newCardItem(item filehost.PostedItem) cardItemBody {
	return cardItemBody{Name: item.Name, Kind: item.Kind, Size: item.Size, MIMEType: item.MIMEType, ModifiedAt: known(item.ModifiedAt), FileID: item.FileID,
		Link: newLinked(item.Link, filehost.Secret{})}
}

type linksBody struct {
	Links []postedLinkBody `json:"links"`
}

type postedLinkBody struct {
	ID       string             `json:"id"`
	PostID   string             `json:"post_id"`
	PostedAt time.Time          `json:"posted_at"`
	Name     string             `json:"name"`
	Kind     filehost.EntryKind `json:"kind"`
	Size     int64              `json:"size"`
	State    filehost.LinkState `json:"state"`
	Link     *linkedBody        `json:"link"`
}

func newPostedLink(link filehost.PostedLink) postedLinkBody {
	body := postedLinkBody{ID: link.ID, PostID: link.PostID, PostedAt: link.PostedAt, Name: link.Item.Name, Kind: link.Item.Kind, Size: link.Item.Size,
		State: link.State, Link: newLinked(link.Item.Link, filehost.Secret{})}
	body.Link.ID = link.ID
	return body
}

// links serves GET /links.
func (h *Handler) links(r *request) (response, error) {
	q := newQuery(r, "channel_id", "host")
	channelID, host := q.one("channel_id", ""), q.one("host", "")
	if q.err != nil {
		return response{}, q.err
	}
	service, err := r.serviceFor(host)
	switch {
	case err != nil:
		return response{}, err
	case !userID.MatchString(channelID): // all of Mattermost's ids have one grammar
		return response{}, filehost.Invalid("channel_id", "channel_id must be the id of a channel.")
	}
	links, err := service.Links(r.ctx, r.userID, channelID)
	if err != nil {
		return response{}, err
	}
	body := linksBody{Links: make([]postedLinkBody, len(links))}
	for i, link := range links {
		body.Links[i] = newPostedLink(link)
	}
	return response{status: http.StatusOK, body: body}, nil
}

type changeLinkBody struct {
	Permission *string          `json:"permission"`
	Password   *filehost.Secret `json:"password"`
	ExpiresAt  *string          `json:"expires_at"`
	Host       string           `json:"host"`
}

// changeLink serves PATCH /links/{id}.
func (h *Handler) changeLink(r *request) (response, error) {
	var body changeLinkBody
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	change := filehost.LinkChange{Password: body.Password}
	if body.Permission != nil {
		permission := filehost.SharePermission(*body.Permission)
		change.Permission = &permission
	}
	if body.ExpiresAt != nil {
		var at time.Time
		if *body.ExpiresAt != "" {
			var err error
			if at, err = readTime("expires_at", *body.ExpiresAt); err != nil {
				return response{}, err
			}
		}
		change.ExpiresAt = &at
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	link, err := service.ChangeLink(r.ctx, r.userID, r.variable("id"), change)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: newPostedLink(link)}, nil
}

// revokeLink serves DELETE /links/{id}.
func (h *Handler) revokeLink(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	if err = service.RevokeLink(r.ctx, r.userID, r.variable("id")); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}
