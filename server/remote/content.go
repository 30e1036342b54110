package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Open implements filehost.Remote.
func (c *Client) Open(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (filehost.Content, error) {
	if entry.Kind != filehost.File {
		return filehost.Content{}, filehost.Invalid("path", entry.Path.String()+" is a folder, not a file.")
	}
	tree, err := c.tree(ctx, credential, entry.Path)
	if err != nil {
		return filehost.Content{}, err
	}
	header := map[string]string{"Accept-Encoding": "identity"}
	if filehost.IsStrongETag(entry.ETag) {
		// Some hosts ignore it, so that the answer is compared as well.
		header["If-Match"] = filehost.BareETag(entry.ETag)
	}
	response, err := c.do(ctx, call{
		method:     http.MethodGet,
		url:        tree.url(entry.Path, false),
		header:     header,
		credential: &credential,
		accept:     []int{http.StatusOK},
	})
	if err != nil {
		return filehost.Content{}, c.openFailure(ctx, credential, entry.Path, err)
	}
	content, err := c.content(response, entry)
	if err != nil {
		_ = response.Body.Close()
		return filehost.Content{}, err
	}
	return content, nil
}

// openFailure says what it means when a file that was there a moment ago can't be opened.
func (c *Client) openFailure(ctx context.Context, credential filehost.Credential, path filehost.Path, err error) error {
	folder := filehost.KindOf(err) == filehost.Unsupported
	if status := answeredWith(err); status/100 == 3 || status == http.StatusPreconditionFailed {
		// nginx and Apache redirect to a folder's address with the slash. Others redirect to their sign-in page. To
		// Nextcloud a file that is gone is one that doesn't match.
		entry, statErr := c.Stat(ctx, credential, path)
		if filehost.KindOf(statErr) == filehost.NotFound {
			return statErr
		}
		folder = statErr == nil && entry.Kind == filehost.Folder
	}
	if folder {
		return c.changed(fmt.Errorf("it is a file no more: %w", err))
	}
	return err
}

func (c *Client) changed(cause error) error {
	return filehost.E(filehost.Changed, "The file at "+c.host.Name+" has changed.", cite(cause))
}

func (c *Client) content(response *http.Response, entry filehost.Entry) (filehost.Content, error) {
	content := filehost.Content{
		Size:       response.ContentLength,
		ETag:       c.etagOf(response.Header),
		ModifiedAt: lastModifiedOf(response.Header, entry),
	}
	if err := compare(content, entry); err != nil {
		return filehost.Content{}, c.changed(err)
	}
	encoding := response.Header.Get("Content-Encoding")
	if encoding != "" && encoding != "identity" && content.Size != entry.Size {
		// Of the file's own size, it is a file that was kept compressed, and Apache says so.
		return filehost.Content{}, c.nonsense(fmt.Errorf("the file came compressed with %q, which was not asked for", encoding))
	}
	size := content.Size
	if size < 0 && entry.Size > 0 {
		size = entry.Size
	}
	content.ReadCloser = &sizedBody{ReadCloser: response.Body, client: c, size: size}
	return content, nil
}

// etagOf is the ETag of an answer's file; "" = the host sent none.
func (c *Client) etagOf(header http.Header) string {
	for _, name := range c.profile.etagHeaders {
		if tag := quoteETag(header.Get(name)); tag != "" {
			return tag
		}
	}
	return ""
}

// lastModifiedOf is the time of an answer's file. A server may not send one that lies ahead of its answer's own date (RFC
// 9110 8.8.2.1): a file that is dated in the future then has that date instead, and still is the same.
func lastModifiedOf(header http.Header, entry filehost.Entry) time.Time {
	modified, answered := parseTime(header.Get("Last-Modified")), parseTime(header.Get("Date"))
	if !modified.IsZero() && modified.Equal(answered) && entry.ModifiedAt.After(answered) {
		return entry.ModifiedAt
	}
	return modified
}

// compare fails when the answer is not about the entry: it was changed, replaced, or is a folder by now, for which
// Nextcloud answers with a page and OpenCloud with nothing.
func compare(content filehost.Content, entry filehost.Entry) error {
	sized := content.Size >= 0 && entry.Size > 0
	if sized && content.Size != entry.Size {
		return fmt.Errorf("size %d, was %d", content.Size, entry.Size)
	}
	tagged := content.ETag != "" && entry.ETag != ""
	if tagged && !filehost.SameETag(content.ETag, entry.ETag) {
		return fmt.Errorf("ETag %s, was %s", content.ETag, entry.ETag)
	}
	if tagged && filehost.IsStrongETag(content.ETag) && filehost.IsStrongETag(entry.ETag) {
		return nil
	}
	dated := !content.ModifiedAt.IsZero() && !entry.ModifiedAt.IsZero()
	if dated && !content.ModifiedAt.Equal(entry.ModifiedAt) {
		return fmt.Errorf("modified at %s, was %s", content.ModifiedAt, entry.ModifiedAt)
	}
	if recognisable := entry.ETag != "" || !entry.ModifiedAt.IsZero(); recognisable && !tagged && !dated && !sized {
		return errors.New("nothing in the answer tells that it is the same file")
	}
	return nil
}

// sizedBody fails when the content is shorter or longer than announced.
type sizedBody struct {
	io.ReadCloser
	client *Client
	size   int64 // -1 = it was not announced
	read   int64
}

// Read implements io.Reader. Who sends the content on reads it in a goroutine of net/http, where a panic would end the
// plugin.
func (b *sizedBody) Read(p []byte) (n int, err error) {
	err = filehost.Recovered(func() (err error) {
		n, err = b.readSized(p)
		return err
	})
	return n, err
}

func (b *sizedBody) readSized(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case b.size < 0:
	case b.read > b.size:
		return 0, b.client.changed(fmt.Errorf("more than %d bytes", b.size))
	case errors.Is(err, io.EOF) && b.read < b.size:
		return n, filehost.E(filehost.HostUnavailable, b.client.host.Name+" ended the file early.",
			fmt.Errorf("%d of %d bytes: %w", b.read, b.size, io.ErrUnexpectedEOF))
	}
	return n, err
}
