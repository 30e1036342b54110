package remote

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// namespaces declares the prefixes that the bodies of requests use.
const namespaces = ` xmlns:d="` + nsDAV + `" xmlns:oc="` + nsOC + `" xmlns:nc="` + nsNC + `"`

// propfindBody is the body of PROPFIND (RFC 4918 14.20) that asks for names.
func propfindBody(names ...property) []byte {
	return []byte(xml.Header + `<d:propfind` + namespaces + `>` + propElements(names...) + `</d:propfind>`)
}

// propElements is a prop element (RFC 4918 14.18) with these names.
func propElements(names ...property) string {
	var body strings.Builder
	body.WriteString(`<d:prop>`)
	prefixes := map[string]string{nsDAV: "d", nsOC: "oc", nsNC: "nc"}
	for _, each := range names {
		name := propertyNames[each]
		fmt.Fprintf(&body, "<%s:%s/>", prefixes[name.Space], name.Local)
	}
	body.WriteString(`</d:prop>`)
	return body.String()
}

// propfind is one request of that name (RFC 4918 9.1), or another that is answered as it is.
type propfind struct {
	method     string // "" = PROPFIND for the profile's properties
	body       []byte // of another method, or for other properties; nil = the profile's
	address    string // "" = that of path
	credential *filehost.Credential
	tree       tree
	path       filehost.Path
	folder     bool // path is to be taken for a folder's
	depth      string
	patience   time.Duration // for the first byte
	header     map[string]string
	answered   func(http.Header) error // is shown the answer's header before its first entry; may be nil
}

// found is one entry of the answer.
type found struct {
	path   filehost.Path
	values *properties // nil when there are none; of this entry only until the next
	status int         // why there are none
	mount  *mount      // the entry is one; nil = it is none
	// readOnly = it was asked for with a credential that may change nothing.
	readOnly bool
}

// propfind asks the host and passes each entry on as it arrives, until the end of the answer, or an error of each's.
func (c *Client) propfind(ctx context.Context, ask propfind, each func(found) error) error {
	response, err := c.ask(ctx, ask)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if ask.answered != nil {
		if err := ask.answered(response.Header); err != nil {
			return err
		}
	}
	plain, err := decompress(response)
	if err != nil {
		return c.unreadable(err)
	}
	if err := c.readAnswer(newMultistatus(plain), ask, each); err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, plain, drainBytes)
	return nil
}

func (c *Client) ask(ctx context.Context, ask propfind) (*http.Response, error) {
	header := map[string]string{"Content-Type": "application/xml; charset=utf-8", "Accept-Encoding": "gzip"}
	if ask.depth != "" {
		header["Depth"] = ask.depth
	}
	if ask.body == nil {
		header["Prefer"], ask.body = "return=minimal", propfindBody(c.profile.properties...)
	}
	maps.Copy(header, ask.header)
	return c.do(ctx, call{
		method:     cmp.Or(ask.method, "PROPFIND"),
		url:        cmp.Or(ask.address, ask.tree.url(ask.path, ask.folder)),
		header:     header,
		body:       ask.body,
		credential: ask.credential,
		accept:     []int{http.StatusMultiStatus},
		patience:   ask.patience,
	})
}

func (c *Client) readAnswer(answer *multistatus, ask propfind, each func(found) error) error {
	hrefs := hrefs{tree: ask.tree}
	readOnly := ask.credential != nil && ask.credential.ReadOnly
	for {
		entry, err := answer.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.unreadable(err)
		}
		for _, href := range entry.hrefs {
			path, err := hrefs.path(href)
			next := found{path: path, values: entry.values, status: entry.status, readOnly: readOnly}
			switch {
			case errors.Is(err, errElsewhere):
				next.values, next.status = nil, http.StatusNotFound
			case err != nil:
				return c.misnamed(err)
			}
			if at, ok := ask.tree.at(path); ok {
				next.mount = &at
			}
			if err := each(next); err != nil {
				return err
			}
		}
	}
}

// misnamed is the error for an href that no entry can have.
func (c *Client) misnamed(cause error) error {
	if errors.Is(cause, errTooLong) {
		return filehost.E(filehost.HostUnavailable, c.host.Name+" lists a file or folder whose name is too long.", cite(cause))
	}
	return c.nonsense(cause)
}

// unreadable is the error for a multistatus answer that broke off or is malformed.
func (c *Client) unreadable(cause error) error {
	var ours *filehost.Error
	switch {
	case errors.As(cause, &ours):
		return cause
	case errors.Is(cause, errAnswerTooLarge):
		return &filehost.Error{
			Kind:       filehost.TooLarge,
			Message:    fmt.Sprintf("The folder at %s is too large: more than %d entries can't be listed.", c.host.Name, maxEntries),
			Limit:      maxEntries,
			LimitOwner: filehost.OwnerPlugin,
			Err:        cause,
		}
	default:
		return filehost.E(filehost.HostUnavailable, c.host.Name+" did not give its whole answer, or not a readable one.", cite(cause))
	}
}

func decompress(response *http.Response) (io.Reader, error) {
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return response.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(response.Body)
	default:
		return nil, fmt.Errorf("the answer is compressed with %q", encoding)
	}
}
