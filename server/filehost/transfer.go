package filehost

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats whose dimensions Mattermost limits
	_ "image/jpeg"
	_ "image/png"
	"io"
	"sync"
	"time"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// imageHeader is how much of a file is read to find the dimensions of an image, in bytes. They may stand behind a large
// block of metadata; what stands further back is left to Mattermost's own check.
const imageHeader = 512 << 10

// transfer copies one file as the user and returns it as Mattermost has it. The source is looked at once more when it has
// been read: a file that changed meanwhile is an error and its copy is posted nowhere. whose is by which account it was read.
func (s *Service) transfer(ctx context.Context, userID, channelID string, entry Entry, limits Limits) (stored FileInfo, whose string, err error) {
	err = s.asUser(ctx, userID, func(credential Credential) error {
		content, err := s.openUnbroken(ctx, credential, entry)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }() // it was read to its end, or another error is on its way
		whose = s.whose(credential)
		stored, err = s.upload(ctx, Upload{UserID: userID, ChannelID: channelID, Name: StoredName(entry.Path.Name()), Size: entry.Size, Content: content}, limits)
		return err
	})
	if err == nil {
		err = s.unchanged(ctx, userID, entry)
	}
	return stored, whose, inTime(ctx, limits, err)
}

func (s *Service) upload(ctx context.Context, upload Upload, limits Limits) (FileInfo, error) {
	content := bufio.NewReaderSize(upload.Content, int(min(imageHeader, upload.Size)))
	header, _ := content.Peek(imageHeader) // an error comes again on the first Read
	if dimensions, _, err := image.DecodeConfig(bytes.NewReader(header)); err == nil {
		pixels := int64(dimensions.Width) * int64(dimensions.Height)
		if limits.ImagePixels > 0 && pixels > limits.ImagePixels {
			return FileInfo{}, &Error{Kind: TooLarge, Limit: limits.ImagePixels, LimitOwner: OwnerMattermost, Actual: pixels,
				Message: fmt.Sprintf("The image has %d pixels; Mattermost allows %d.", pixels, limits.ImagePixels)}
		}
	}
	source := &source{Reader: content}
	upload.Content = source
	stored, err := s.Mattermost.Upload(ctx, upload)
	if cause := source.failure(); cause != nil { // what Mattermost made of it only follows from it
		return FileInfo{}, cause
	}
	return stored, err
}

// source keeps the stream's own error: the ways into Mattermost lose it. When Mattermost answers early, a read may still
// be under way.
type source struct {
	io.Reader
	mu  sync.Mutex
	err error
}

func (s *source) Read(buffer []byte) (int, error) {
	n, err := s.Reader.Read(buffer)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// unchanged fails with Changed when the file is no longer the one that entry describes.
func (s *Service) unchanged(ctx context.Context, userID string, entry Entry) error {
	now, err := s.stat(ctx, userID, Ref{Path: entry.Path})
	if KindOf(err) == NotFound || err == nil && !SameContent(entry, now) {
		return E(Changed, "The file changed while it was copied; try again.", err)
	}
	return err
}

// SameContent tells whether a file is still the one that an earlier look at it has seen: by ETag, where the host has one,
// else by length and time.
func SameContent(before, after Entry) bool {
	tagged := before.ETag != "" && after.ETag != ""
	switch {
	case tagged && !SameETag(before.ETag, after.ETag):
		return false
	case tagged && IsStrongETag(before.ETag) && IsStrongETag(after.ETag):
		return true
	}
	return before.Kind == after.Kind && before.Size == after.Size && before.ModifiedAt.Equal(after.ModifiedAt)
}

// inTime tells an error that only follows from the end of the request's time, and names who limits that.
func inTime(ctx context.Context, limits Limits, err error) error {
	stalled := KindOf(err) == Timeout && !errors.Is(err, context.DeadlineExceeded)
	if err == nil || stalled || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	seconds := int64(limits.RequestTimeout / time.Second)
	return &Error{Kind: Timeout, Limit: seconds, LimitOwner: OwnerMattermost, Err: err,
		Message: fmt.Sprintf("The copy did not end in time: Mattermost gives a request %d seconds (%s).", seconds, limits.TimeoutSetting)}
}
