package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// linkWorld is a world whose host has links, with a file to link.
func linkWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 16383 })
	w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Internal: true, Public: true, Password: true, Expiry: true, Permissions: true}})
	w.remote.AddFile("/secret folder/a.txt", []byte("hello"), noon)
	w.remote.Change("/secret folder/a.txt", func(e *filehost.Entry) {
		e.HostID, e.WebURL, e.Permissions = "7", "https://cloud.example.com/f/7", []filehost.Permission{filehost.Read, filehost.Share}
	})
	return w
}

func (w *world) attachLink(t *testing.T, link string) attachedBody {
	t.Helper()
	recorder := w.call(t, alice, http.MethodPost, "/attach", `{"channel_id":"`+channel+`","as":"link","link":`+link+`,"items":[{"path":"/secret folder/a.txt"},{"path":"/none"}]}`,
		"Idempotency-Key", base64.RawURLEncoding.EncodeToString([]byte(link)))
	require.Equal(t, http.StatusCreated, recorder.Code, recorder.Body.String())
	var body attachedBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	return body
}

func TestALinkIsAnsweredAsTheHostHasIt(t *testing.T) {
	w := linkWorld(t)
	w.shares.Demand(filehost.Policy{PasswordRequired: true}, true)
	const link = `{"audience":"public","permission":"edit","expires_at":"2026-12-03T01:00:00+01:00","remove_with_post":true,"label":"for Bob"}`
	body := w.attachLink(t, link)
	got := body.Items[0].Link
	require.NotNil(t, got)
	assert.Equal(t, []string{"post0-0", "https://cloud.example.com/s/share1", "public", "edit"}, []string{got.ID, got.URL, got.Audience, got.Permission})
	assert.Equal(t, "2026-12-03T00:00:00Z", got.ExpiresAt.Format("2006-01-02T15:04:05Z07:00"))
	assert.True(t, got.PasswordSet && got.RemoveWithPost)
	assert.Equal(t, w.shares.PasswordOf("share1"), got.Password)
	assert.NotEmpty(t, got.Password)
	assert.Equal(t, "for Bob", w.shares.Made()[0].Label)
	assert.Equal(t, "not_found", body.Items[1].Error.Code)
	assert.Nil(t, body.Items[1].Link)

	again := w.attachLink(t, link).Items[0].Link
	assert.Empty(t, again.Password, "it is told once")
	again.Password = got.Password
	assert.Equal(t, got, again)
	assert.NotContains(t, w.logged.String(), got.Password)

	internal := w.attachLink(t, `{}`).Items[0].Link
	assert.Equal(t, &linkedBody{URL: "https://cloud.example.com/f/7", Audience: "internal"}, internal)
}

func TestACardNeverTellsWhereAFileLies(t *testing.T) {
	w := linkWorld(t)
	postID := w.attachLink(t, `{"audience":"public"}`).PostID
	recorder := w.call(t, bob, http.MethodGet, "/cards/"+postID, "")
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.NotContains(t, recorder.Body.String(), "secret folder")
	assert.NotContains(t, recorder.Body.String(), filehost.Ref{HostID: "7"}.ID())
	assert.Contains(t, recorder.Body.String(), `"name":"a.txt"`)
	w.mattermost.Hide(channel, bob)
	hidden := failureOf(t, w.call(t, bob, http.MethodGet, "/cards/"+postID, ""))
	none := failureOf(t, w.call(t, bob, http.MethodGet, "/cards/post7", ""))
	assert.Equal(t, none, hidden)
}

func TestLinksAreKeptByTheirUser(t *testing.T) {
	w := linkWorld(t)
	id := w.attachLink(t, `{"audience":"public"}`).Items[0].Link.ID
	w.tokens.Connect(bob)
	var listed linksBody
	require.NoError(t, json.Unmarshal(w.call(t, alice, http.MethodGet, "/links?channel_id="+channel, "").Body.Bytes(), &listed))
	require.Len(t, listed.Links, 1)
	assert.Equal(t, id, listed.Links[0].ID)
	assert.JSONEq(t, `{"links":[]}`, w.call(t, bob, http.MethodGet, "/links?channel_id="+channel, "").Body.String())
	for target, field := range map[string]string{"/links": "channel_id", "/links?channel_id=x": "channel_id", "/links?channel_id=" + channel + "&user_id=" + bob: "user_id"} {
		assert.Equal(t, field, failureOf(t, w.call(t, alice, http.MethodGet, target, "")).Details.Field, target)
	}

	for body, want := range map[string]string{
		`{}`:                                    "invalid_request body",
		`{"permission":"own"}`:                  "invalid_request permission",
		`{"permission":null}`:                   "invalid_request permission",
		`{"expires_at":"tomorrow"}`:             "invalid_request expires_at",
		`{"expires_at":"2020-01-01T00:00:00Z"}`: "invalid_request expires_at",
		`{"password":5}`:                        "invalid_request password",
		`{"user_id":"x"}`:                       "invalid_request user_id",
	} {
		f := failureOf(t, w.call(t, alice, http.MethodPatch, "/links/"+id, body))
		assert.Equal(t, want, f.Code+" "+f.Details.Field, body)
	}
	assert.Equal(t, "not_found", failureOf(t, w.call(t, bob, http.MethodPatch, "/links/"+id, `{"permission":"edit"}`)).Code)
	assert.Equal(t, "not_found", failureOf(t, w.call(t, bob, http.MethodDelete, "/links/"+id, "")).Code)
	recorder := w.call(t, alice, http.MethodPatch, "/links/"+id, `{"permission":"edit","password":"chosen-canary","expires_at":"2026-12-03T00:00:00Z"}`)
	assert.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	assert.NotContains(t, recorder.Body.String()+w.logged.String(), "chosen-canary")
	recorder = w.call(t, alice, http.MethodPatch, "/links/"+id, `{"password":"","expires_at":""}`)
	var changed postedLinkBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &changed))
	assert.False(t, changed.Link.PasswordSet)
	assert.Nil(t, changed.Link.ExpiresAt)
	assert.Equal(t, http.StatusNoContent, w.call(t, alice, http.MethodDelete, "/links/"+id, "").Code)
	assert.Empty(t, w.shares.Made())
	assert.Contains(t, w.call(t, alice, http.MethodGet, "/cards/post0", "").Body.String(), `"revoked_at":`)
}

func TestADryRunSaysWhoCanOpenTheLinks(t *testing.T) {
	w := linkWorld(t)
	w.shares.Open("/secret folder/a.txt", filehost.Access{Owner: "alice", Complete: true})
	w.tokens.Connect(bob)
	recorder := w.call(t, alice, http.MethodPost, "/attach", `{"channel_id":"`+channel+`","as":"link","dry_run":true,"link":{"grant_to":["`+bob+`"]},"items":[{"path":"/secret folder/a.txt"}]}`)
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	var body attachedBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	assert.Equal(t, []int{1, 2, 0}, []int{body.Audience.Can, body.Audience.Cannot, body.Audience.Unknown})
	assert.Equal(t, []memberBody{{admin, "", "cannot"}, {bob, "bob", "cannot"}, {alice, "alice", "can"}}, body.Audience.Members)
	assert.Equal(t, []grantBody{{UserID: bob, Result: filehost.GrantMade}}, body.Grants)
	assert.NotContains(t, recorder.Body.String(), "@", "no address of anybody")
	assert.Empty(t, w.shares.Made())
	assert.Empty(t, w.mattermost.Posts())
}
