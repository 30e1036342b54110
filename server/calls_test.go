package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/webdav"
)

const channel = "channelaaaaaaaaaaaaaaaaaaa"

// post sends a body and returns the status.
func (h *host) post(t *testing.T, path, body string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api"+path, strings.NewReader(body))
	r.Header.Set("Mattermost-User-Id", user)
	r.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.ServeHTTP(&plugin.Context{RequestId: "request1", SessionId: "session1"}, recorder, r)
	return recorder.Code
}

// roundTrips are the calls that wait for an answer of the server.
func roundTrips(calls []mock.Call) []string {
	var names []string
	for _, call := range calls {
		if !strings.HasPrefix(call.Method, "Log") {
			names = append(names, call.Method)
		}
	}
	return names
}

// takes is a Mattermost server's answer to an upload that it takes.
func takes(w http.ResponseWriter) {
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"file_infos":[{"id":"file1","user_id":"`+user+`","channel_id":"`+channel+`","size":7}]}`)
}

// connected is a plugin whose user is connected to a WebDAV server with one file, on a Mattermost server that answers
// uploads as it is told.
func connected(t *testing.T, answer func(http.ResponseWriter)) (*host, *plugintest.API) {
	t.Helper()
	files := webdav.NewMemFS()
	file, err := files.OpenFile(t.Context(), "/file.txt", os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = file.Write([]byte("content"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	dav := httptest.NewServer(&webdav.Handler{FileSystem: files, LockSystem: webdav.NewMemLS()})
	t.Cleanup(dav.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/api/v4/files" {
			answer(w)
			return
		}
		_, _ = io.WriteString(w, `{"DiagnosticId":"diagnostic"}`)
	}))
	t.Cleanup(server.Close)

	h := newHost(t, nil)
	api, ok := h.API.(*plugintest.API)
	require.True(t, ok)
	api.On("PublishWebSocketEvent", mock.Anything, mock.Anything, mock.Anything).Maybe()
	api.On("GetChannelMember", channel, user).Return(&model.ChannelMember{}, nil)
	api.On("GetChannel", channel).Return(&model.Channel{Id: channel}, nil)
	api.On("HasPermissionToChannel", user, channel, mock.Anything).Return(true)
	api.On("CreateSession", mock.Anything).Return(&model.Session{Id: "upload", Token: "token"}, nil)
	api.On("RevokeSession", "upload").Return(nil)
	api.On("CreatePost", mock.Anything).Return(&model.Post{Id: "post1", UserId: user, ChannelId: channel, FileIds: []string{"file1"}}, nil)
	config := siteAt("https://127.0.0.1:1")
	config.ServiceSettings.ListenAddress = model.NewPointer(server.Listener.Addr().String())
	config.FileSettings = model.FileSettings{EnableFileAttachments: model.NewPointer(true), MaxFileSize: model.NewPointer[int64](1 << 20)}
	config.ServiceSettings.ReadTimeout, config.ServiceSettings.WriteTimeout = model.NewPointer(300), model.NewPointer(300)
	config.FileSettings.DriverName, config.FileSettings.AmazonS3RequestTimeoutMilliseconds = model.NewPointer(model.ImageDriverS3), model.NewPointer[int64](30000)
	h.serverConfig(t, config)
	h.change(t, map[string]any{"hosturl": dav.URL, "hostkind": "webdav", "signin": "password", "allowhttp": true, "allowedaddresses": "127.0.0.1",
		"encryptionkey": "0123456789abcdef0123456789abcdef"})
	const waiting = 9 // each of the seven checks has run, and waits for its next turn, and so do the jobs that encrypt anew and look after links
	require.NoError(t, h.clock.(*clockwork.FakeClock).BlockUntilContext(t.Context(), waiting))
	require.Equal(t, http.StatusOK, h.post(t, "/connection", `{"username":"alice","password":"app"}`))
	return h, api
}

// TestAWarmRequestMakesFewCallsOfThePluginAPI counts round trips to the server, of which each costs more than the work
// that most of them ask for.
func TestAWarmRequestMakesFewCallsOfThePluginAPI(t *testing.T) {
	h, api := connected(t, takes)
	list := func() {
		status, body := h.get(t, "/files")
		require.Equal(t, http.StatusOK, status, body)
	}
	attach := func() {
		require.Equal(t, http.StatusCreated, h.post(t, "/attach", `{"channel_id":"`+channel+`","items":[{"path":"/file.txt"}]}`))
	}
	for name, test := range map[string]struct {
		request func()
		want    []string
	}{
		"GET /files": {list, []string{"GetUser", "KVGet"}},
		"POST /attach": {attach, []string{
			"GetUser",
			"GetUser", "GetChannelMember", "GetChannel", "HasPermissionToChannel", "HasPermissionToChannel",
			"KVGet", "KVGet", "CreateSession", "RevokeSession", "KVGet",
			"GetUser", "GetChannelMember", "GetChannel", "HasPermissionToChannel", "HasPermissionToChannel",
			"CreatePost", "KVSetWithOptions",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test.request()
			before := len(api.Calls)
			test.request()
			assert.Equal(t, test.want, roundTrips(api.Calls[before:]))
		})
	}
}

// TestTheTimeOfAWriteIsOfThePluginsClock shows that a write which failed after the file store's time is told as such.
func TestTheTimeOfAWriteIsOfThePluginsClock(t *testing.T) {
	for took, want := range map[time.Duration]int{29 * time.Second: http.StatusInternalServerError, 30 * time.Second: http.StatusGatewayTimeout} {
		var clock *clockwork.FakeClock
		h, _ := connected(t, func(w http.ResponseWriter) {
			clock.Advance(took)
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"id":"api.file.write_file.app_error","message":"Unable to write the file."}`)
		})
		clock = h.clock.(*clockwork.FakeClock)
		assert.Equal(t, want, h.post(t, "/attach", `{"channel_id":"`+channel+`","items":[{"path":"/file.txt"}]}`), took)
	}
}
