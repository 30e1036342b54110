package mattermost

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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

const (
	fileID  = "fileaaaaaaaaaaaaaaaaaaaaaa"
	another = "otheraaaaaaaaaaaaaaaaaaaaa"
)

// giver is a server that has a file.
type giver struct {
	*site
	info      *model.FileInfo
	infoErr   *model.AppError
	post      *model.Post
	postErr   *model.AppError
	memberErr *model.AppError
	denied    bool
	content   []byte // by the plugin API
	give      http.HandlerFunc
	requests  []*http.Request
	clock     *clockwork.FakeClock
	*Server
}

func newGiver(t *testing.T, lost bool) *giver {
	t.Helper()
	s := &giver{
		info:    &model.FileInfo{Id: fileID, CreatorId: another, ChannelId: channel, PostId: root, Name: "a.txt", Size: 5, MimeType: "text/plain", CreateAt: 1_700_000_000_000},
		post:    &model.Post{Id: root},
		content: []byte("hello"), clock: clockwork.NewFakeClock(),
	}
	s.give = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	s.site = newSite(t, (*httptest.Server).Start)
	s.site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/config/client") {
			s.serve(w, r)
			return
		}
		s.requests = append(s.requests, r)
		s.give(w, r)
	})
	if lost {
		s.settings = model.ServiceSettings{}
	}
	s.api.On("GetFileInfo", fileID).Return(func(string) *model.FileInfo { return s.info }, func(string) *model.AppError { return s.infoErr })
	s.api.On("GetPost", root).Return(func(string) *model.Post { return s.post }, func(string) *model.AppError { return s.postErr })
	s.api.On("GetChannelMember", channel, user).Return(&model.ChannelMember{}, func(string, string) *model.AppError { return s.memberErr })
	s.api.On("HasPermissionToChannel", user, channel, model.PermissionReadChannelContent).Return(func(string, string, *model.Permission) bool { return !s.denied })
	s.api.On("GetFile", fileID).Return(func(string) []byte { return s.content }, nil)
	s.Server = New(Config{API: s.api, Clock: s.clock, AllowUnscanned: lost})
	return s
}

func (s *giver) open(t *testing.T) (filehost.StoredFile, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return s.OpenFile(ctx, user, fileID)
}

func TestAFileComesByTheServersOwnRouteUnderASessionThatIsRevoked(t *testing.T) {
	s := newGiver(t, false)
	file, err := s.open(t)
	require.NoError(t, err)
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	s.api.AssertNotCalled(t, "RevokeSession", "session")
	require.NoError(t, file.Close())
	require.NoError(t, file.Close())
	s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
	assert.Equal(t, "hello", string(content))
	assert.Equal(t, filehost.StoredFile{ReadCloser: file.ReadCloser, Name: "a.txt", Size: 5, MIMEType: "text/plain", CreatedAt: time.UnixMilli(1_700_000_000_000)}, file)
	assert.Equal(t, "/team/api/v4/files/"+fileID, s.requests[0].URL.Path)
	assert.Equal(t, "BEARER token", s.requests[0].Header.Get("Authorization"))
	session := s.api.Calls[indexOf(s.api, "CreateSession")].Arguments[0].(*model.Session)
	assert.Equal(t, user, session.UserId)
}

// blocked are the files that nobody is given, whatever the server's own route says.
var blocked = map[string]struct {
	change func(*giver)
	want   filehost.Kind
}{
	"a file that is gone":      {func(s *giver) { s.infoErr = notFound() }, filehost.NotFound},
	"a file that was deleted":  {func(s *giver) { s.info.DeleteAt = 1 }, filehost.NotFound},
	"of a post that is gone":   {func(s *giver) { s.postErr = notFound() }, filehost.NotFound},
	"of a post that was":       {func(s *giver) { s.post.DeleteAt = 1 }, filehost.NotFound},
	"another's, not posted":    {func(s *giver) { s.info.PostId = "" }, filehost.NotFound},
	"a server that fails":      {func(s *giver) { s.infoErr = model.NewAppError("", "", nil, "", 500) }, filehost.Internal},
	"a server that is silent":  {func(s *giver) { s.info = nil }, filehost.Internal},
	"posts that can't be read": {func(s *giver) { s.postErr = model.NewAppError("", "", nil, "", 500) }, filehost.Internal},
}

func TestFilesThatNobodyIsGiven(t *testing.T) {
	for name, test := range blocked {
		for _, lost := range []bool{false, true} {
			s := newGiver(t, lost)
			test.change(s)
			_, err := s.open(t)
			assert.Equal(t, test.want, kindOf(err), "%s: %v", name, err)
			if !lost {
				s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
			}
			s.api.AssertNotCalled(t, "GetFile", fileID)
			assert.Empty(t, s.buffer)
		}
	}
}

