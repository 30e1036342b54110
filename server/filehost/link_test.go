package filehost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// linkWorld is a world whose host has all kinds of links, with a file, a folder and an empty file that may be shared.
func linkWorld() *world {
	w := newWorld()
	w.tokens.Connect(bob)
	w.tokens.Name(alice, "alice-at-host")
	w.tokens.Name(bob, "bob-at-host")
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 16383 })
	w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Internal: true, Public: true, Password: true, Expiry: true, Permissions: true}})
	w.remote.AddFile("/report.pdf", []byte("content"), noon)
	w.remote.AddFolder("/folder")
	w.remote.AddFile("/empty", nil, noon)
	for _, path := range []string{"/report.pdf", "/folder", "/empty"} {
		w.linkable(path)
	}
	return w
}

func (w *world) linkable(path string) {
	w.remote.Change(path, func(e *filehost.Entry) {
		e.HostID, e.WebURL = "id-of-"+strings.TrimPrefix(path, "/"), "https://cloud.example.com/f/"+strings.TrimPrefix(path, "/")
		e.Permissions = []filehost.Permission{filehost.Read, filehost.Share}
	})
}

// public asks for public links, internal for internal ones.
func public(paths ...string) filehost.Attachment {
	a := attachment(paths...)
	a.Link = &filehost.LinkRequest{Public: true, Permission: filehost.MayView}
	return a
}

// leaving is a public link that goes with its post.
func leaving(path string) filehost.Attachment {
	a := public(path)
	a.Link.RemoveWithPost = true
	return a
}

func internal(paths ...string) filehost.Attachment {
	a := public(paths...)
	a.Link.Public = false
	return a
}

func (w *world) attachLinks(t *testing.T, ask filehost.Attachment) filehost.Attached {
	t.Helper()
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	return attached
}

// card is what the plugin tells alice of a post; nil = nothing.
func (w *world) card(t *testing.T, postID string) *filehost.Card {
	t.Helper()
	card, err := w.Card(t.Context(), alice, postID)
	if filehost.KindOf(err) == filehost.NotFound {
		return nil
	}
	require.NoError(t, err)
	return &card
}

func TestLinksArePostedAsACardThatIsReadableEverywhere(t *testing.T) {
	for name, test := range map[string]struct {
		ask  filehost.Attachment
		want string
	}{
		"internal": {internal("/report.pdf", "/folder", "/empty"), "hello\n\n" +
			"[`report.pdf`](https://cloud.example.com/f/report.pdf) · text, 7 B · `Cloud` · for people who have access there\n" +
			"[`folder`](https://cloud.example.com/f/folder) · folder · `Cloud` · for people who have access there\n" +
			"[`empty`](https://cloud.example.com/f/empty) · text, 0 B · `Cloud` · for people who have access there"},
		"public": {func() filehost.Attachment {
			ask := public("/report.pdf")
			ask.Message, ask.Link.Permission = "", filehost.MayEdit
			ask.Link.Password, ask.Link.ExpiresAt = filehost.NewSecret("chosen"), noon.Add(12*24*time.Hour)
			return ask
		}(), "[`report.pdf`](https://cloud.example.com/s/share1) · text, 7 B · `Cloud` · anyone with the link may edit it until 3 Dec 2026, password needed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := linkWorld()
			attached := w.attachLinks(t, test.ask)
			post := w.mattermost.Posts()[0]
			assert.Equal(t, test.want, post.Message)
			assert.Equal(t, []string{alice, "channel", "root"}, []string{post.UserID, post.ChannelID, post.RootID})
			assert.NotEmpty(t, post.Card)
			card := w.card(t, attached.PostID)
			require.NotNil(t, card)
			require.Len(t, card.Items, len(test.ask.Items))
			for i, item := range attached.Items {
				assert.Equal(t, card.Items[i].Link, item.Link)
				assert.True(t, item.Password.IsEmpty(), "he has chosen it himself")
			}
			assert.NotContains(t, w.stored(t), "chosen")
			assert.NotContains(t, w.stored(t), "hold_", "nothing is left to be looked after")
		})
	}
}

// stored is all that the store has.
func (w *world) stored(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		all.WriteString(key + "=" + string(value) + "\n")
	}
	return all.String()
}

func TestHostileNamesMakeNoLinkOfTheirOwn(t *testing.T) {
	for path, want := range map[string]string{
		"/[x](javascript:alert(1))": "[`(x)(javascript:alert(1))`](https://cloud.example.com/s/share1)",
		"/@all `x`":                 "[`@all 'x'`](https://cloud.example.com/s/share1)",
		"/a\nb\u202efdp.exe":        "[`a_b_fdp.exe`](https://cloud.example.com/s/share1)",
		"/](https:evil)":            "[`)(https:evil)`](https://cloud.example.com/s/share1)",
	} {
		w := linkWorld()
		w.remote.AddFile(path, []byte("1"), noon)
		w.linkable(path)
		w.remote.Change(path, func(e *filehost.Entry) { e.HostID, e.MIMEType = "1", "[evil](https://evil)" })
		w.attachLinks(t, public(path))
		line := strings.TrimPrefix(w.mattermost.Posts()[0].Message, "hello\n\n")
		assert.True(t, strings.HasPrefix(line, want+" · file, 1 B · "), line)
	}
}

