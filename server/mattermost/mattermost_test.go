package mattermost

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	user    = "useraaaaaaaaaaaaaaaaaaaaaa"
	channel = "channelaaaaaaaaaaaaaaaaaaa"
	root    = "rootaaaaaaaaaaaaaaaaaaaaaa"
)

func notFound() *model.AppError {
	return model.NewAppError("where", "id", nil, "", http.StatusNotFound)
}

func TestMayAttachAsksForEverythingThatThePluginAPIDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*attachWorld)
		want   filehost.Kind
		field  string
	}{
		"a member":                       {func(*attachWorld) {}, ok, ""},
		"a thread":                       {func(w *attachWorld) { w.rootID = root }, ok, ""},
		"attachments switched off":       {func(w *attachWorld) { w.config.FileSettings.EnableFileAttachments = nil }, filehost.Forbidden, ""},
		"deactivated":                    {func(w *attachWorld) { w.user.DeleteAt = 1 }, filehost.Forbidden, ""},
		"not a member":                   {func(w *attachWorld) { w.memberErr = notFound() }, filehost.Forbidden, ""},
		"archived":                       {func(w *attachWorld) { w.channel.DeleteAt = 1 }, filehost.Forbidden, ""},
		"may not post":                   {func(w *attachWorld) { w.denied = model.PermissionCreatePost }, filehost.Forbidden, ""},
		"may not upload":                 {func(w *attachWorld) { w.denied = model.PermissionUploadFile }, filehost.Forbidden, ""},
		"root of another channel":        {func(w *attachWorld) { w.rootID, w.root.ChannelId = root, "other" }, filehost.InvalidRequest, "root_id"},
		"root is an answer":              {func(w *attachWorld) { w.rootID, w.root.RootId = root, "other" }, filehost.InvalidRequest, "root_id"},
		"root is deleted":                {func(w *attachWorld) { w.rootID, w.root.DeleteAt = root, 1 }, filehost.InvalidRequest, "root_id"},
		"root id of no valid form":       {func(w *attachWorld) { w.rootID = "../x" }, filehost.InvalidRequest, "root_id"},
		"channel id of no valid form":    {func(w *attachWorld) { w.channelID = "" }, filehost.InvalidRequest, "channel_id"},
		"channel that can't be read now": {func(w *attachWorld) { w.channelErr = model.NewAppError("", "", nil, "", 500) }, filehost.Internal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAttachWorld()
			test.change(w)
			err := w.server().MayAttach(t.Context(), user, w.channelID, w.rootID)
			assert.Equal(t, test.want, kindOf(err), "%v", err)
			var known *filehost.Error
			if errors.As(err, &known) {
				assert.Equal(t, test.field, known.Field)
			}
		})
	}
}

// ok stands for no error.
const ok filehost.Kind = -1

func kindOf(err error) filehost.Kind {
	if err == nil {
		return ok
	}
	return filehost.KindOf(err)
}

// attachWorld is a server on which the user may attach.
type attachWorld struct {
	config                *model.Config
	user                  *model.User
	channel               *model.Channel
	root                  *model.Post
	memberErr, channelErr *model.AppError
	denied                *model.Permission
	channelID, rootID     string
}

func newAttachWorld() *attachWorld {
	return &attachWorld{
		config:  &model.Config{FileSettings: model.FileSettings{EnableFileAttachments: model.NewPointer(true)}},
		user:    &model.User{Id: user},
		channel: &model.Channel{Id: channel}, channelID: channel,
		root: &model.Post{Id: root, ChannelId: channel},
	}
}

func (w *attachWorld) server() *Server {
	api := &plugintest.API{}
	api.On("GetConfig").Return(w.config)
	api.On("GetUser", user).Return(w.user, nil)
	api.On("GetChannelMember", channel, user).Return(&model.ChannelMember{}, w.memberErr)
	api.On("GetChannel", channel).Return(w.channel, w.channelErr)
	api.On("GetPost", root).Return(w.root, nil)
	api.On("HasPermissionToChannel", user, channel, mock.Anything).Return(func(_, _ string, permission *model.Permission) bool { return permission != w.denied })
	return New(Config{API: api})
}

func TestAPostThatLostAFileIsRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		stored []string
		want   filehost.Kind
	}{
		"all files":           {[]string{"a", "b"}, ok},
		"in another order":    {[]string{"b", "a"}, ok},
		"one dropped":         {[]string{"a"}, filehost.Internal},
		"one of another post": {[]string{"a", "c"}, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			defer api.AssertExpectations(t)
			api.On("CreatePost", mock.Anything).Return(&model.Post{Id: "post", UserId: user, ChannelId: channel, FileIds: test.stored}, nil)
			if test.want != ok {
				api.On("GetPost", "post").Return(&model.Post{Id: "post"}, nil)
				api.On("DeletePost", "post").Return(nil).Once()
			}
			_, err := New(Config{API: api}).Post(t.Context(), filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}})
			assert.Equal(t, test.want, kindOf(err))
		})
	}
}

func TestTheListenersAddressFromTheSameMachine(t *testing.T) {
	for listen, want := range map[string]string{
		":8065": "127.0.0.1:8065", "0.0.0.0:8065": "127.0.0.1:8065", "[::]:8065": "[::1]:8065", "10.1.2.3:80": "10.1.2.3:80",
		"localhost:8065": "localhost:8065", ":http": "127.0.0.1:http", "10.1.2.3:": "10.1.2.3:http", "8065": "", "": "",
	} {
		address, found := listenerAddress(listen, "")
		assert.Equal(t, want, address, listen)
		assert.Equal(t, want != "", found, listen)
	}
	address, _ := listenerAddress(":", model.ConnSecurityTLS)
	assert.Equal(t, "127.0.0.1:https", address)
}

// site is a server's REST API, whose listener the plugin is told of.
type site struct {
	*httptest.Server
	api      *plugintest.API
	settings model.ServiceSettings
	files    model.FileSettings
	requests []*http.Request
	received []byte
	answer   func(w http.ResponseWriter)
}

const diagnosticID = "this server"

func newSite(t *testing.T, start func(*httptest.Server)) *site {
	t.Helper()
	s := &site{api: &plugintest.API{}}
	s.answer = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"file_infos":[{"id":"file","size":5,"user_id":"`+user+`"}]}`)
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	start(s.Server)
	t.Cleanup(s.Close)
	s.settings = model.ServiceSettings{SiteURL: model.NewPointer("http://127.0.0.1:1/team/"), ListenAddress: model.NewPointer(s.Listener.Addr().String())}
	s.api.On("GetConfig").Return(func() *model.Config { return &model.Config{ServiceSettings: s.settings, FileSettings: s.files} })
	s.api.On("GetDiagnosticId").Return(diagnosticID)
	s.api.On("CreateSession", mock.Anything).Return(&model.Session{Id: "session", Token: "token"}, nil)
	s.api.On("RevokeSession", "session").Return(nil)
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"DiagnosticId":"`+diagnosticID+`"}`)
		return
	}
	s.requests = append(s.requests, r)
	var err error
	if s.received, err = io.ReadAll(r.Body); err == nil {
		s.answer(w)
	}
}

func (s *site) upload(t *testing.T, content io.Reader, size int64) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stored, err := New(Config{API: s.api, Clock: clockwork.NewFakeClock()}).Upload(ctx,
		filehost.Upload{UserID: user, ChannelID: channel, Name: "a b&c.txt", Size: size, Content: content})
	return stored.ID, err
}