func TestFilesOfOnesOwnAndOfBookmarksNeedNoPost(t *testing.T) {
	for _, creator := range []string{user, model.BookmarkFileOwner} {
		for _, lost := range []bool{false, true} {
			s := newGiver(t, lost)
			s.info.PostId, s.info.CreatorId = "", creator
			file, err := s.open(t)
			require.NoError(t, err, creator)
			require.NoError(t, file.Close())
		}
	}
}

func TestWhatTheServerDoesNotGive(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   filehost.Kind
	}{
		"no such file":      {404, `{"id":"x","message":"No."}`, filehost.NotFound},
		"no permission":     {403, `{"id":"x","message":"No."}`, filehost.Forbidden},
		"too many requests": {429, ``, filehost.RateLimited},
		"no session":        {401, `{"id":"x"}`, filehost.Internal},
		"a fault":           {500, `{"id":"x","message":"Disk /var/secret full."}`, filehost.Internal},
		"a redirect":        {302, ``, filehost.Internal},
		"another length":    {200, `hell`, filehost.Internal},
	} {
		s := newGiver(t, false)
		s.give = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}
		_, err := s.open(t)
		require.Error(t, err, name)
		assert.Equal(t, test.want, kindOf(err), "%s: %v", name, err)
		assert.NotContains(t, err.Error(), "secret")
		s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
		if test.status != http.StatusOK {
			s.api.AssertNotCalled(t, "GetFileInfo", fileID)
		}
	}
}

func TestAFileThatBreaksOffIsNoWholeFile(t *testing.T) {
	s := newGiver(t, false)
	s.give = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(5))
		_, _ = io.WriteString(w, "hel")
	}
	file, err := s.open(t)
	require.NoError(t, err)
	_, err = io.ReadAll(file)
	assert.Equal(t, filehost.Internal, kindOf(err))
	require.ErrorContains(t, err, "did not give the whole file")
	require.NoError(t, file.Close())
}

func TestAServerThatStopsSendingIsGivenUp(t *testing.T) {
	s := newGiver(t, false)
	s.give = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(5))
		_, _ = io.WriteString(w, "hel")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	file, err := s.open(t)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	_, err = io.ReadFull(file, make([]byte, 3))
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() {
		_, err := file.Read(make([]byte, 1))
		failed <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, s.clock.BlockUntilContext(ctx, 1), "nobody watches")
	s.clock.Advance(stalledAfter)
	select {
	case err = <-failed:
		require.Error(t, err)
	case <-ctx.Done():
		require.Fail(t, "it is not given up")
	}
}

func TestWithoutARouteFilesComeWholeWhereTheAdminAllowsIt(t *testing.T) {
	s := newGiver(t, true)
	file, err := s.open(t)
	require.NoError(t, err)
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(content))

	waiting, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = s.OpenFile(waiting, user, fileID)
	require.ErrorIs(t, err, context.DeadlineExceeded, "one at a time")
	require.NoError(t, file.Close())
	require.NoError(t, file.Close())
	assert.Empty(t, s.buffer)
	_, err = file.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the memory is free")

	s.AllowUnscanned = false
	_, err = s.open(t)
	assert.Equal(t, filehost.NotConfigured, kindOf(err))
}

func TestWithoutARouteOurOwnChecksDecide(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*giver)
		want   filehost.Kind
	}{
		"not a member":                          {func(s *giver) { s.memberErr = notFound() }, filehost.Forbidden},
		"no permission":                         {func(s *giver) { s.denied = true }, filehost.Forbidden},
		"above 50 MiB":                          {func(s *giver) { s.info.Size = maxBuffered + 1 }, filehost.TooLarge},
		"another length":                        {func(s *giver) { s.content = nil }, filehost.Internal},
		"one's own, of a channel that was left": {func(s *giver) { s.memberErr, s.info.CreatorId = notFound(), user }, ok},
	} {
		s := newGiver(t, true)
		test.change(s)
		file, err := s.open(t)
		assert.Equal(t, test.want, kindOf(err), "%s: %v", name, err)
		if err == nil {
			require.NoError(t, file.Close())
		}
		assert.Empty(t, s.buffer, name)
	}
}

func TestAFilesIDIsOne(t *testing.T) {
	for _, id := range []string{"", "../users/me", fileID + "?a=b", fileID + "/thumbnail"} {
		s := newGiver(t, false)
		_, err := s.OpenFile(t.Context(), user, id)
		assert.Equal(t, filehost.InvalidRequest, kindOf(err), id)
		assert.Empty(t, s.requests)
		s.api.AssertNotCalled(t, "CreateSession", mock.Anything)
	}
}