func TestLinksThatAreRefusedBeforeAnythingIsMade(t *testing.T) {
	for name, test := range map[string]struct {
		world func(*world)
		ask   func(*filehost.Attachment)
		kind  filehost.Kind
		field string
	}{
		"no permission to post": {world: func(w *world) { w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil)) }, kind: filehost.Forbidden},
		"not connected":         {world: func(w *world) { _ = w.tokens.Disconnect(context.Background(), alice) }, kind: filehost.NotConnected},
		"no public links":       {world: func(w *world) { w.remote.Offer(filehost.Capabilities{}) }, kind: filehost.Unsupported, field: "link.audience"},
		"no address of its own": {world: func(w *world) { w.remote.Change("/report.pdf", func(e *filehost.Entry) { e.WebURL = "" }) }, ask: func(a *filehost.Attachment) { a.Link.Public = false }, kind: filehost.Unsupported, field: "link.audience"},
		"an address of a script": {world: func(w *world) {
			w.remote.Change("/report.pdf", func(e *filehost.Entry) { e.WebURL = "javascript:alert(1)" })
		}, ask: func(a *filehost.Attachment) { a.Link.Public = false }, kind: filehost.Unsupported, field: "link.audience"},
		"no passwords": {world: func(w *world) { w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Public: true}}) },
			ask: func(a *filehost.Attachment) { a.Link.Password = filehost.NewSecret("p") }, kind: filehost.Unsupported, field: "link.password"},
		"no expiry": {world: func(w *world) { w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Public: true}}) },
			ask: func(a *filehost.Attachment) { a.Link.ExpiresAt = noon.Add(time.Hour) }, kind: filehost.Unsupported, field: "link.expires_at"},
		"no permissions": {world: func(w *world) { w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Public: true}}) },
			ask: func(a *filehost.Attachment) { a.Link.Permission = filehost.MayEdit }, kind: filehost.Unsupported, field: "link.permission"},
		"may not be shared":     {world: func(w *world) { w.remote.Change("/report.pdf", func(e *filehost.Entry) { e.Permissions = nil }) }, kind: filehost.Forbidden, field: "items[0]"},
		"changed":               {ask: func(a *filehost.Attachment) { a.Items[0].ETag = `"old"` }, kind: filehost.Changed},
		"no such file":          {ask: func(a *filehost.Attachment) { a.Items[0].Path = filehosttest.MustPath("/none") }, kind: filehost.NotFound},
		"expired already":       {ask: func(a *filehost.Attachment) { a.Link.ExpiresAt = noon }, kind: filehost.InvalidRequest, field: "link.expires_at"},
		"too long a password":   {ask: func(a *filehost.Attachment) { a.Link.Password = filehost.NewSecret(strings.Repeat("p", 129)) }, kind: filehost.InvalidRequest, field: "link.password"},
		"a password with a NUL": {ask: func(a *filehost.Attachment) { a.Link.Password = filehost.NewSecret("p\x00") }, kind: filehost.InvalidRequest, field: "link.password"},
		"an invisible label":    {ask: func(a *filehost.Attachment) { a.Link.Label = "a\u202eb" }, kind: filehost.InvalidRequest, field: "link.label"},
		"granted to whom":       {ask: func(a *filehost.Attachment) { a.Link.GrantTo = []string{bob} }, kind: filehost.InvalidRequest, field: "link.grant_to"},
		"too many grants": {ask: func(a *filehost.Attachment) { a.Link.Public, a.Link.GrantTo = false, make([]string, 21) },
			kind: filehost.TooLarge, field: "link.grant_to"},
		"an internal link that ends": {ask: func(a *filehost.Attachment) { a.Link.Public, a.Link.RemoveWithPost = false, true }, kind: filehost.InvalidRequest, field: "link.audience"},
		"later than the host lets": {world: func(w *world) { w.shares.Demand(filehost.Policy{MaxExpiry: 7 * 24 * time.Hour}, true) },
			ask: func(a *filehost.Attachment) { a.Link.ExpiresAt = noon.Add(30 * 24 * time.Hour) }, kind: filehost.InvalidRequest, field: "link.expires_at"},
		"no room for the card": {world: func(w *world) { w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 600 }) }, kind: filehost.TooLarge, field: "message"},
	} {
		t.Run(name, func(t *testing.T) {
			w, ask := linkWorld(), public("/report.pdf")
			w.shares.Fail(func(call string) error {
				if call == "create" {
					t.Error("a share was made")
				}
				return nil
			})
			if test.world != nil {
				test.world(w)
			}
			if test.ask != nil {
				test.ask(&ask)
			}
			_, err := w.Attach(t.Context(), alice, ask)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, test.kind, known.Kind, known.Message)
			assert.Equal(t, test.field, known.Field)
			assert.Empty(t, w.mattermost.Posts())
		})
	}
}

