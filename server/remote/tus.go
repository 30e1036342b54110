package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// tusVersion is the protocol's (TUS 1.0.0, “Tus-Resumable”).
var tusVersion = map[string]string{"Tus-Resumable": "1.0.0"}

// byTUS saves by a resumable upload (TUS 1.0.0, with its extension Creation). The host shows the file when it has all of it.
func (s *saving) byTUS(ctx context.Context) error {
	if err := s.stillThere(ctx); err != nil { // of what is gone, the host makes a new file
		return err
	}
	most := s.mostAtOnce(ctx)
	upload, err := s.beginUpload(ctx)
	for err == nil && s.source.rest() > 0 {
		err = s.patch(ctx, upload, min(most, s.source.rest()))
	}
	if answeredWith(err) == http.StatusConflict { // somebody was faster
		return s.taken(nil)
	}
	return err
}

// mostAtOnce is how much the host takes in one request: what it says, or what OpenCloud has by default.
func (s *saving) mostAtOnce(ctx context.Context) int64 {
	switch offers := s.offers(ctx, s.credential); {
	case !offers.known:
		return 10_000_000
	case offers.uploadBytes == 0:
		return s.file.Size
	default:
		return offers.uploadBytes
	}
}

// beginUpload announces the file and returns the address for its content. OpenCloud compares If-Match with a file that is
// there and takes a new one whatever it says: an ETag that no file has lets it only create. Its 412 has more meanings: no
// such folder, and a name that it doesn't take.
func (s *saving) beginUpload(ctx context.Context) (string, error) {
	condition := neverMatches
	if s.file.Replaces != nil {
		condition = cmp.Or(s.file.Replaces.ETag, neverMatches)
	}
	upload, err := s.createUpload(ctx, map[string]string{"If-Match": condition})
	if answeredWith(err) != http.StatusPreconditionFailed || s.file.Replaces != nil {
		return upload, err
	}
	for _, path := range []filehost.Path{s.target, s.file.Folder} {
		_, statErr := s.Stat(ctx, s.credential, path)
		switch isTarget := path == s.target; {
		case isTarget && filehost.KindOf(statErr) == filehost.NotFound, !isTarget && statErr == nil:
		case isTarget && statErr == nil:
			return "", err
		default:
			return "", statErr
		}
	}
	// A host that reads If-Match as it should refuses what isn't there.
	if upload, err = s.createUpload(ctx, nil); answeredWith(err) == http.StatusPreconditionFailed {
		err = s.statusError(http.StatusBadRequest)
	}
	return upload, err
}

func (s *saving) createUpload(ctx context.Context, conditions map[string]string) (string, error) {
	header := map[string]string{"Upload-Length": strconv.FormatInt(s.file.Size, 10), "Upload-Metadata": s.metadata()}
	maps.Copy(header, tusVersion)
	maps.Copy(header, conditions)
	create := call{method: http.MethodPost, url: s.tree.url(s.file.Folder, true), header: header}
	answer, err := s.answer(ctx, create)
	if err != nil || s.file.Size == 0 { // an empty file is there now
		return "", err
	}
	folder, err := url.Parse(create.url)
	if err != nil {
		return "", err
	}
	location, err := folder.Parse(answer.Get("Location"))
	if err != nil || location.Path == folder.Path {
		return "", s.nonsense(errors.New("the address of an upload is none")) // which it is a secret of
	}
	// Its origin is not looked at, since a host behind a proxy may not know its own.
	upload := s.host.Origin() + location.EscapedPath()
	if location.RawQuery != "" {
		upload += "?" + location.RawQuery
	}
	return upload, nil
}

// metadata describes the file (TUS 1.0.0, “Upload-Metadata”).
func (s *saving) metadata() string {
	text := "filename " + base64.StdEncoding.EncodeToString([]byte(s.file.Name))
	if !s.file.ModifiedAt.IsZero() {
		text += ",mtime " + base64.StdEncoding.EncodeToString([]byte(strconv.FormatInt(s.file.ModifiedAt.Unix(), 10)))
	}
	return text
}

// patch sends the next bytes. When the answer was lost, the host is asked how far it has come: nothing of the content is
// kept here that could be sent again.
func (s *saving) patch(ctx context.Context, upload string, size int64) error {
	offset := s.file.Size - s.source.rest()
	header := map[string]string{"Upload-Offset": strconv.FormatInt(offset, 10), "Content-Type": "application/offset+octet-stream"}
	maps.Copy(header, tusVersion)
	answer, err := s.answer(ctx, call{method: http.MethodPatch, url: upload, header: header, secret: true,
		content: &part{source: s.source, size: size}, patience: assemblyPatience})
	if lost(err) {
		var headErr error
		if answer, headErr = s.answer(ctx, call{method: http.MethodHead, url: upload, header: tusVersion, secret: true}); headErr != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if came, err := strconv.ParseInt(answer.Get("Upload-Offset"), 10, 64); err != nil || came != offset+size {
		return s.nonsense(fmt.Errorf("the upload has come to %q, not to %d", answer.Get("Upload-Offset"), offset+size))
	}
	return nil
}
