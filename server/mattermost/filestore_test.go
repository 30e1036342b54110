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

func uploadTimed(t *testing.T, s *site, clock clockwork.Clock, config Config) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config.API, config.Clock = s.api, clock
	stored, err := New(config).Upload(ctx, filehost.Upload{UserID: user, ChannelID: channel, Name: "a.txt", Size: 5, Content: strings.NewReader("hello")})
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

func TestAWriteThatFailsNamesTheFileStoresLimitOnlyWhenItsTimeIsOver(t *testing.T) {
	for name, test := range map[string]struct {
		driver string
		took   time.Duration
		status int
		want   filehost.Kind
	}{
		"in time":                    {model.ImageDriverS3, 1500*time.Millisecond - 1, http.StatusInternalServerError, filehost.Internal},
		"too late":                   {model.ImageDriverS3, 1500 * time.Millisecond, http.StatusInternalServerError, filehost.Timeout},
		"refused by a plugin, late":  {model.ImageDriverS3, 1500 * time.Millisecond, http.StatusForbidden, filehost.Forbidden},
		"a store without that limit": {model.ImageDriverLocal, time.Hour, http.StatusInternalServerError, filehost.Internal},
		"taken, late":                {model.ImageDriverS3, time.Hour, http.StatusCreated, ok},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := newStore(t, 1500*time.Millisecond)
			s.files.DriverName = &test.driver
			s.answer = func(w http.ResponseWriter) {
				clock.Advance(test.took)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, `{"id":"api.file.write_file.app_error","message":"Unable to write the file.",
					"file_infos":[{"id":"file","size":5,"user_id":"`+user+`"}]}`)
			}
			_, err := uploadTimed(t, s, clock, Config{})
			require.Equal(t, test.want, kindOf(err))
			if test.want == filehost.Timeout {
				wantStoreLimit(t, err, 2)
			}
		})
	}
}

func TestAPartOfAnUploadSessionIsBoundByTheFileStoreToo(t *testing.T) {
	s, clock := newStore(t, time.Second)
	s.settings = model.ServiceSettings{}
	s.api.On("CreateUploadSession", mock.Anything).Return(&model.UploadSession{Id: "upload"}, nil)
	s.api.On("UploadData", mock.Anything, mock.Anything).Run(func(mock.Arguments) { clock.Advance(time.Second) }).
		Return(nil, model.NewAppError("where", "api.file.write_file.app_error", nil, "", http.StatusInternalServerError))
	_, err := uploadTimed(t, s, clock, Config{AllowUnscanned: true})
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