func TestAPasswordThatTheHostDemandsIsToldThePosterOnce(t *testing.T) {
	for _, told := range []bool{true, false} {
		w, ask := linkWorld(), public("/report.pdf", "/folder")
		ask.IdempotencyKey = "key"
		w.shares.Demand(filehost.Policy{PasswordRequired: true}, told)
		creates := 0
		w.shares.Fail(func(call string) error {
			if call == "create" {
				creates++
			}
			return nil
		})
		attached := w.attachLinks(t, ask)
		assert.Equal(t, map[bool]int{true: 2, false: 3}[told], creates, "hosts count tries")
		var passwords []string
		for _, item := range attached.Items {
			password := item.Password.Reveal()
			assert.Equal(t, password, w.shares.PasswordOf(item.Link.ShareID))
			assert.Regexp(t, `^[a-zA-Z2-9]{4}(-[a-zA-Z2-9]{4}){4}$`, password)
			assert.Regexp(t, `[a-z]`, password)
			assert.Regexp(t, `[A-Z]`, password)
			assert.Regexp(t, `[0-9]`, password)
			assert.True(t, item.Link.Password)
			passwords = append(passwords, password)
		}
		assert.NotEqual(t, passwords[0], passwords[1])
		again := w.attachLinks(t, ask)
		assert.Equal(t, attached.PostID, again.PostID)
		for i, item := range again.Items {
			assert.True(t, item.Password.IsEmpty(), "nobody is told it again")
			assert.Equal(t, attached.Items[i].Link, item.Link)
			for _, place := range []string{w.stored(t), w.log.String(), w.mattermost.Posts()[0].Message, fmt.Sprintf("%+v", attached)} {
				assert.NotContains(t, place, passwords[i])
			}
		}
		assert.Len(t, w.shares.Made(), 2)
	}
}

func TestItemsThatCannotBeLinkedDoNotStopTheOthers(t *testing.T) {
	w := linkWorld()
	creates := 0
	w.shares.Fail(func(call string) error {
		if call == "create" {
			if creates++; creates == 1 {
				return filehost.E(filehost.RateLimited, "Too many shares.", nil)
			}
		}
		return nil
	})
	attached := w.attachLinks(t, public("/missing", "/report.pdf", "/folder"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[0].Err))
	assert.Equal(t, filehost.RateLimited, filehost.KindOf(attached.Items[1].Err))
	require.NoError(t, attached.Items[2].Err)
	card := w.card(t, attached.PostID)
	require.Len(t, card.Items, 1)
	assert.Equal(t, "folder", card.Items[0].Name)

	w.shares.Fail(func(string) error { return filehost.E(filehost.Forbidden, "Links are switched off.", nil) })
	_, err := w.Attach(t.Context(), alice, public("/report.pdf", "/missing"))
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	assert.Len(t, w.mattermost.Posts(), 1)
}

// TestAShareWhosePostIsNotMadeIsRemoved also with a share that the user had before, which stays.
func TestAShareWhosePostIsNotMadeIsRemoved(t *testing.T) {
	refused := filehost.E(filehost.Forbidden, "No.", nil)
	for name, fail := range map[string]func(*world){
		"refused":              func(w *world) { w.mattermost.FailPosts(refused) },
		"may no longer":        func(w *world) { w.shares.Fail(func(string) error { w.mattermost.Refuse(refused); return nil }) },
		"a link like a script": func(w *world) { w.shares.At("javascript:") },
		"a link too long":      func(w *world) { w.shares.At("https://cloud.example.com/" + strings.Repeat("x", 600)) },
		"a store that forgets who needs it": func(w *world) {
			w.kv.Fail(func(_ filehosttest.Op, key string) error {
				if strings.HasPrefix(key, "share_") {
					return errors.New("down")
				}
				return nil
			})
		},
		"a store that is down": func(w *world) {
			held := 0
			w.kv.Fail(func(op filehosttest.Op, key string) error {
				if op == filehosttest.CompareAndSet && strings.HasPrefix(key, "hold_") {
					if held++; held == 2 { // the first comes before the share
						return errors.New("down")
					}
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := linkWorld()
			fail(w)
			_, err := w.Attach(t.Context(), alice, public("/report.pdf"))
			require.Error(t, err)
			assert.Empty(t, w.shares.Made())
			assert.Empty(t, w.mattermost.Posts())
		})
	}
	w := linkWorld()
	_, _, err := w.shares.CreateLink(t.Context(), filehost.Credential{Account: "alice-at-host"}, filehost.Entry{Path: filehosttest.MustPath("/report.pdf")}, filehost.LinkWish{Permission: filehost.MayView})
	require.NoError(t, err)
	w.mattermost.FailPosts(refused)
	_, err = w.Attach(t.Context(), alice, public("/report.pdf"))
	require.Error(t, err)
	assert.Len(t, w.shares.Made(), 1, "it is his own")
}

func TestAPostStandsWhenWhatIsKnownOfItCannotBeKept(t *testing.T) {
	w := linkWorld()
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && strings.HasPrefix(key, "post_") {
			return errors.New("down")
		}
		return nil
	})
	attached := w.attachLinks(t, public("/report.pdf"))
	assert.NotEmpty(t, attached.PostID)
	assert.Nil(t, w.card(t, attached.PostID))
	assert.Contains(t, w.log.String(), "could not be kept yet")
	w.kv.Fail(nil)
	w.DoDue(t.Context(), "")
	assert.NotNil(t, w.card(t, attached.PostID), "it is kept later")
	assert.Len(t, w.shares.Made(), 1)
	assert.NotContains(t, w.stored(t), "hold_")
}

