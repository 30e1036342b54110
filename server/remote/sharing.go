package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// sharing is the API by which a kind of host shares.
type sharing int

const (
	noSharing sharing = iota
	ocsSharing
	graphSharing
)

// sharer is one of those APIs. Where the host says no, its methods fail with an error that holds declined.
type sharer interface {
	// list returns the shares of an entry itself.
	list(ctx context.Context, credential filehost.Credential, entry filehost.Entry) ([]share, error)
	// access is Shares.Access with shares of the entry itself first, which found tells the number of.
	access(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (access, error)
	// link makes a public link, as the host answers it.
	link(ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish linkWish) (share, error)
	// invite shares with a user, as the host answers it.
	invite(ctx context.Context, credential filehost.Credential, entry filehost.Entry, guest guest) (share, error)
	// find returns a share that the user has made of an entry. It fails with errNoShare when the host has none of the id, and
	// with another NotFound when that is none of his, or not of the entry.
	find(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) (share, error)
	change(ctx context.Context, credential filehost.Credential, entry filehost.Entry, of share, change linkChange) error
	// remove ends a share. It fails with errNoShare when there is none.
	remove(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) error
	// blamed names the field of a link to be made or changed that the host did not like; "" = none.
	blamed(ctx context.Context, credential filehost.Credential, asked request, no declined) (field string, err error)
}

// share is a share as the host tells it.
type share struct {
	filehost.HostShare
	mine  bool // the user has made it
	plain bool // it has nothing that a link of ours has not, such as a download that is hidden
	reads bool // who has it may read the entry: a share can be for handing files in alone
}

// access is what is told of who may open an entry.
type access struct {
	filehost.Access
	own []share // of the entry itself
}

// linkWish is a LinkWish in terms of hosts.
type linkWish struct {
	permission filehost.SharePermission
	password   filehost.Secret
	ends       time.Time // a midnight (UTC); zero = the host's default
	label      string
}

// linkChange is a ShareChange in terms of hosts.
type linkChange struct {
	permission *filehost.SharePermission
	password   *filehost.Secret
	ends       *time.Time
}

// guest is who is invited.
type guest struct {
	account    string
	permission filehost.SharePermission
}

// request is what a call that was declined was about.
type request struct {
	entry    filehost.Entry
	link     bool
	password *filehost.Secret // nil = it was not about that
	ends     time.Time        // zero = it was not about that
}

// errNoShare is the cause of the error for a share that the host doesn't have.
var errNoShare = errors.New("the host has no share of this id")

func (c *Client) sharer() (sharer, error) {
	switch c.profile.sharing {
	case ocsSharing:
		return ocsShares{c}, nil
	case graphSharing:
		return graphShares{c}, nil
	}
	return nil, c.unable()
}

const day = 24 * time.Hour

// lastMidnight is the last midnight (UTC) that is not after a moment, give or take a second: links end with a day. Zero stays
// zero.
func lastMidnight(moment time.Time) time.Time {
	if moment.IsZero() {
		return moment
	}
	return moment.UTC().Add(time.Second).Truncate(day)
}

// linkEnds is when a link ends that may live until a moment, and no longer.
func (c *Client) linkEnds(until time.Time) (time.Time, error) {
	ends := lastMidnight(until)
	if !until.IsZero() && !ends.After(c.clock.Now()) {
		return time.Time{}, filehost.Invalid("expires_at",
			"expires_at must be later: a link of "+c.host.Name+" ends with a day (UTC), and none ends between now and then.")
	}
	return ends, nil
}

// declined is the cause of an error that stands for the no of a sharing API.
type declined struct {
	status int
	words  string // the host's own, for a person; "" = it said nothing
	said   string // the same in full, and as it came
}

// Error implements error.
func (d declined) Error() string { return fmt.Sprintf("status %d: %q", d.status, d.words) }

// repeats tells whether the host's words hold a password, or what could be left of it in them.
func (d declined) repeats(password filehost.Secret) bool {
	given := password.Reveal()
	return given != "" && (strings.Contains(html.UnescapeString(d.said), given) || strings.Contains(d.words, words(given)))
}

func isDeclined(err error) bool {
	var no declined
	return errors.As(err, &no)
}

// no is the error for the no of a sharing API.
func (c *Client) no(status int, said string) *filehost.Error {
	cause := declined{status, words(said), said}
	if status == http.StatusNotFound || status == http.StatusConflict {
		refusal := c.statusError(status)
		refusal.Err = cause
		return refusal
	}
	refusal := c.statusError(http.StatusForbidden)
	refusal.Err = cause
	if cause.words != "" {
		refusal.Message = c.saying(cause)
	}
	return refusal
}

func (c *Client) saying(no declined) string {
	return c.host.Name + " refuses this: " + filehost.Quote(no.words)
}

// maxWords is how much of what a host says is shown to a person, in characters.
const maxWords = 300

// words makes a line of plain text of what a host says: no control characters, no tags.
func words(said string) string {
	if !utf8.ValidString(said) {
		return ""
	}
	var plain strings.Builder
	length, tag := 0, false
	for _, r := range said {
		switch r {
		case '<':
			tag = true
		case '>':
			tag = false
		}
		if tag || r == '>' {
			continue
		}
		if !unicode.IsGraphic(r) {
			r = ' '
		}
		if length++; length > maxWords {
			plain.WriteString("…")
			break
		}
		plain.WriteRune(r)
	}
	return strings.Join(strings.Fields(plain.String()), " ")
}

// shareWait is how long a host may make nobody wait that limits shares and doesn't say until when: Nextcloud counts those of
// ten minutes.
const shareWait = 10 * time.Minute

// tooMany words the refusal of a host that makes no more shares for now.
func (c *Client) tooMany(err error) error {
	var limited *filehost.Error
	if !errors.As(err, &limited) || limited.Kind != filehost.RateLimited {
		return err
	}
	worded := *limited
	if worded.RetryAfter == 0 {
		worded.RetryAfter = shareWait
	}
	worded.Message = c.host.Name + " makes no more shares for you at the moment: it limits how many one user may make in a few minutes. Try again later."
	return &worded
}

// explain finds out what the host did not like, where it has declined to share.
func (c *Client) explain(ctx context.Context, credential filehost.Credential, asked request, err error) error {
	err = c.tooMany(err)
	var no declined
	if !errors.As(err, &no) {
		return err
	}
	if asked.password != nil && no.repeats(*asked.password) {
		no.words = ""
		err = c.no(no.status, "")
	}
	api, apiErr := c.sharer()
	if apiErr != nil {
		return err
	}
	field, blameErr := api.blamed(ctx, credential, asked, no)
	switch {
	case blameErr != nil:
		return blameErr
	case field == "" && no.status == http.StatusNotFound:
		return c.noEntry(ctx, credential, asked.entry, no)
	case field == "":
		return err
	}
	message := c.saying(no)
	if no.words == "" {
		message = c.host.Name + " does not accept this " + field + "."
	}
	return &filehost.Error{Kind: filehost.InvalidRequest, Field: field, Message: message, Err: no}
}

// noEntry tells an entry that is gone from one that the host doesn't share, where it answers the same to both.
func (c *Client) noEntry(ctx context.Context, credential filehost.Credential, entry filehost.Entry, no declined) error {
	if _, err := c.Stat(ctx, credential, entry.Path); err != nil {
		return err
	}
	return c.no(http.StatusForbidden, no.words)
}

// few is a list of JSON of which mostShares are kept, and of the others only that there are more: an item of two bytes takes
// a hundred times as many in memory.
type few[T any] struct {
	kept []T
	more bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *few[T]) UnmarshalJSON(raw []byte) error {
	*f = few[T]{}
	if string(raw) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return errors.Join(err, errors.New("it is no list"))
	}
	for decoder.More() {
		if f.more = len(f.kept) == mostShares; f.more {
			return nil
		}
		var next T
		if err := decoder.Decode(&next); err != nil {
			return err
		}
		f.kept = append(f.kept, next)
	}
	return nil
}
