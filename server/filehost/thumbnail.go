package filehost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// The bounds of the square that a thumbnail fits into, in pixels. Nextcloud's and OpenCloud's may be larger: they make a few
// sizes only.
const (
	MinThumbnailSize     = 16
	MaxThumbnailSize     = 1024
	DefaultThumbnailSize = 256
)

// maxThumbnailBytes is the largest thumbnail. Each that is under way is held whole: what is shown has to be all of it.
const maxThumbnailBytes = 2 << 20

// The thumbnails under way at once, others wait. They are no listings, so that a wall of them holds up no listing.
const (
	thumbnailsPerUser = 25
	thumbnailsPerNode = 50
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

// Picture is a whole thumbnail.
type Picture struct {
	MIMEType string
	Bytes    []byte
	State    string // whose it is: user, connection, host. For a validator, not for a caller.
}

// Thumbnail gets a small image of a file from the host, as the user. None is kept: one that he may see no longer is not
// shown again.
func (s *Service) Thumbnail(ctx context.Context, userID string, ref Ref, pixels int) (Picture, error) {
	if pixels < MinThumbnailSize || pixels > MaxThumbnailSize {
		return Picture{}, &Error{Kind: InvalidRequest, Field: "size", Message: "size must be from 16 to 1024 pixels.", Limit: MaxThumbnailSize}
	}
	leave, err := s.Pictures.Wait(ctx, userID, thumbnailsPerUser, thumbnailsPerNode)
	if err != nil {
		return Picture{}, err
	}
	defer leave()
	var picture Picture
	event := AuditEvent{Action: AuditThumbnail}
	event.name(ref)
	err = s.using(ctx, event, func(ctx context.Context) error {
		return s.asUser(ctx, userID, func(credential Credential) (err error) {
			picture, err = s.picture(ctx, credential, ref, pixels)
			return err
		})
	}, nil)
	return picture, err
}

func (s *Service) picture(ctx context.Context, credential Credential, ref Ref, pixels int) (Picture, error) {
	thumbnail, err := s.Remote.Thumbnail(ctx, credential, ref, pixels)
	if err != nil {
		return Picture{}, err
	}
	defer func() { _ = thumbnail.Close() }() // it was read to its end, or another error is on its way
	if thumbnail.Size > maxThumbnailBytes {
		return Picture{}, s.tooLargeToShow(thumbnail.Size)
	}
	var content bytes.Buffer
	content.Grow(int(max(thumbnail.Size, 0)) + bytes.MinRead) // so that it doesn't grow on the way
	read, err := content.ReadFrom(io.LimitReader(thumbnail, maxThumbnailBytes+1))
	switch {
	case err != nil:
		return Picture{}, err
	case read > maxThumbnailBytes:
		return Picture{}, s.tooLargeToShow(read)
	}
	state, err := json.Marshal([]string{s.Host.ID, credential.UserID, credential.Connection})
	return Picture{MIMEType: thumbnail.MIMEType, Bytes: content.Bytes(), State: string(state)}, err
}

func (s *Service) tooLargeToShow(size int64) error {
	return &Error{Kind: TooLarge, Limit: maxThumbnailBytes, LimitOwner: OwnerPlugin, Actual: size,
		Message: fmt.Sprintf("The small image that %s has of this file is larger than %d MiB.", s.Host.Name, maxThumbnailBytes>>20)}
}