func TestAPostWhoseAnswerWasLostKeepsItsLinks(t *testing.T) {
	for _, there := range []bool{true, false} {
		w := linkWorld()
		w.mattermost.FailFinds(errors.New("no answer"))
		w.mattermost.LosePosts(func(carry func(files int)) {
			if there {
				carry(0)
			}
		})
		_, err := w.Attach(t.Context(), alice, public("/report.pdf"))
		require.Error(t, err)
		w.DoDue(t.Context(), "")
		assert.Len(t, w.shares.Made(), 1, "it is not known yet")
		w.mattermost.FailFinds(nil)
		w.clock.Advance(5 * time.Minute)
		w.DoDue(t.Context(), "")
		if there {
			assert.Len(t, w.shares.Made(), 1)
			postID := w.mattermost.PostIDs()[0]
			assert.NotNil(t, w.card(t, postID))
			require.NoError(t, w.RevokeLink(t.Context(), alice, filehost.LinkID(postID, 0)))
			assert.Equal(t, "hello\n\n`report.pdf` · text, 7 B · `Cloud` · the link was revoked", w.mattermost.Posts()[0].Message)
			assert.Empty(t, w.shares.Made())
		} else {
			w.clock.Advance(15 * time.Minute)
			w.DoDue(t.Context(), "")
			assert.Empty(t, w.shares.Made())
		}
		assert.NotContains(t, w.stored(t), "hold_")
	}
}

// TestLinksSurviveWhereverTheProcessDies lets a process die at each call of a port. Another makes one post of it with the
// same key; and after what is due was done, the host has the shares of that post and no other.
func TestLinksSurviveWhereverTheProcessDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		unknown := 0
		for at := 1; ; at++ {
			w, ask := linkWorld(), public("/report.pdf", "/missing", "/folder")
			ask.IdempotencyKey, ask.Link.Password = "key", filehost.NewSecret("secret")
			first := &mortal{at: at, after: after}
			_, err := w.run(filehosttest.Process{Name: "first"}, first, w.kv).Attach(t.Context(), alice, ask)
			if !first.dead {
				require.NoError(t, err)
				assert.Greater(t, at, 20)
				assert.LessOrEqual(t, unknown, 8, "two links, and the few calls between each and its note")
				break
			}
			next := w.run(filehosttest.Process{Name: "second", Ends: map[string]bool{"first": true}}, &mortal{}, w.kv)
			attached, err := insist(t, w, next, ask)
			require.NoError(t, err, "died at call %d", at)
			require.Len(t, w.mattermost.Posts(), 1, "died at call %d", at)
			again, err := insist(t, w, next, ask)
			require.NoError(t, err)
			assert.Equal(t, answerOf(attached, nil), answerOf(again, nil))
			for range 3 {
				w.clock.Advance(10 * time.Minute)
				next.DoDue(t.Context(), "")
			}
			card := w.card(t, attached.PostID)
			require.NotNil(t, card, "died at call %d", at)
			shares := map[string]bool{}
			for _, share := range w.shares.Made() {
				shares[share.ID] = true
			}
			for i, item := range card.Items {
				assert.True(t, shares[item.Link.ShareID], "died at call %d: item %d", at, i)
			}
			// Of a share that the host makes while the process dies, before that could note it, nobody knows.
			lost := len(w.shares.Made()) - 2
			assert.LessOrEqual(t, lost, 1, "died at call %d", at)
			unknown += lost
			assert.NotContains(t, w.stored(t), "hold_", "died at call %d", at)
		}
	}
}

func TestACardIsForWhoMayReadItsPost(t *testing.T) {
	w := linkWorld()
	postID := w.attachLinks(t, public("/report.pdf")).PostID
	card, err := w.Card(t.Context(), bob, postID)
	require.NoError(t, err)
	assert.Equal(t, alice, card.UserID)
	w.mattermost.Hide("channel", bob)
	_, hidden := w.Card(t.Context(), bob, postID)
	_, none := w.Card(t.Context(), bob, "none")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(hidden))
	assert.Equal(t, none.Error(), hidden.Error(), "nobody is told that there is one")
}