func TestAnUploadGoesToTheServersOwnRouteUnderASessionThatIsRevoked(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	id, err := s.upload(t, strings.NewReader("hello"), 5)
	require.NoError(t, err)
	assert.Equal(t, "file", id)
	assert.Equal(t, []byte("hello"), s.received)
	r := s.requests[0]
	assert.Equal(t, "/team/api/v4/files", r.URL.Path)
	assert.Equal(t, "127.0.0.1:1", r.Host)
	assert.Equal(t, "a b&c.txt", r.URL.Query().Get("filename"))
	assert.Equal(t, channel, r.URL.Query().Get("channel_id"))
	assert.Equal(t, int64(5), r.ContentLength)
	assert.Equal(t, "BEARER token", r.Header.Get("Authorization"))
	s.api.AssertNumberOfCalls(t, "CreateSession", 1)
	s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
	session := s.api.Calls[indexOf(s.api, "CreateSession")].Arguments[0].(*model.Session)
	assert.Equal(t, user, session.UserId)
	assert.Less(t, session.ExpiresAt, time.Now().Add(3*time.Minute).UnixMilli(), "it expires by itself, too")
}

func indexOf(api *plugintest.API, method string) int {
	for i, call := range api.Calls {
		if call.Method == method {
			return i
		}
	}
	return -1
}

func TestTLSIsVerifiedForTheSitesNameWithTheServersOwnCertificate(t *testing.T) {
	s := newSite(t, (*httptest.Server).StartTLS)
	certificate := filepath.Join(t.TempDir(), "cert.pem")
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	s.settings.ConnectionSecurity = model.NewPointer(model.ConnSecurityTLS)

	s.settings.SiteURL = model.NewPointer("https://127.0.0.1:1") // its name is in the certificate of the test server
	_, err := s.upload(t, strings.NewReader("hello"), 5)
	require.Error(t, err, "an unknown authority")

	s.settings.TLSCertFile = &certificate
	_, err = s.upload(t, strings.NewReader("hello"), 5)
	require.NoError(t, err)

	s.settings.SiteURL = model.NewPointer("https://127.0.0.2:1")
	_, err = s.upload(t, strings.NewReader("hello"), 5)
	require.Error(t, err, "another name")
}

func TestNoOtherServerIsShownASession(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	s.api.ExpectedCalls = nil
	s.api.On("GetConfig").Return(&model.Config{ServiceSettings: s.settings})
	s.api.On("GetDiagnosticId").Return("another server")
	_, err := s.upload(t, strings.NewReader("hello"), 5)
	require.ErrorContains(t, err, "another server")
	s.api.AssertNotCalled(t, "CreateSession", mock.Anything)
	err = New(Config{API: s.api}).CheckUploads(t.Context())
	var failed *filehost.Error
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Message, "by “Web Server Listen Address” ("+strings.TrimPrefix(s.URL, "http://")+"): is another server")
	assert.Contains(t, failed.Message, "“Allow copies that no plugin scans”")
	err = New(Config{API: s.api, AllowUnscanned: true}).CheckUploads(t.Context())
	var degraded *filehost.Degraded
	require.ErrorAs(t, err, &degraded)
	assert.Contains(t, degraded.Remedy, "no plugin that scans uploads sees them")
}

func TestAServerWithoutADiagnosticIDIsNotGuessed(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	s.api.ExpectedCalls = nil
	s.api.On("GetConfig").Return(&model.Config{ServiceSettings: s.settings})
	s.api.On("GetDiagnosticId").Return("")
	require.Error(t, New(Config{API: s.api}).CheckUploads(t.Context()))
}

func TestALimitOfTheServerIsNamed(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	s.files = model.FileSettings{MaxFileSize: model.NewPointer(int64(100)), MaxImageResolution: model.NewPointer(int64(200))}
	for body, limit := range map[string]int64{`{"id":"x","message":"Too large."}`: 100, `{"id":"` + idTooManyPixels + `","message":"Too wide."}`: 200} {
		s.answer = func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, body)
		}
		_, err := s.upload(t, strings.NewReader("hello"), 5)
		var known *filehost.Error
		require.ErrorAs(t, err, &known)
		assert.Equal(t, limit, known.Limit)
		assert.Equal(t, filehost.OwnerMattermost, known.LimitOwner)
	}
}

func TestWhatTheServerRefusesIsWordedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   filehost.Kind
	}{
		"too many requests":  {429, `limit exceeded`, filehost.RateLimited},
		"too large":          {413, `{"id":"x","message":"Too large."}`, filehost.TooLarge},
		"too many pixels":    {400, `{"id":"api.file.upload_file.large_image_detailed.app_error","message":"Too wide."}`, filehost.TooLarge},
		"a scanner says no":  {400, `{"id":"app.upload.run_plugins_hook.rejected","message":"A virus."}`, filehost.Forbidden},
		"no permission":      {403, `{"id":"x","message":"No."}`, filehost.Forbidden},
		"session not known":  {401, `{"id":"x","message":"Log in."}`, filehost.Internal},
		"file store down":    {500, `{"id":"x","message":"Disk /var/secret full."}`, filehost.Internal},
		"not JSON":           {502, `<html>`, filehost.Internal},
		"no file info":       {201, `{"file_infos":[]}`, filehost.Internal},
		"somebody else's":    {201, `{"file_infos":[{"id":"file","size":5,"user_id":"nouser"}]}`, filehost.Internal},
		"empty":              {201, `{"file_infos":[{"id":"file","size":0,"user_id":"` + user + `"}]}`, filehost.Internal},
		"a redirect":         {302, ``, filehost.Internal},
		"an old server's OK": {200, `{"file_infos":[{"id":"file","size":5,"user_id":"` + user + `"}]}`, ok},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, (*httptest.Server).Start)
			s.answer = func(w http.ResponseWriter) {
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}
			_, err := s.upload(t, strings.NewReader("hello"), 5)
			assert.Equal(t, test.want, kindOf(err), "%v", err)
			s.api.AssertNumberOfCalls(t, "RevokeSession", 1)
			if err != nil {
				assert.NotContains(t, err.Error(), "secret")
			}
		})
	}
}

func TestASourceThatFailsOrEndsEarlyFailsTheUpload(t *testing.T) {
	s := newSite(t, (*httptest.Server).Start)
	_, err := s.upload(t, io.MultiReader(strings.NewReader("he"), iotest.ErrReader(errors.New("reset"))), 5)
	require.ErrorContains(t, err, "reset")
	_, err = s.upload(t, strings.NewReader("he"), 5)
	require.Error(t, err)
	s.api.AssertNumberOfCalls(t, "RevokeSession", 2)
}

func TestTheUploadSessionIsOnlyForAdminsWhoAllowIt(t *testing.T) {
	content := bytes.Repeat([]byte("x"), partSize+10)
	for name, test := range map[string]struct {
		allowed bool
		first   uploadAnswer
		offset  int64 // that the server stored of the first part
		want    filehost.Kind
	}{
		"not allowed":           {false, uploadAnswer{}, 0, filehost.NotConfigured},
		"in two parts":          {true, uploadAnswer{}, partSize, ok},
		"stopped half-way":      {true, uploadAnswer{}, 100, filehost.Internal},
		"an image it can't use": {true, uploadAnswer{err: model.NewAppError("", "app.upload.upload_data.gen_info.app_error", nil, "", 500)}, 0, filehost.Unsupported},
		"a store that fails":    {true, uploadAnswer{err: errors.New("disk")}, 0, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetConfig").Return(&model.Config{})
			api.On("GetDiagnosticId").Return(diagnosticID)
			api.On("CreateUploadSession", mock.Anything).Return(&model.UploadSession{Id: "upload"}, nil)
			api.On("GetUploadSession", "upload").Return(&model.UploadSession{Id: "upload", FileOffset: test.offset}, nil)
			received := 0
			api.On("UploadData", mock.Anything, mock.Anything).Return(func(_ *model.UploadSession, part io.Reader) (*model.FileInfo, error) {
				n, err := io.Copy(io.Discard, part)
				received += int(n)
				switch {
				case test.first.err != nil || err != nil:
					return nil, errors.Join(err, test.first.err)
				case received < len(content):
					return nil, nil
				}
				return &model.FileInfo{Id: "file", CreatorId: user, Size: int64(received)}, nil
			})
			_, err := New(Config{API: api, AllowUnscanned: test.allowed, Clock: clockwork.NewFakeClock()}).Upload(t.Context(),
				filehost.Upload{UserID: user, Size: int64(len(content)), Content: bytes.NewReader(content)})
			assert.Equal(t, test.want, kindOf(err), "%v", err)
		})
	}
}

