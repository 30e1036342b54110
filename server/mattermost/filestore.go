package mattermost

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// storeTime is how long the server's file store gives the writing of one file, and the setting that says so; zero where
// it has no such limit. That time runs while the bytes arrive, so that it bounds how slow a source may be.
func (s *Server) storeTime() (limit time.Duration, setting string) {
	config := s.API.GetConfig()
	if config == nil || value(config.FileSettings.DriverName) != model.ImageDriverS3 {
		return 0, ""
	}
	limit = time.Duration(value(config.FileSettings.AmazonS3RequestTimeoutMilliseconds)) * time.Millisecond
	return limit, "FileSettings.AmazonS3RequestTimeoutMilliseconds"
}

// withinStoreTime returns content as a body to send, and a context that ends when the file store's time is over before
// all of it is sent: the server itself tells that late, since it first reads on until a part is full.
func (s *Server) withinStoreTime(ctx context.Context, content io.Reader) (context.Context, io.ReadCloser, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	limit, _ := s.storeTime()
	if limit == 0 {
		return ctx, io.NopCloser(content), cancel
	}
	return ctx, timedBody{ctx, content, s.Clock.AfterFunc(limit, cancel)}, cancel
}

// timedBody is a file that has to be sent in time. The HTTP client closes it when all of it is sent.
type timedBody struct {
	ctx     context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	content io.Reader
	timer   clockwork.Timer
}

// Read implements io.Reader. The HTTP client waits for a read that is under way, so a source that has gone silent ends by
// its own watchdog.
func (b timedBody) Read(buffer []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.content.Read(buffer)
}

// Close implements io.Closer.
func (b timedBody) Close() error {
	b.timer.Stop()
	return nil
}

// outOfStoreTime turns the failure of a write that began then into one that names the file store's limit, if the time is
// over: neither the server nor the end of the request says so.
func (s *Server) outOfStoreTime(began time.Time, err error) error {
	limit, setting := s.storeTime()
	if limit == 0 || filehost.KindOf(err) != filehost.Internal || s.Clock.Since(began) < limit {
		return err
	}
	seconds := int64((limit + time.Second - 1) / time.Second)
	return &filehost.Error{Kind: filehost.Timeout, Limit: seconds, LimitOwner: filehost.OwnerMattermost, Err: err,
		Message: fmt.Sprintf("The copy did not end in time: Mattermost's file store gives a file %d seconds (%s).", seconds, setting)}
}

// checkStoreTime warns when the file store gives a file less time than the server gives a request.
func (s *Server) checkStoreTime(ctx context.Context) error {
	limits, err := s.Limits(ctx)
	if err != nil {
		return err
	}
	limit, setting := s.storeTime()
	if limit == 0 || limit >= limits.RequestTimeout {
		return nil
	}
	return &filehost.Degraded{
		Remedy: fmt.Sprintf("Copies that take longer than %s fail: Mattermost's file store gives a file no more. Set %s to %d, as %s allows.",
			limit, setting, limits.RequestTimeout.Milliseconds(), limits.TimeoutSetting),
		Err: errors.New(setting + " is low"),
	}
}