// TestAForgedCardShowsNothing: a post says of itself what its author likes.
func TestAForgedCardShowsNothing(t *testing.T) {
	w := linkWorld()
	genuine := w.attachLinks(t, public("/report.pdf")).PostID
	post := w.mattermost.Posts()[0]
	post.UserID = bob
	forged, err := w.mattermost.Post(t.Context(), post)
	require.NoError(t, err)
	assert.Nil(t, w.card(t, forged))
	raw, err := w.kv.Get(t.Context(), "post_"+genuine)
	require.NoError(t, err)
	w.kv.Put("post_"+forged, raw)
	assert.Nil(t, w.card(t, forged), "what is known is of another user's post")
	elsewhere := w.mattermost.Posts()[0]
	elsewhere.ChannelID = "another"
	moved, err := w.mattermost.Post(t.Context(), elsewhere)
	require.NoError(t, err)
	w.kv.Put("post_"+moved, raw)
	assert.Nil(t, w.card(t, moved), "or of another channel's")
}

func TestLinksAreListedChangedAndRevokedByTheirUserOnly(t *testing.T) {
	w := linkWorld()
	ask := public("/report.pdf", "/folder")
	attached := w.attachLinks(t, ask)
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	require.Len(t, links, 2)
	for user, channel := range map[string]string{bob: "channel", alice: "another"} {
		others, err := w.Links(t.Context(), user, channel)
		require.NoError(t, err)
		assert.Empty(t, others)
	}
	edit, expires, none := filehost.MayEdit, noon.Add(48*time.Hour), time.Time{}
	password := filehost.NewSecret("chosen")
	for _, id := range []string{links[0].ID, "none-0", attached.PostID + "-2", attached.PostID, "", attached.PostID + "-00", "../x-0"} {
		user := alice
		if id == links[0].ID {
			user = bob
		}
		_, err = w.ChangeLink(t.Context(), user, id, filehost.LinkChange{Permission: &edit})
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), id)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(w.RevokeLink(t.Context(), user, id)), id)
	}
	assert.Equal(t, filehost.MayView, w.shares.Made()[0].Permission)

	changed, err := w.ChangeLink(t.Context(), alice, links[0].ID, filehost.LinkChange{Permission: &edit, Password: &password, ExpiresAt: &expires})
	require.NoError(t, err)
	assert.Equal(t, expires, changed.Item.Link.ExpiresAt)
	message := w.mattermost.Posts()[0].Message
	assert.Contains(t, message, "hello\n\n")
	assert.Contains(t, message, "may edit it until 23 Nov 2026, password needed\n[`folder`]")
	assert.NotContains(t, w.stored(t), "chosen")
	w.shares.Demand(filehost.Policy{ExpiryRequired: true}, true)
	_, err = w.ChangeLink(t.Context(), alice, links[0].ID, filehost.LinkChange{ExpiresAt: &none})
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil))
	_, err = w.ChangeLink(t.Context(), alice, links[0].ID, filehost.LinkChange{Permission: &edit})
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "who may not post there may not extend")

	require.NoError(t, w.RevokeLink(t.Context(), alice, links[0].ID), "but revoke")
	assert.Len(t, w.shares.Made(), 1)
	message = w.mattermost.Posts()[0].Message
	assert.Contains(t, message, "`report.pdf` · text, 7 B · `Cloud` · the link was revoked\n[`folder`]")
	assert.NotContains(t, message, "share1")
	card := w.card(t, attached.PostID)
	assert.False(t, card.Items[0].Link.RevokedAt.IsZero())
	left, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, links[1].ID, left[0].ID)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(w.RevokeLink(t.Context(), alice, links[0].ID)))
}

// TestAListNamesNoPostOfAnotherUser whatever the store says.
func TestAListNamesNoPostOfAnotherUser(t *testing.T) {
	w := linkWorld()
	w.attachLinks(t, public("/report.pdf"))
	for _, key := range w.kv.Keys() {
		if strings.HasPrefix(key, "links_") {
			w.kv.Put("post_others", []byte(`{"host":"default","user":"bob","channel":"channel","items":[{"id":"pLw","link":{"public":true}}]}`))
			w.kv.Put("post_elsewhere", []byte(`{"host":"default","user":"alice","channel":"another","items":[{"id":"pLw","link":{"public":true}}]}`))
			w.kv.Put(key, []byte(`["others","elsewhere"]`))
		}
	}
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	assert.Empty(t, links)
}

// TestALinkOfAnotherAccountIsLeftAlone: the host would say that there is no such share, and it would be taken for removed.
func TestALinkOfAnotherAccountIsLeftAlone(t *testing.T) {
	w := linkWorld()
	w.attachLinks(t, public("/report.pdf"))
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	w.tokens.Name(alice, "alice-elsewhere")
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(w.RevokeLink(t.Context(), alice, links[0].ID)))
	assert.Len(t, w.shares.Made(), 1)
	w.tokens.Name(alice, "alice-at-host")
	require.NoError(t, w.RevokeLink(t.Context(), alice, links[0].ID))
	assert.Empty(t, w.shares.Made())
}

