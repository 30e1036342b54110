package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAdminsListAndRevokeConnectionsAndNobodyElseDoes(t *testing.T) {
	w := newWorld(t)
	for _, who := range []string{"", alice, bob} {
		want := http.StatusForbidden
		if who == "" {
			want = http.StatusUnauthorized
		}
		assert.Equal(t, want, w.call(t, who, http.MethodGet, "/admin/connections", "").Code, who)
		assert.Equal(t, want, w.call(t, who, http.MethodDelete, "/admin/connections/"+alice, "").Code, who)
	}
	recorder := w.call(t, admin, http.MethodGet, "/admin/connections?state=connected&grant=password&limit=1", "")
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	assert.Equal(t, "no-store", recorder.Header().Get("Cache-Control"))
	var page keptPageBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &page))
	require.Len(t, page.Connections, 1)
	assert.Equal(t, admin, page.Connections[0].UserID)
	assert.Equal(t, 2, page.Counts.Total)
	assert.NotContains(t, recorder.Body.String(), "token")

	recorder = w.call(t, admin, http.MethodGet, "/admin/connections?cursor="+page.NextCursor, "")
	var next keptPageBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &next))
	require.Len(t, next.Connections, 1)
	assert.Equal(t, "alice", next.Connections[0].Username)
	assert.Empty(t, next.NextCursor)
	assert.Nil(t, next.Counts)

	assert.Equal(t, http.StatusNoContent, w.call(t, admin, http.MethodDelete, "/admin/connections/"+alice, "").Code)
	assert.Equal(t, http.StatusNotFound, w.call(t, admin, http.MethodDelete, "/admin/connections/"+alice, "").Code)
	assert.Contains(t, w.call(t, alice, http.MethodGet, "/connection", "").Body.String(), "not_connected")
}

func TestWrongParametersOfTheAdminsRoutesAreNamed(t *testing.T) {
	w := newWorld(t)
	for target, want := range map[string]string{
		"?state=dead":          "state",
		"?state=":              "state",
		"?grant=oauth":         "grant",
		"?limit=0":             "limit",
		"?limit=201":           "limit",
		"?cursor=":             "",
		"?cursor=../conn":      "cursor",
		"?cursor=a&cursor=b":   "cursor",
		"?user_id=" + alice:    "user_id",
		"?host=other":          "host",
		"/UPPER?":              "user_id",
		"/" + alice + "x":      "user_id",
		"/" + alice + "?q=1":   "q",
		"/" + alice + "?host=": "",
	} {
		method := http.MethodGet
		if target[0] == '/' {
			method = http.MethodDelete
		}
		recorder := w.call(t, admin, method, "/admin/connections"+target, "")
		if want == "" {
			assert.Less(t, recorder.Code, 300, target)
			continue
		}
		f := failureOf(t, recorder)
		assert.Equal(t, "invalid_request "+want, f.Code+" "+f.Details.Field, target)
	}
}
