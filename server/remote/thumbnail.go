package remote

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// previews is how a kind of host gives small images of files.
type previews struct {
	query    map[string]string // asks for one, beside its width x and its height y; nil = the host makes none
	byPath   string            // is asked with the path as the parameter file, below the base URL; "" = the file's own address
	byID     string            // is asked with the id as the parameter fileId, below the base URL; "" = the id's path is looked up
	property bool              // nc:has-preview tells which files have one; else their types do...
	types    []string          // ...which are these
	none     []int             // what it answers, beside 404, for a file that it can make none of
}

// previewPatience is how long a host may work on an image before the first byte.
const previewPatience = 30 * time.Second

// previewRetry is when to ask again for the image of a file that the host is still working on, where it doesn't say.
const previewRetry = 5 * time.Second

// imageTypes are those of images that no browser runs anything of.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}

// leastPreviewed is the shortest file that an image is made of, in bytes: ownCloud draws no shorter text.
const leastPreviewed = 6

// Thumbnail implements filehost.Thumbnails.
func (c *Client) Thumbnail(ctx context.Context, credential filehost.Credential, ref filehost.Ref, pixels int) (filehost.Thumbnail, error) {
	if c.profile.previews.query == nil {
		return filehost.Thumbnail{}, c.unable()
	}
	address, err := c.preview(ctx, credential, ref, pixels)
	if err != nil {
		return filehost.Thumbnail{}, err
	}
	response, err := c.do(ctx, call{
		method:     http.MethodGet,
		url:        address,
		header:     map[string]string{"Accept": strings.Join(imageTypes, ", "), "Accept-Encoding": "identity"},
		credential: &credential,
		accept:     []int{http.StatusOK},
		patience:   previewPatience,
	})
	if err != nil {
		return filehost.Thumbnail{}, c.withoutPreview(ctx, credential, ref, err)
	}
	thumbnail, err := c.image(response)
	if err != nil {
		_ = response.Body.Close()
		return filehost.Thumbnail{}, c.withoutPreview(ctx, credential, ref, err)
	}
	return thumbnail, nil
}

// preview is the address of an image that fits into a square.
func (c *Client) preview(ctx context.Context, credential filehost.Credential, ref filehost.Ref, pixels int) (string, error) {
	side := strconv.Itoa(pixels)
	query := url.Values{"x": {side}, "y": {side}}
	for name, value := range maps.All(c.profile.previews.query) {
		query.Set(name, value)
	}
	own := c.host.Origin() + c.base.Escaped()
	switch {
	case ref.HostID != "" && c.profile.previews.byID != "":
		query.Set("fileId", ref.HostID)
		return own + c.profile.previews.byID + "?" + query.Encode(), nil
	case ref.HostID != "":
		entry, err := c.StatID(ctx, credential, ref.HostID)
		if err != nil {
			return "", err
		}
		ref = filehost.Ref{Path: entry.Path}
	}
	if c.profile.previews.byPath != "" {
		query.Set("file", "/"+strings.Join(ref.Path.Segments(), "/")) // as the host has it
		return own + c.profile.previews.byPath + "?" + query.Encode(), nil
	}
	tree, err := c.tree(ctx, credential, ref.Path)
	return tree.url(ref.Path, false) + "?" + query.Encode(), err
}

// withoutPreview says why a host has given no image. To it, one that there is none of is like a file that is not there, and
// of a folder it gives a page.
func (c *Client) withoutPreview(ctx context.Context, credential filehost.Credential, ref filehost.Ref, err error) error {
	var known *filehost.Error
	if errors.As(err, &known) && known.Kind == filehost.Conflict {
		known.RetryAfter = cmp.Or(known.RetryAfter, previewRetry)
	}
	if kind := filehost.KindOf(err); kind != filehost.NotFound && kind != filehost.Unsupported &&
		!slices.Contains(c.profile.previews.none, answeredWith(err)) {
		return err
	}
	field := "path"
	stat := func() (filehost.Entry, error) { return c.Stat(ctx, credential, ref.Path) }
	if ref.HostID != "" {
		field = "id"
		stat = func() (filehost.Entry, error) { return c.StatID(ctx, credential, ref.HostID) }
	}
	switch entry, statErr := stat(); {
	case statErr != nil:
		return statErr
	case entry.Kind == filehost.Folder:
		return filehost.Invalid(field, entry.Path.String()+" is a folder, not a file.")
	case filehost.KindOf(err) == filehost.Forbidden && !slices.Contains(entry.Permissions, filehost.Read):
		return err
	}
	return c.noPreview(err)
}

// noPreview is the error for a file that the host has no image of.
func (c *Client) noPreview(cause error) error {
	return filehost.E(filehost.Unsupported, c.host.Name+" has no small image of this file.", cite(cause))
}

// image is what an answer holds, if that is an image by what the host calls it and by its first bytes: a page or a drawing
// that can run programs is none, whatever it is called.
func (c *Client) image(response *http.Response) (filehost.Thumbnail, error) {
	declared, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if !slices.Contains(imageTypes, declared) || !isPlain(response) {
		return filehost.Thumbnail{}, c.noPreview(fmt.Errorf("the answer is %q", declared))
	}
	body := bufio.NewReaderSize(response.Body, signatureBytes)
	head, err := body.Peek(signatureBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return filehost.Thumbnail{}, err
	}
	actual := imageType(head)
	if actual == "" {
		return filehost.Thumbnail{}, c.noPreview(fmt.Errorf("the answer is called %q and begins with %q", declared, head))
	}
	return filehost.Thumbnail{
		ReadCloser: struct {
			io.Reader
			io.Closer
		}{body, response.Body},
		MIMEType: actual,
		Size:     response.ContentLength,
		ETag:     c.etagOf(response.Header),
	}, nil
}

// signatureBytes is how much of an image tells its type.
const signatureBytes = 16

// imageType is the type of an image by its first bytes; "" = it is none of imageTypes.
func imageType(head []byte) string {
	if len(head) >= 12 && (string(head[4:12]) == "ftypavif" || string(head[4:12]) == "ftypavis") {
		return "image/avif"
	}
	if known := http.DetectContentType(head); slices.Contains(imageTypes, known) {
		return known
	}
	return ""
}

// thumbnail tells whether the host has an image of a file.
func (c *Client) thumbnail(entry filehost.Entry, values *properties) bool {
	switch {
	case entry.Kind != filehost.File || !slices.Contains(entry.Permissions, filehost.Read): // hosts give no image of what is not to be had
		return false
	case c.profile.previews.property:
		text, _ := values.text(ncHasPreview)
		return text == "true"
	}
	return entry.Size >= leastPreviewed && slices.Contains(c.profile.previews.types, entry.MIMEType)
}