func TestLinksGoWithTheirPostIfTheirUserChoseSo(t *testing.T) {
	for _, with := range []bool{true, false} {
		w, ask := linkWorld(), public("/report.pdf")
		ask.Link.RemoveWithPost = with
		postID := w.attachLinks(t, ask).PostID
		w.mattermost.DeletePost(postID)
		require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
		links, err := w.Links(t.Context(), alice, "channel")
		require.NoError(t, err)
		if with {
			assert.Empty(t, w.shares.Made())
			assert.Empty(t, links)
			assert.NotContains(t, w.stored(t), "post_"+postID)
			w.clock.Advance(time.Hour)
			w.DoDue(t.Context(), "")
			assert.NotContains(t, w.stored(t), "todo_")
			continue
		}
		assert.Len(t, w.shares.Made(), 1)
		require.Len(t, links, 1)
		assert.Equal(t, filehost.LinkOrphaned, links[0].State)
		edit := filehost.MayEdit
		_, err = w.ChangeLink(t.Context(), alice, links[0].ID, filehost.LinkChange{Permission: &edit})
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
		require.NoError(t, w.RevokeLink(t.Context(), alice, links[0].ID))
		assert.Empty(t, w.shares.Made())
	}
}

func TestALinkOfADeletedReplyGoesWithItsThread(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	postID := w.attachLinks(t, ask).PostID
	w.mattermost.DeletePost(postID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: "root"}), "Mattermost tells of the thread only")
	assert.Empty(t, w.shares.Made())
	assert.NotContains(t, w.stored(t), "thread_")
}

// leaveALink deletes the post of a link that can't go with it: its user has disconnected.
func (w *world) leaveALink(t *testing.T) (postID string) {
	t.Helper()
	postID = w.attachLinks(t, leaving("/report.pdf")).PostID
	require.NoError(t, w.Disconnect(t.Context(), alice))
	w.mattermost.DeletePost(postID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
	return postID
}

// TestTheLinksOfADeletedPostWaitForTheirUser: he has disconnected, and another node is the one where he connects again.
func TestTheLinksOfADeletedPostWaitForTheirUser(t *testing.T) {
	w := linkWorld()
	w.leaveALink(t)
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	require.Len(t, links, 1)
	assert.Equal(t, filehost.LinkRemoving, links[0].State)

	node := filehost.New(w.Config)
	w.clock.Advance(time.Minute)
	node.DoDue(t.Context(), "") // which tries, and waits
	assert.Len(t, w.shares.Made(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); node.LookAfterLinks(ctx) }()
	w.tokens.Connect(alice)
	node.Connected(t.Context(), alice)
	require.Eventually(t, func() bool { return len(w.shares.Made()) == 0 }, 10*time.Second, time.Millisecond)
	cancel()
	<-ended
}

func TestWhatNobodyCanRemoveIsGivenUpAfterThirtyDays(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	postID := w.attachLinks(t, ask).PostID
	w.shares.Fail(func(call string) error {
		if call == "remove" {
			return filehost.E(filehost.HostUnavailable, "Down.", nil)
		}
		return nil
	})
	w.mattermost.DeletePost(postID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
	tries := 0
	for day := 0; day < 32; day++ {
		for range 4 {
			before := strings.Count(w.log.String(), "could not be removed yet")
			w.DoDue(t.Context(), "")
			w.clock.Advance(6 * time.Hour)
			tries += strings.Count(w.log.String(), "could not be removed yet") - before
		}
	}
	assert.Greater(t, tries, 30)
	assert.Contains(t, w.log.String(), "were not removed")
	assert.NotContains(t, w.stored(t), "post_"+postID)
	assert.NotContains(t, w.stored(t), "todo_")
}

// TestTwoNodesRemoveALinkOnce lets both do what is due at the same time.
func TestTwoNodesRemoveALinkOnce(t *testing.T) {
	w := linkWorld()
	w.leaveALink(t)
	w.tokens.Connect(alice)
	w.clock.Advance(time.Minute)
	var removes int
	nodes := []*filehost.Service{filehost.New(w.Config), filehost.New(w.Config)}
	w.shares.Fail(func(call string) error {
		if call == "remove" {
			removes++
		}
		return nil
	})
	done := make(chan struct{})
	for _, node := range nodes {
		go func() { defer func() { done <- struct{}{} }(); node.DoDue(t.Context(), "") }()
	}
	<-done
	<-done
	assert.Equal(t, 1, removes)
	assert.Empty(t, w.shares.Made())
}

func TestAShareThatAnotherPostNeedsStays(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	first := w.attachLinks(t, ask).PostID
	second := w.attachLinks(t, ask).PostID
	require.Len(t, w.shares.Made(), 1)
	for i, postID := range []string{first, second} {
		w.mattermost.DeletePost(postID)
		require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
		assert.Len(t, w.shares.Made(), 1-i)
	}
	_, _, err := w.shares.CreateLink(t.Context(), filehost.Credential{Account: "alice-at-host"}, filehost.Entry{Path: filehosttest.MustPath("/folder")}, filehost.LinkWish{Permission: filehost.MayView})
	require.NoError(t, err)
	ask = leaving("/folder")
	attached := w.attachLinks(t, ask)
	assert.False(t, attached.Items[0].Link.RemoveWithPost, "he has made it himself")
	w.mattermost.DeletePost(attached.PostID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: attached.PostID}))
	assert.Len(t, w.shares.Made(), 1)
}

