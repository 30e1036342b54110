package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestWhichFieldsAListingHas(t *testing.T) {
	w := newWorld(t)
	yes := true
	w.remote.AddFile("/a.txt", []byte("a"), noon)
	w.remote.Change("/a.txt", func(e *filehost.Entry) { e.Favorite, e.Shared, e.Permissions = &yes, &yes, nil })
	for target, want := range map[string]bool{"/files": true, "/files?fields=all": true, "/files?fields=basic": false} {
		recorder := w.call(t, alice, http.MethodGet, target, "")
		require.Equal(t, http.StatusOK, recorder.Code, target)
		var page struct {
			Folder  map[string]any
			Entries []map[string]any
		}
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &page))
		for _, name := range []string{"favorite", "shared", "permissions"} {
			assert.Equal(t, want, page.Entries[0][name] != nil, "%s of %s", name, target)
		}
		assert.Equal(t, want, page.Folder["permissions"] != nil, target)
		assert.Equal(t, "a.txt", page.Entries[0]["name"])
	}
	f := failureOf(t, w.call(t, alice, http.MethodGet, "/files?fields=some", ""))
	assert.Equal(t, "fields", f.Details.Field)
}
