package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// paging is how a kind of host gives a listing in parts: it makes the whole of it once, keeps it for a while under a token,
// and gives out rows of it. All but feature are names of headers.
type paging struct {
	feature string // in the DAV header (RFC 4918 10.1) of an answer: this host can; "" = none of the kind can
	begin   string // "true" asks for a part, and marks an answer that is one
	rows    string // asks for so many rows at most
	offset  string // asks for the rows after so many
	listing string // the token
	total   string // rows of the listing, in the answer that begins it
}

// maxTokenBytes is the longest token that is taken of a host: a cursor holds it.
const maxTokenBytes = 255

// errNotKept is the cause of the error for a listing that the host no longer keeps. The host itself calls that no error: it
// makes a new one, in which the rows may be others.
var errNotKept = errors.New("the host no longer keeps the listing")

// ListPart implements filehost.Remote.
func (c *Client) ListPart(
	ctx context.Context, credential filehost.Credential, path filehost.Path, part filehost.Part, begin filehost.Begin,
) (filehost.Entry, error) {
	switch {
	case part.Listing != "":
		return filehost.Entry{}, c.continueListing(ctx, credential, path, part, begin)
	case c.profile.paging.feature == "" || !c.keeping.worthTrying(c.clock.Now()):
		return c.listWhole(ctx, credential, path, begin)
	}
	folder, err := c.beginListing(ctx, credential, path, part, begin)
	if errors.Is(err, errNotKept) {
		c.keeping.failed(c.clock.Now())
		return c.listWhole(ctx, credential, path, begin)
	}
	return folder, err
}

// listWhole serves a part from a host that knows none.
func (c *Client) listWhole(ctx context.Context, credential filehost.Credential, path filehost.Path, begin filehost.Begin) (filehost.Entry, error) {
	each, err := begin(filehost.Parts{})
	if err != nil {
		return filehost.Entry{}, err
	}
	return c.List(ctx, credential, path, func(entry filehost.Entry) error { return each(entry, 0) })
}

// beginListing asks for the first part. What the host can do shows in its answer alone, so that one request is enough for
// all hosts: one that knows no parts gives the whole folder.
func (c *Client) beginListing(
	ctx context.Context, credential filehost.Credential, path filehost.Path, part filehost.Part, begin filehost.Begin,
) (filehost.Entry, error) {
	ask, err := c.children(ctx, &credential, path)
	if err != nil {
		return filehost.Entry{}, err
	}
	rows := c.newRows(path, 0)
	ask.header = map[string]string{c.profile.paging.begin: "true", c.profile.paging.rows: strconv.Itoa(part.Rows)}
	ask.answered = func(header http.Header) error {
		parts, err := c.parts(header, part, rows)
		if err == nil && parts.Listing != "" && !c.keeping.isProven() {
			err = c.prove(ctx, ask, parts.Listing)
		}
		if err == nil {
			rows.receive, err = begin(parts)
		}
		return err
	}
	err = c.propfind(ctx, ask, rows.add)
	if err == nil && rows.seen < rows.least {
		err = c.nonsense(fmt.Errorf("%d rows of %d", rows.seen, rows.least))
	}
	return c.listed(ctx, ask, &rows.listing, err)
}

// parts reads what the answer that begins a listing says of it, and sets how many rows the answer has.
func (c *Client) parts(header http.Header, part filehost.Part, rows *rows) (filehost.Parts, error) {
	token := header.Get(c.profile.paging.listing)
	if token == "" {
		paged := offers(header, c.profile.paging.feature)
		if rows.most = math.MaxInt; paged {
			rows.most = part.Rows
		}
		return filehost.Parts{Paged: paged}, nil
	}
	total, err := strconv.Atoi(header.Get(c.profile.paging.total))
	if err != nil || total < 1 || !isToken(token) {
		return filehost.Parts{}, c.nonsense(fmt.Errorf("a listing of %q rows under a token of %d bytes", header.Get(c.profile.paging.total), len(token)))
	}
	rows.most = min(part.Rows, total)
	rows.least = rows.most
	if total <= part.Rows { // which the first versions of Nextcloud that page keep as well
		return filehost.Parts{Paged: true}, nil
	}
	return filehost.Parts{Paged: true, Listing: token, Total: total}, nil
}