type uploadAnswer struct{ err error }

func TestEveryReadOfAnUploadSessionFillsItsBuffer(t *testing.T) {
	source := &filled{ctx: t.Context(), source: iotest.OneByteReader(strings.NewReader("hello world"))}
	buffer := make([]byte, 5)
	var sizes []int
	for {
		n, err := source.Read(buffer)
		sizes = append(sizes, n)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	assert.Equal(t, []int{5, 5, 1}, sizes)
	assert.Equal(t, int64(11), source.read)
}

func TestKVWritesRawBytesUnderCompareAndSet(t *testing.T) {
	api := &plugintest.API{}
	defer api.AssertExpectations(t)
	api.On("KVSetWithOptions", "key", []byte("new"), model.PluginKVSetOptions{Atomic: true, OldValue: []byte("old"), ExpireInSeconds: 2}).Return(true, nil)
	api.On("KVSetWithOptions", "broken", []byte("new"), mock.Anything).Return(false, notFound())
	api.On("KVCompareAndDelete", "key", []byte("old")).Return(false, nil)
	api.On("KVGet", "key").Return([]byte("value"), nil)
	kv := KV{API: api}
	set, err := kv.CompareAndSet(t.Context(), "key", []byte("old"), []byte("new"), 1500*time.Millisecond)
	require.NoError(t, err)
	assert.True(t, set)
	_, err = kv.CompareAndSet(t.Context(), "broken", nil, []byte("new"), 0)
	require.Error(t, err)
	deleted, err := kv.CompareAndDelete(t.Context(), "key", []byte("old"))
	require.NoError(t, err)
	assert.False(t, deleted)
	value, err := kv.Get(t.Context(), "key")
	require.NoError(t, err)
	assert.Equal(t, []byte("value"), value)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = kv.Get(ended, "key")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLimitsReadSettingsThatTheRPCDropped(t *testing.T) {
	api := &plugintest.API{}
	api.On("GetConfig").Return(&model.Config{ServiceSettings: model.ServiceSettings{ReadTimeout: model.NewPointer(20), WriteTimeout: model.NewPointer(30)}})
	limits, err := New(Config{API: api}).Limits(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 20*time.Second, limits.RequestTimeout)
	assert.Zero(t, limits.FileSize)
}

// A configuration comes as nil when the call to the server fails, as it does while the plugin is being stopped.
func TestWithoutAConfigurationNothingIsTakenForGranted(t *testing.T) {
	w := newAttachWorld()
	w.config = nil
	server := w.server()
	_, limits := server.Limits(t.Context())
	_, route := server.route(t.Context())
	_, found := server.findRoute(t.Context())
	for _, err := range []error{limits, server.MayAttach(t.Context(), user, channel, ""), route, found} {
		assert.Equal(t, filehost.Internal, kindOf(err), "%v", err)
	}
	assert.Empty(t, server.SiteURL())
}

func TestTheLoggerWritesTextAtTheServersLevels(t *testing.T) {
	api := &plugintest.API{}
	defer api.AssertExpectations(t)
	api.On("LogWarn", "message", "a", "1", "group.error", "broken", "group.secret", "[redacted]").Once()
	api.On("LogError", "message").Once()
	api.On("LogInfo", "message").Once()
	api.On("LogDebug", "message").Once()
	log := NewLogger(api)
	log.With("a", 1).WithGroup("group").Warn("message", "error", errors.New("broken"), slog.Any("secret", filehost.NewSecret("canary")))
	log.Error("message")
	log.Info("message")
	log.Debug("message")
}
