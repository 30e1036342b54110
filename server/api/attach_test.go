package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asking is the body of an attachment of two files, with more fields.
func asking(more string) string {
	return `{"channel_id":"` + channel + `","items":[{"path":"/missing.txt"},{"path":"/good.txt"}]` + more + `}`
}

func TestADraftAnswersWithMattermostsOwnFileInfosAndPostsNothing(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	recorder := w.call(t, alice, http.MethodPost, "/attach", asking(`,"as":"draft"`))
	require.Equal(t, http.StatusCreated, recorder.Code, recorder.Body.String())
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	assert.JSONEq(t, `[{"id":"file0","name":"good.txt","size":5}]`, string(body["file_infos"]))
	assert.NotContains(t, body, "post_id")
	assert.Empty(t, w.mattermost.Posts())
}

func TestADryRunTellsEachItemAndIsNoCreation(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	for _, as := range []string{"", `,"as":"draft"`} {
		recorder := w.call(t, alice, http.MethodPost, "/attach", asking(`,"dry_run":true`+as))
		require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
		var body attachedBody
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
		assert.Equal(t, "not_found", body.Items[0].Error.Code)
		assert.Nil(t, body.Items[1].Error)
		assert.Equal(t, int64(5), body.Items[1].Size)
		assert.NotContains(t, recorder.Body.String(), "post_id")
		assert.NotContains(t, recorder.Body.String(), "file_id")
	}
	assert.Empty(t, w.mattermost.Uploads())
}

func TestTheSameKeyGetsTheSameAnswer(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	first := w.call(t, alice, http.MethodPost, "/attach", asking(""), "Idempotency-Key", "k")
	require.Equal(t, http.StatusCreated, first.Code, first.Body.String())
	again := w.call(t, alice, http.MethodPost, "/attach", ` `+asking(`,"as":"copy","message":""`), "Idempotency-Key", "k")
	assert.Equal(t, first.Code, again.Code)
	assert.Equal(t, first.Body.String(), again.Body.String(), "the same request in other words")
	other := failureOf(t, w.call(t, alice, http.MethodPost, "/attach", asking(`,"message":"m"`), "Idempotency-Key", "k"))
	assert.Equal(t, "key_reused Idempotency-Key", other.Code+" "+other.Details.Field)
	assert.Len(t, w.mattermost.Posts(), 1)
}

func TestAWrongIdempotencyKeyIsRefused(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	for name, key := range map[string]string{"empty": "", "too long": strings.Repeat("k", 256), "a space": "a b", "a control character": "a\tb", "not ASCII": "ü", "DEL": "a\x7f"} {
		f := failureOf(t, w.call(t, alice, http.MethodPost, "/attach", asking(""), "Idempotency-Key", key))
		assert.Equal(t, "invalid_request Idempotency-Key", f.Code+" "+f.Details.Field, name)
	}
	_, err := readIdempotencyKey(http.Header{"Idempotency-Key": {"a", "b"}})
	assert.Error(t, err, "which of the two?")
	assert.Empty(t, w.mattermost.Posts())
	for _, key := range []string{"!", "~", strings.Repeat("k", 255)} {
		assert.Equal(t, http.StatusCreated, w.call(t, alice, http.MethodPost, "/attach", asking(""), "Idempotency-Key", key).Code)
	}
}
