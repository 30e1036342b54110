package filehost

import (
	"context"
	"io"
)

// Thumbnail is a small image of a file, open for reading.
type Thumbnail struct {
	io.ReadCloser
	MIMEType string // one of an image that no browser takes for a page or a program
	Size     int64  // bytes; -1 when the host didn't say
	ETag     string // "" when the host sent none
}

// Thumbnails makes small images of files.
type Thumbnails interface {
	// Thumbnail opens an image of a file that fits into a square of so many pixels. It fails with Unsupported when the host
	// has none of it, and with Conflict while the host is still making it. The caller closes it.
	Thumbnail(ctx context.Context, credential Credential, ref Ref, pixels int) (Thumbnail, error)
}
