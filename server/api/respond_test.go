package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// roundTrips is the plugin's end of an answer: each call of it but Header, after the first, costs what Mattermost's RPC
// needs for it.
type roundTrips struct {
	*httptest.ResponseRecorder
	calls []string
}

func (r *roundTrips) WriteHeader(status int) {
	r.calls = append(r.calls, "WriteHeader")
	r.ResponseRecorder.WriteHeader(status)
}

func (r *roundTrips) Write(body []byte) (int, error) {
	r.calls = append(r.calls, "Write")
	return r.ResponseRecorder.Write(body)
}

func TestAnAnswerIsGivenInAsFewCallsAsItNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		method string
		answer response
		err    error
		status int
		want   []string
	}{
		"200":                {http.MethodGet, response{status: http.StatusOK, body: "x"}, nil, http.StatusOK, []string{"Write"}},
		"200 without a body": {http.MethodGet, response{status: http.StatusOK}, nil, http.StatusOK, []string{"WriteHeader"}},
		"200 to HEAD":        {http.MethodHead, response{status: http.StatusOK, body: "x"}, nil, http.StatusOK, []string{"WriteHeader"}},
		"201":                {http.MethodPost, response{status: http.StatusCreated, body: "x"}, nil, http.StatusCreated, []string{"WriteHeader", "Write"}},
		"304":                {http.MethodGet, response{status: http.StatusNotModified}, nil, http.StatusNotModified, []string{"WriteHeader"}},
		"an error":           {http.MethodGet, response{}, filehost.E(filehost.NotFound, "no", nil), http.StatusNotFound, []string{"WriteHeader", "Write"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Handler{Config: Config{SiteURL: func() string { return "" }, Log: slog.New(slog.DiscardHandler)}}
			w := &roundTrips{ResponseRecorder: httptest.NewRecorder()}
			h.answer(w, h.newRequest(t.Context(), httptest.NewRequestWithContext(t.Context(), test.method, "/", nil)), test.answer, test.err)
			assert.Equal(t, test.want, w.calls)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, "nosniff", w.Result().Header.Get("X-Content-Type-Options"), "the header arrives all the same")
		})
	}
}
