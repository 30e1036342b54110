package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server behaves as Mattermost's plugin routes do towards one admin.
type server struct {
	bundle  string
	enabled bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, body any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch {
	case r.Header.Get("Authorization") != "BEARER admin":
		answer(http.StatusUnauthorized, map[string]any{"id": "api.context.session_expired.app_error", "message": "log in again", "status_code": 401})
	case r.Method == http.MethodPost && r.URL.Path == "/sub/api/v4/plugins":
		part, _, err := r.FormFile("plugin")
		if err != nil || r.FormValue("force") != "true" {
			answer(http.StatusBadRequest, map[string]any{"message": "no plugin, or an old one in the way", "status_code": 400})
			return
		}
		content, _ := io.ReadAll(part)
		s.bundle = string(content)
		answer(http.StatusCreated, map[string]any{"id": "plugin-id", "version": "1.2.3"})
	case r.Method == http.MethodPost && r.URL.Path == "/sub/api/v4/plugins/plugin-id/enable":
		s.enabled = true
		answer(http.StatusOK, map[string]any{"status": "OK"})
	default:
		answer(http.StatusNotFound, map[string]any{"message": "no such route", "status_code": 404})
	}
}

func TestDeploy(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	require.NoError(t, os.WriteFile(bundle, []byte("packed"), 0o600))

	for name, test := range map[string]struct {
		token, bundle string
		want          server
		wantError     string
	}{
		"uploads and enables":          {token: "admin", bundle: bundle, want: server{bundle: "packed", enabled: true}},
		"a token that is not accepted": {token: "stale", bundle: bundle, wantError: "log in again"},
		"no token":                     {token: "", bundle: bundle, wantError: "MM_ADMIN_TOKEN"},
		"no bundle":                    {token: "admin", bundle: bundle + ".missing", wantError: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			mattermost := &server{}
			listener := httptest.NewServer(mattermost)
			defer listener.Close()

			err := deploy(t.Context(), listener.URL+"/sub", test.token, test.bundle)

			assert.Equal(t, test.want, *mattermost)
			if test.wantError == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.wantError)
		})
	}
}
