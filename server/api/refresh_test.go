package api

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestRefreshAnswersItemByItem(t *testing.T) {
	w := newWorld(t)
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 4000 })
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	w.remote.AddFile("/gone.txt", []byte("hello"), noon)
	require.Equal(t, http.StatusCreated, w.call(t, alice, http.MethodPost, "/attach", `{"channel_id":"`+channel+`","items":[{"path":"/good.txt"},{"path":"/gone.txt"}]}`).Code)
	w.remote.AddFile("/good.txt", []byte("hello again"), noon.Add(time.Hour))
	w.remote.Remove("/gone.txt")

	dry := w.call(t, alice, http.MethodPost, "/refresh", `{"post_id":"post0","dry_run":true,"host":"default"}`)
	require.Equal(t, http.StatusOK, dry.Code, dry.Body.String())
	assert.NotContains(t, dry.Body.String(), "reply_id")
	assert.Len(t, w.mattermost.Posts(), 1)

	recorder := w.call(t, alice, http.MethodPost, "/refresh", `{"post_id":"post0"}`)
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	var body refreshedBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	later := noon.Add(time.Hour)
	assert.Equal(t, refreshedBody{PostID: "post0", ReplyID: "post1", Items: []refreshedItemBody{
		{Name: "good.txt", State: filehost.Newer, FileID: "file2",
			Before: versionBody{Name: "good.txt", Path: "/good.txt", Size: 5, ModifiedAt: &noon},
			After:  &versionBody{Name: "good.txt", Path: "/good.txt", Size: 11, ModifiedAt: &later}},
		{Name: "gone.txt", State: filehost.Gone, Before: versionBody{Name: "gone.txt", Path: "/gone.txt", Size: 5, ModifiedAt: &noon}},
	}}, body)

	for request, want := range map[string]string{`{"post_id":"none"}`: "not_found ", `{"post_id":"post0","host":"other"}`: "invalid_request host", `{"post_id":"post0","as":"copy"}`: "invalid_request as"} {
		f := failureOf(t, w.call(t, alice, http.MethodPost, "/refresh", request))
		assert.Equal(t, want, f.Code+" "+f.Details.Field)
	}
	assert.Equal(t, "forbidden", failureOf(t, w.call(t, bob, http.MethodPost, "/refresh", `{"post_id":"post0"}`)).Code)
}
