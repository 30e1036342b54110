package mattermost

import (
	"context"
	"fmt"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// storeTime is how long the server's file store gives the writing of one file, and the setting that says so; zero where
// it has no such limit. That time runs while the bytes arrive, so that it bounds how slow a source may be.
func (s *Server) storeTime() (limit time.Duration, setting string) {
	config, err := s.config()
	if err != nil || value(config.FileSettings.DriverName) != model.ImageDriverS3 {
		return 0, ""
	}
	limit = time.Duration(value(config.FileSettings.AmazonS3RequestTimeoutMilliseconds)) * time.Millisecond
	return limit, "FileSettings.AmazonS3RequestTimeoutMilliseconds"
}

// outOfStoreTime turns the failure of a write that began then into one that names the file store's limit, if the time is
// over: the server says no more than that it could not write, when the next part of the file is full.
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