func TestALinkThatIsBeingRemovedIsNotPostedAgain(t *testing.T) {
	w, ask := linkWorld(), public("/report.pdf")
	w.attachLinks(t, ask)
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	w.shares.Fail(func(call string) error {
		if call == "remove" {
			return filehost.E(filehost.HostUnavailable, "Down.", nil)
		}
		return nil
	})
	require.Error(t, w.RevokeLink(t.Context(), alice, links[0].ID))
	_, err = w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	assert.Len(t, w.mattermost.Posts(), 1)
}

func TestWhatIsKnownOfLinksHoldsNoSecretInTheClear(t *testing.T) {
	w, ask := linkWorld(), public("/report.pdf")
	ask.IdempotencyKey, ask.Link.Password = "key", filehost.NewSecret("chosen-secret")
	w.attachLinks(t, ask)
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		assert.Equal(t, json.Valid(value), filehost.StoresPlain(key), key)
		assert.LessOrEqual(t, len(key), 50, key)
	}
}

// sweeping lets another node do what is due while a request is about to make its second link, after some time.
func (w *world) sweeping(t *testing.T, after time.Duration) {
	node := filehost.New(w.Config)
	creates := 0
	w.shares.Fail(func(call string) error {
		if call != "create" {
			return nil
		}
		if creates++; creates == 1 {
			w.clock.Advance(10 * time.Minute)
			return nil
		}
		w.clock.Advance(after)
		return errSweep
	})
	w.sweep = func() { node.DoDue(t.Context(), "") }
}

var errSweep = errors.New("sweep")

// sweeper is a host whose second link is made when another node has done what is due.
type sweeper struct {
	filehost.Remote
	w *world
}

func (s sweeper) CreateLink(ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish filehost.LinkWish) (filehost.HostShare, bool, error) {
	link, reused, err := s.Remote.CreateLink(ctx, credential, entry, wish)
	if errors.Is(err, errSweep) {
		s.w.shares.Fail(s.w.failing)
		s.w.sweep()
		s.w.shares.Fail(nil)
		return s.Remote.CreateLink(ctx, credential, entry, wish)
	}
	return link, reused, err
}

func TestTheLinksOfALiveRequestAreLeftAlone(t *testing.T) {
	w := linkWorld()
	w.sweeping(t, 6*time.Minute)
	w.Remote = sweeper{w.Remote, w}
	attached := w.attachLinks(t, public("/report.pdf", "/folder"))
	assert.Len(t, w.shares.Made(), 2)
	assert.Len(t, w.card(t, attached.PostID).Items, 2)
}

// TestARequestThatIsTooSlowPostsNothing: another has begun to end its links, and could not end them yet.
func TestARequestThatIsTooSlowPostsNothing(t *testing.T) {
	for _, removable := range []bool{true, false} {
		w := linkWorld()
		w.sweeping(t, time.Hour)
		w.Remote = sweeper{w.Remote, w}
		if !removable {
			w.failing = func(call string) error {
				if call == "remove" {
					return filehost.E(filehost.HostUnavailable, "Down.", nil)
				}
				return nil
			}
		}
		_, err := w.Attach(t.Context(), alice, public("/report.pdf", "/folder"))
		require.Error(t, err)
		assert.Empty(t, w.mattermost.Posts())
		w.clock.Advance(time.Hour)
		w.DoDue(t.Context(), "")
		assert.Empty(t, w.shares.Made())
		assert.NotContains(t, w.stored(t), "hold_")
	}
}

func TestALinkWhosePostWasDeletedBeforeItWasRememberedEndsIfItWasTo(t *testing.T) {
	for _, with := range []bool{true, false} {
		w, ask := linkWorld(), public("/report.pdf")
		ask.Link.RemoveWithPost = with
		w.mattermost.LosePosts(func(carry func(files int)) { carry(0) })
		w.mattermost.FailFinds(errors.New("no answer"))
		_, err := w.Attach(t.Context(), alice, ask)
		require.Error(t, err)
		w.mattermost.DeletePost(w.mattermost.PostIDs()[0])
		w.mattermost.FailFinds(nil)
		w.clock.Advance(time.Hour)
		w.DoDue(t.Context(), "")
		assert.Equal(t, !with, len(w.shares.Made()) == 1)
		assert.NotContains(t, w.stored(t), "hold_")
	}
}

