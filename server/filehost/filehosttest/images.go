package filehosttest

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Images is a host that has the same thumbnail of every file. Set its fields before the first use.
type Images struct {
	Bytes   []byte
	Claims  int64           // what the host says that its length is; 0 = the truth
	Untold  bool            // the host doesn't say how long it is
	Failure error           // of every call
	Broken  error           // ends the image in place of its end
	Asked   func(asked Ask) // called by every call

	mu     sync.Mutex
	asks   []Ask
	opened int // of those, the ones that are not closed
}

// Ask is one call.
type Ask struct {
	UserID string
	Ref    filehost.Ref
	Pixels int
}

// Asks are the calls so far.
func (i *Images) Asks() []Ask {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asks
}

// Open is how many images are open.
func (i *Images) Open() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.opened
}

// Thumbnail implements filehost.Thumbnails.
func (i *Images) Thumbnail(_ context.Context, credential filehost.Credential, ref filehost.Ref, pixels int) (filehost.Thumbnail, error) {
	ask := Ask{credential.UserID, ref, pixels}
	i.mu.Lock()
	i.asks = append(i.asks, ask)
	i.mu.Unlock()
	if i.Asked != nil {
		i.Asked(ask)
	}
	if i.Failure != nil {
		return filehost.Thumbnail{}, i.Failure
	}
	i.mu.Lock()
	i.opened++
	i.mu.Unlock()
	image := filehost.Thumbnail{ReadCloser: &openImage{i, bytes.NewReader(i.Bytes)}, MIMEType: "image/png", Size: int64(len(i.Bytes))}
	if i.Claims != 0 {
		image.Size = i.Claims
	}
	if i.Untold {
		image.Size = -1
	}
	return image, nil
}

type openImage struct {
	of   *Images
	left io.Reader
}

func (o *openImage) Read(p []byte) (int, error) {
	n, err := o.left.Read(p)
	if err != nil && o.of.Broken != nil {
		err = o.of.Broken
	}
	return n, err
}

func (o *openImage) Close() error {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.of.opened--
	return nil
}
