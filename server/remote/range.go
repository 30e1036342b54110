package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// OpenFrom implements filehost.Remote. It asks for one range (RFC 9110 14.2) of the file with the entry's ETag, twice over:
// by If-Match, and by If-Range for a host that heeds only that. OpenCloud heeds neither, so that the ETag of the answer is
// what decides.
func (c *Client) OpenFrom(ctx context.Context, credential filehost.Credential, entry filehost.Entry, offset int64) (filehost.Content, error) {
	switch {
	case !filehost.IsStrongETag(entry.ETag): // two files with one weak tag may differ in their bytes (RFC 9110 8.8.1)
		return filehost.Content{}, c.noParts(errors.New("nothing strong tells one content of the file from another"))
	case offset < 1 || offset >= entry.Size:
		return filehost.Content{}, filehost.E(filehost.Internal, "This part of the file can't be asked for.",
			fmt.Errorf("from byte %d of %d", offset, entry.Size))
	}
	tree, err := c.tree(ctx, credential, entry.Path)
	if err != nil {
		return filehost.Content{}, err
	}
	tag := filehost.BareETag(entry.ETag)
	response, err := c.do(ctx, call{
		method: http.MethodGet,
		url:    tree.url(entry.Path, false),
		header: map[string]string{
			"Accept-Encoding": "identity", "If-Match": tag, "If-Range": tag, "Range": fmt.Sprintf("bytes=%d-", offset),
		},
		credential: &credential,
		accept:     []int{http.StatusPartialContent, http.StatusOK},
	})
	if answeredWith(err) == http.StatusRequestedRangeNotSatisfiable {
		return filehost.Content{}, c.changed(err)
	}
	if err != nil {
		return filehost.Content{}, c.openFailure(ctx, credential, entry.Path, err)
	}
	content, err := c.rest(response, entry, offset)
	if err != nil {
		_ = response.Body.Close()
		return filehost.Content{}, err
	}
	return content, nil
}

// rest is the content of an answer that has to be the rest of the entry's file, to its last byte.
func (c *Client) rest(response *http.Response, entry filehost.Entry, offset int64) (filehost.Content, error) {
	tag, size := c.etagOf(response.Header), entry.Size-offset
	switch {
	case tag != "" && !filehost.SameETag(tag, entry.ETag):
		return filehost.Content{}, c.changed(fmt.Errorf("ETag %s, was %s", tag, entry.ETag))
	case !filehost.IsStrongETag(tag):
		return filehost.Content{}, c.noParts(fmt.Errorf("the answer's ETag is %q", tag))
	case response.StatusCode == http.StatusOK: // the whole file
		return filehost.Content{}, c.noParts(answered(http.StatusOK))
	}
	want := fmt.Sprintf("bytes %d-%d/%d", offset, entry.Size-1, entry.Size)
	got, length := response.Header.Get("Content-Range"), response.ContentLength
	if got != want || length >= 0 && length != size || !isPlain(response) {
		return filehost.Content{}, c.nonsense(fmt.Errorf("a part of %d bytes, %q, where %q was asked for", length, got, want))
	}
	return filehost.Content{
		ReadCloser: &sizedBody{ReadCloser: response.Body, client: c, size: size},
		Size:       size,
		ETag:       tag,
		ModifiedAt: lastModifiedOf(response.Header, entry),
	}, nil
}

// isPlain tells whether the body of an answer is the content itself.
func isPlain(response *http.Response) bool {
	encoding := response.Header.Get("Content-Encoding")
	return encoding == "" || encoding == "identity"
}

// noParts is the error for a host that gives no part of a file, or none of which it is known to be of the same file.
func (c *Client) noParts(cause error) error {
	return filehost.E(filehost.Unsupported, c.host.Name+" gives this file as a whole only.", cite(cause))
}