func TestWhetherThereIsAPostIsWaitedForAndMayNeverBeTold(t *testing.T) {
	w := linkWorld()
	w.mattermost.LosePosts(func(func(files int)) {})
	_, err := w.Attach(t.Context(), alice, public("/report.pdf"))
	require.Error(t, err)
	w.clock.Advance(4 * time.Minute)
	w.DoDue(t.Context(), "")
	assert.Len(t, w.shares.Made(), 1, "the server may still be at it")
	w.mattermost.FailFinds(filehost.E(filehost.Conflict, "Too many posts.", nil))
	w.clock.Advance(2 * time.Minute)
	w.DoDue(t.Context(), "")
	assert.Len(t, w.shares.Made(), 1, "somebody may be using it")
	assert.NotContains(t, w.stored(t), "hold_")
	assert.Contains(t, w.log.String(), "can't be told any more")
}

func TestAnAddressOfTheHostsEndsNoLink(t *testing.T) {
	w := linkWorld()
	w.shares.At("https://cloud.example.com/(s)/")
	w.attachLinks(t, public("/report.pdf"))
	assert.Contains(t, w.mattermost.Posts()[0].Message, "(https://cloud.example.com/%28s%29/share1) ")
}

func TestLinksWithoutAPostAreGivenUpAfterThirtyDaysToo(t *testing.T) {
	w := linkWorld()
	w.mattermost.FailPosts(filehost.E(filehost.Forbidden, "No.", nil))
	w.shares.Fail(func(call string) error {
		if call == "remove" {
			return filehost.E(filehost.HostUnavailable, "Down.", nil)
		}
		return nil
	})
	_, err := w.Attach(t.Context(), alice, public("/report.pdf"))
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "why it was not posted")
	for range 29 {
		w.DoDue(t.Context(), "")
		w.clock.Advance(24 * time.Hour)
	}
	assert.Contains(t, w.stored(t), "hold_")
	for range 3 {
		w.DoDue(t.Context(), "")
		w.clock.Advance(24 * time.Hour)
	}
	assert.NotContains(t, w.stored(t), "hold_")
	assert.NotContains(t, w.stored(t), "todo_")
	assert.Contains(t, w.log.String(), "were not removed")
}

func TestTheTopFolderIsCalledAsItsHost(t *testing.T) {
	w := linkWorld()
	w.linkable("/")
	attached := w.attachLinks(t, internal("/"))
	assert.Equal(t, "Cloud", attached.Items[0].Name)
	assert.Contains(t, w.mattermost.Posts()[0].Message, "[`Cloud`](https://cloud.example.com/f/) · folder")
}

// TestATaskIsOneNodesAtATime: the other reads a replica that doesn't show yet that somebody is at it.
func TestATaskIsOneNodesAtATime(t *testing.T) {
	w := linkWorld()
	w.leaveALink(t)
	w.tokens.Connect(alice)
	config := w.Config
	config.KV = w.kv.Replica(2)
	late := filehost.New(config)
	late.DoDue(t.Context(), "") // nothing is due, but it has read all
	removes := 0
	w.shares.Fail(func(call string) error {
		if call != "remove" {
			return nil
		}
		removes++
		return filehost.E(filehost.HostUnavailable, "Down.", nil)
	})
	w.clock.Advance(2 * time.Minute)
	w.DoDue(t.Context(), "")
	late.DoDue(t.Context(), "")
	assert.Equal(t, 1, removes)
}

func TestWhatIsToBeLookedAfterIsBounded(t *testing.T) {
	w := linkWorld()
	var tasks []string
	for i := range 500 {
		tasks = append(tasks, fmt.Sprintf(`{"kind":"hold","id":"%d","user":"bob","due":"2027-01-01T00:00:00Z"}`, i))
	}
	for shelf := range 16 {
		w.kv.Put(fmt.Sprintf("todo_%x", shelf), []byte("["+strings.Join(tasks, ",")+"]"))
	}
	_, err := w.Attach(t.Context(), alice, public("/report.pdf"))
	assert.Equal(t, filehost.RateLimited, filehost.KindOf(err))
	assert.Empty(t, w.shares.Made())
}

func TestAKeyBelongsToLinksAsTheyWereAskedFor(t *testing.T) {
	w, ask := linkWorld(), public("/report.pdf")
	ask.IdempotencyKey, ask.Link.Password = "key", filehost.NewSecret("one")
	w.attachLinks(t, ask)
	for name, change := range map[string]func(*filehost.Attachment){
		"a copy":           func(a *filehost.Attachment) { a.Link = nil },
		"another password": func(a *filehost.Attachment) { a.Link.Password = filehost.NewSecret("two") },
		"to edit":          func(a *filehost.Attachment) { a.Link.Permission = filehost.MayEdit },
		"another end":      func(a *filehost.Attachment) { a.Link.ExpiresAt = noon.Add(time.Hour) },
	} {
		other, link := ask, *ask.Link
		other.Link = &link
		change(&other)
		_, err := w.Attach(t.Context(), alice, other)
		assert.Equal(t, filehost.KeyReused, filehost.KindOf(err), name)
	}
}
