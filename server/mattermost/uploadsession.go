package mattermost

import (
	"context"
	"encoding/json"
	"io"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// partSize bounds one call of UploadData, in bytes: an S3 file store gives each write a limited time, and a first part
// must be larger than 5 MiB.
const partSize = 64 << 20

// uploadBySession streams through the plugin API. Neither scanning plugins nor previews see the file.
func (s *Server) uploadBySession(ctx context.Context, upload filehost.Upload) (filehost.FileInfo, error) {
	session, err := s.API.CreateUploadSession(&model.UploadSession{
		Id:        model.NewId(),
		Type:      model.UploadTypeAttachment,
		UserId:    upload.UserID,
		ChannelId: upload.ChannelID,
		Filename:  upload.Name,
		FileSize:  upload.Size,
	})
	if err != nil {
		return filehost.FileInfo{}, errors.Wrap(err, "open an upload session")
	}
	source := &filled{ctx: ctx, source: upload.Content}
	for {
		began := s.Clock.Now()
		info, err := s.API.UploadData(session, io.LimitReader(source, partSize))
		switch {
		case isUnreadableImage(err):
			return filehost.FileInfo{}, filehost.E(filehost.Unsupported, "Mattermost can't read this image, and takes it only through its own upload route, which the plugin can't reach; tell your system admin.", err)
		case err != nil:
			return filehost.FileInfo{}, s.outOfStoreTime(began, errors.Wrap(err, "upload data"))
		case info != nil && info.Size != upload.Size:
			return filehost.FileInfo{}, errors.Errorf("upload session stored %d of %d bytes", info.Size, upload.Size)
		case info != nil:
			return acceptedBySession(info, upload)
		}
		before := session.FileOffset
		if session, err = s.API.GetUploadSession(session.Id); err != nil {
			return filehost.FileInfo{}, errors.Wrap(err, "read an upload session")
		}
		// What the server read and did not store is lost to us: there is no going on from there.
		if session.FileOffset <= before || session.FileOffset != source.read {
			return filehost.FileInfo{}, errors.Errorf("upload session stopped at %d of %d bytes", session.FileOffset, upload.Size)
		}
	}
}

func acceptedBySession(info *model.FileInfo, upload filehost.Upload) (filehost.FileInfo, error) {
	shown, err := json.Marshal(info)
	if err != nil {
		return filehost.FileInfo{}, errors.Wrap(err, "upload data")
	}
	return accepted(info, shown, upload)
}

// isUnreadableImage tells the error for a file that is named like an image and that the server's decoder can't read, such
// as SVG and HEIC. It comes after all bytes.
func isUnreadableImage(err error) bool {
	var appErr *model.AppError
	return errors.As(err, &appErr) && appErr.Id == idUnreadable
}

// filled gives full buffers, whatever its source gives: the plugin RPC can deadlock on short reads.
type filled struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	source io.Reader
	read   int64
}

func (f *filled) Read(buffer []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(f.source, buffer)
	f.read += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF // of the buffer, not of the file: a short file is told by its size
	}
	return n, err
}