// offers tells whether the DAV header (RFC 4918 10.1) names a feature.
func offers(header http.Header, feature string) bool {
	for _, offered := range strings.Split(strings.Join(header.Values("DAV"), ","), ",") {
		if strings.TrimSpace(offered) == feature {
			return true
		}
	}
	return false
}

func isToken(text string) bool {
	return text != "" && len(text) <= maxTokenBytes && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// prove finds out whether the host keeps listings, by asking for a row again. A Nextcloud without a memory cache says that
// it keeps them and does not: each part would be one of another listing.
func (c *Client) prove(ctx context.Context, ask propfind, token string) error {
	ask.header = c.partHeader(filehost.Part{Listing: token, Rows: 1})
	response, err := c.ask(ctx, ask)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if !c.isKept(response.Header) {
		return errNotKept
	}
	c.keeping.proved()
	return nil
}

func (c *Client) partHeader(part filehost.Part) map[string]string {
	return map[string]string{
		c.profile.paging.begin:   "true", // so that a listing which is not kept any more is made in parts again, not as a whole
		c.profile.paging.listing: part.Listing,
		c.profile.paging.offset:  strconv.Itoa(part.Offset),
		c.profile.paging.rows:    strconv.Itoa(part.Rows),
	}
}

// isKept tells whether an answer is a part of the listing that was asked for. One that was made anew has a token of its own,
// or is no part at all.
func (c *Client) isKept(header http.Header) bool {
	return header.Get(c.profile.paging.begin) == "true" && header.Get(c.profile.paging.listing) == ""
}

// continueListing asks for a part of a listing that the host keeps.
func (c *Client) continueListing(
	ctx context.Context, credential filehost.Credential, path filehost.Path, part filehost.Part, begin filehost.Begin,
) error {
	ask, err := c.children(ctx, &credential, path)
	if err != nil {
		return err
	}
	rows := c.newRows(path, part.Offset)
	rows.most = min(part.Rows, part.Total-part.Offset)
	rows.least = rows.most
	ask.header = c.partHeader(part)
	ask.answered = func(header http.Header) (err error) {
		if !c.isKept(header) {
			return errNotKept
		}
		rows.receive, err = begin(filehost.Parts{Paged: true, Listing: part.Listing, Total: part.Total})
		return err
	}
	err = c.propfind(ctx, ask, rows.add)
	if err == nil && rows.seen < rows.least {
		err = errNotKept // a cache drops what it has no room for, one row at a time
	}
	switch {
	case errors.Is(err, errNotKept):
		c.keeping.doubt()
		return filehost.E(filehost.Changed, c.host.Name+" no longer keeps its listing of the folder.", err)
	case err == nil && rows.folder != nil:
		return c.nonsense(errors.New("the host told of the folder itself among what is in it"))
	}
	return err
}

// rows takes the rows of a part and counts them.
type rows struct {
	listing
	offset      int // of the first
	seen        int
	least, most int
	receive     func(entry filehost.Entry, next int) error
}

func (c *Client) newRows(path filehost.Path, offset int) *rows {
	r := &rows{listing: listing{client: c, path: path}, offset: offset}
	r.each = func(entry filehost.Entry) error { return r.receive(entry, r.offset+r.seen) }
	return r
}

func (r *rows) add(found found) error {
	if r.seen++; r.seen > r.most {
		return r.client.nonsense(fmt.Errorf("more than %d rows", r.most))
	}
	return r.listing.add(found)
}

// retryKeeping is how long a host that was seen to keep no listings is not asked to.
const retryKeeping = time.Hour

// keeping is what is known of whether the host keeps listings. It may be lost. The zero value is that nothing is known. It
// is safe for concurrent use.
type keeping struct {
	mu     sync.Mutex
	proven bool
	since  time.Time // when it was seen that it doesn't; zero = it wasn't
}

// worthTrying tells whether the host is to be asked for a part.
func (k *keeping) worthTrying(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.since.IsZero() || now.Sub(k.since) >= retryKeeping
}

func (k *keeping) isProven() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.proven
}

func (k *keeping) proved()              { k.set(true, time.Time{}) }
func (k *keeping) doubt()               { k.set(false, time.Time{}) }
func (k *keeping) failed(now time.Time) { k.set(false, now) }

func (k *keeping) set(proven bool, since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.proven, k.since = proven, since
}
