package mattermost

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// newStore is a site whose file store is S3 and gives a file that long.
func newStore(t *testing.T, limit time.Duration) (*site, *clockwork.FakeClock) {
	t.Helper()
	s := newSite(t, (*httptest.Server).Start)
	s.files = model.FileSettings{
		DriverName: model.NewPointer(model.ImageDriverS3), AmazonS3RequestTimeoutMilliseconds: model.NewPointer(limit.Milliseconds()),
	}
	return s, clockwork.NewFakeClock()
}

func uploadTimed(t *testing.T, s *site, clock clockwork.Clock, content io.Reader, config Config) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config.API, config.Clock = s.api, clock
	stored, err := New(config).Upload(ctx, filehost.Upload{UserID: user, ChannelID: channel, Name: "a.txt", Size: 5, Content: content})
	return stored.ID, err
}

func wantStoreLimit(t *testing.T, err error, seconds int64) {
	t.Helper()
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, filehost.Timeout, known.Kind)
	assert.Equal(t, filehost.OwnerMattermost, known.LimitOwner)
	assert.Equal(t, seconds, known.Limit)
	assert.Contains(t, known.Message, "FileSettings.AmazonS3RequestTimeoutMilliseconds")
}

// tellingClock is a clock that tells when its timer has fired, and when it is stopped.
type tellingClock struct {
	*clockwork.FakeClock
	fired, stopped chan struct{}
}

func newTellingClock(fake *clockwork.FakeClock) tellingClock {
	return tellingClock{fake, make(chan struct{}), make(chan struct{})}
}

func (c tellingClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return tellingTimer{c.FakeClock.AfterFunc(d, func() { f(); close(c.fired) }), c.stopped}
}

type tellingTimer struct {
	clockwork.Timer
	stopped chan struct{}
}

func (t tellingTimer) Stop() bool {
	defer close(t.stopped)
	return t.Timer.Stop()
}

func TestASourceSlowerThanTheFileStoreAllowsEndsTheUpload(t *testing.T) {
	s, fake := newStore(t, 1500*time.Millisecond)
	clock := newTellingClock(fake)
	source, write := io.Pipe()
	defer func() { _ = write.Close() }()
	go func() {
		_, _ = io.WriteString(write, "he")
		_ = clock.BlockUntilContext(t.Context(), 1)
		clock.Advance(1500 * time.Millisecond)
		<-clock.fired
		_, _ = io.WriteString(write, "l")
	}()
	_, err := uploadTimed(t, s, clock, source, Config{})
	wantStoreLimit(t, err, 2)
	s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
}

func TestWhatIsSentInTimeMayBeScannedForLonger(t *testing.T) {
	s, fake := newStore(t, time.Second)
	clock := newTellingClock(fake)
	s.answer = func(w http.ResponseWriter) {
		<-clock.stopped
		clock.Advance(time.Hour)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"file_infos":[{"id":"file","size":5,"user_id":"`+user+`"}]}`)
	}
	id, err := uploadTimed(t, s, clock, strings.NewReader("hello"), Config{})
	require.NoError(t, err)
	assert.Equal(t, "file", id)
}

func TestAWriteThatFailsNamesTheFileStoresLimitOnlyWhenItsTimeIsOver(t *testing.T) {
	for name, test := range map[string]struct {
		driver string
		took   time.Duration
		status int
		want   filehost.Kind
	}{
		"in time":                    {model.ImageDriverS3, time.Second - 1, http.StatusInternalServerError, filehost.Internal},
		"too late":                   {model.ImageDriverS3, time.Second, http.StatusInternalServerError, filehost.Timeout},
		"refused by a plugin, late":  {model.ImageDriverS3, time.Second, http.StatusForbidden, filehost.Forbidden},
		"a store without that limit": {model.ImageDriverLocal, time.Second, http.StatusInternalServerError, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			s, fake := newStore(t, time.Second)
			clock := newTellingClock(fake)
			s.files.DriverName = &test.driver
			s.answer = func(w http.ResponseWriter) {
				if test.driver == model.ImageDriverS3 {
					<-clock.stopped
				}
				clock.Advance(test.took)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, `{"id":"api.file.write_file.app_error","message":"Unable to write the file."}`)
			}
			_, err := uploadTimed(t, s, clock, strings.NewReader("hello"), Config{})
			assert.Equal(t, test.want, filehost.KindOf(err))
		})
	}
}

func TestAPartOfAnUploadSessionIsBoundByTheFileStoreToo(t *testing.T) {
	s, clock := newStore(t, time.Second)
	s.settings = model.ServiceSettings{}
	s.api.On("CreateUploadSession", mock.Anything).Return(&model.UploadSession{Id: "upload"}, nil)
	s.api.On("UploadData", mock.Anything, mock.Anything).Run(func(mock.Arguments) { clock.Advance(time.Second) }).
		Return(nil, model.NewAppError("where", "api.file.write_file.app_error", nil, "", http.StatusInternalServerError))
	_, err := uploadTimed(t, s, clock, strings.NewReader("hello"), Config{AllowUnscanned: true})
	wantStoreLimit(t, err, 1)
}

func TestAFileStoreWithLessTimeThanTheServerIsAWarning(t *testing.T) {
	for limit, warns := range map[time.Duration]bool{30 * time.Second: true, 299 * time.Second: true, 300 * time.Second: false, 0: false} {
		s, _ := newStore(t, limit)
		s.settings.ReadTimeout, s.settings.WriteTimeout = model.NewPointer(300), model.NewPointer(400)
		err := New(Config{API: s.api}).CheckUploads(t.Context())
		if !warns {
			require.NoError(t, err, limit)
			continue
		}
		var degraded *filehost.Degraded
		require.ErrorAs(t, err, &degraded, limit)
		assert.Contains(t, degraded.Remedy, "Set FileSettings.AmazonS3RequestTimeoutMilliseconds to 300000, as ServiceSettings.ReadTimeout allows")
	}
}
