package filehost_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// rehearse asks who could open links.
func (w *world) rehearse(t *testing.T, ask filehost.Attachment) filehost.Attached {
	t.Helper()
	ask.DryRun = true
	attached := w.attachLinks(t, ask)
	assert.Empty(t, w.mattermost.Posts())
	assert.Empty(t, w.shares.Made())
	return attached
}

func TestWhoCanOpenALink(t *testing.T) {
	withBob := filehost.HostShare{With: filehost.WithUser, Account: "bob-at-host", Permission: filehost.MayView}
	for name, test := range map[string]struct {
		access  filehost.Access
		failing bool
		world   func(*world)
		bob     filehost.Reach
		offers  []filehost.Offer
	}{
		"shared with him":            {access: filehost.Access{Shares: []filehost.HostShare{withBob}}, bob: filehost.Can, offers: []filehost.Offer{"copy", "public"}},
		"his own":                    {access: filehost.Access{Owner: "bob-at-host"}, bob: filehost.Can, offers: []filehost.Offer{"copy", "public"}},
		"with nobody":                {access: filehost.Access{Owner: "alice-at-host", Complete: true}, bob: filehost.Cannot, offers: []filehost.Offer{"copy", "public", "grant"}},
		"with nobody that is told":   {access: filehost.Access{Owner: "alice-at-host"}, bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public", "grant"}},
		"with a group":               {access: filehost.Access{Complete: true, Shares: []filehost.HostShare{{With: filehost.WithGroup, Account: "team"}}}, bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public", "grant"}},
		"with others":                {access: filehost.Access{Complete: true, Shares: []filehost.HostShare{{With: filehost.WithOthers}}}, bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public", "grant"}},
		"a group of his name":        {access: filehost.Access{Complete: true, Shares: []filehost.HostShare{{With: filehost.WithGroup, Account: "bob-at-host"}}}, bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public", "grant"}},
		"a public link is no access": {access: filehost.Access{Complete: true, Shares: []filehost.HostShare{{With: filehost.WithAnyone}}}, bob: filehost.Cannot, offers: []filehost.Offer{"copy", "public", "grant"}},
		"another account":            {access: filehost.Access{Complete: true, Shares: []filehost.HostShare{{With: filehost.WithUser, Account: "Bob-at-host"}}}, bob: filehost.Cannot, offers: []filehost.Offer{"copy", "public", "grant"}},
		"it can't be told":           {failing: true, bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public", "grant"}},
		"he is not connected": {access: filehost.Access{Complete: true}, world: func(w *world) { _ = w.tokens.Disconnect(context.Background(), bob) },
			bob: filehost.Unknown, offers: []filehost.Offer{"copy", "public"}},
		"it may not be shared": {access: filehost.Access{Complete: true}, world: func(w *world) {
			w.remote.Change("/report.pdf", func(e *filehost.Entry) { e.Permissions = []filehost.Permission{filehost.Read} })
		}, bob: filehost.Cannot, offers: []filehost.Offer{"copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := linkWorld()
			w.shares.Open("/report.pdf", test.access)
			if test.failing {
				w.shares.Fail(func(string) error { return filehost.E(filehost.HostUnavailable, "Down.", nil) })
			}
			if test.world != nil {
				test.world(w)
			}
			attached := w.rehearse(t, internal("/report.pdf"))
			reach := map[string]filehost.Reach{}
			for _, member := range attached.Audience.Members {
				reach[member.Username] = member.Reach
			}
			assert.Equal(t, filehost.Can, reach[alice], "who posts")
			assert.Equal(t, test.bob, reach[bob])
			assert.Equal(t, test.offers, attached.Audience.Offers)
			assert.False(t, attached.Audience.Password)
		})
	}
}

func TestAllOfTheLinksMustOpenAndAPublicOneDoesForEverybody(t *testing.T) {
	w := linkWorld()
	w.shares.Open("/report.pdf", filehost.Access{Owner: "bob-at-host"})
	w.shares.Open("/folder", filehost.Access{Owner: "alice-at-host", Complete: true})
	audience := w.rehearse(t, internal("/report.pdf", "/folder", "/missing")).Audience
	assert.Equal(t, bob, audience.Members[0].Username, "those who can't come first")
	assert.Equal(t, filehost.Cannot, audience.Members[0].Reach)
	assert.Equal(t, map[filehost.Reach]int{filehost.Can: 1, filehost.Cannot: 1, filehost.Unknown: 1}, audience.Counts)
	assert.NotContains(t, audience.Offers, filehost.OfferCopy, "nobody copies a folder")

	w.shares.Demand(filehost.Policy{PasswordRequired: true}, true)
	attached := w.rehearse(t, public("/report.pdf", "/folder"))
	assert.Equal(t, map[filehost.Reach]int{filehost.Can: 3}, attached.Audience.Counts)
	assert.True(t, attached.Audience.Password)
	assert.True(t, attached.Items[0].Link.Password)
	assert.True(t, attached.Items[0].Password.IsEmpty(), "none is chosen yet")
}

func TestAnAudienceIsBoundedAndForMembersOnly(t *testing.T) {
	w := linkWorld()
	users := []filehost.User{{ID: alice, Username: alice, Active: true}}
	for i := range 600 {
		users = append(users, filehost.User{ID: fmt.Sprintf("user%d", i), Username: fmt.Sprintf("user%d", i), Active: true})
	}
	w.mattermost = filehosttest.NewMattermost(users...)
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 16383 })
	w.Mattermost = w.mattermost
	audience := w.rehearse(t, internal("/report.pdf")).Audience
	assert.Len(t, audience.Members, 50)
	assert.True(t, audience.More)
	assert.Equal(t, 500, audience.Counts[filehost.Can]+audience.Counts[filehost.Cannot]+audience.Counts[filehost.Unknown])
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "You are not a member of this channel.", nil))
	ask := internal("/report.pdf")
	ask.DryRun = true
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
}

func TestGrantsAreForConnectedMembersOnly(t *testing.T) {
	w := linkWorld()
	w.tokens.Connect("gone")
	w.tokens.Connect("bot")
	w.tokens.Connect(admin)
	w.mattermost.Hide("channel", admin)
	_, err := w.mattermost.User(t.Context(), "inactive admin")
	require.NoError(t, err)
	w.shares.Open("/report.pdf", filehost.Access{Owner: "alice-at-host", Complete: true})
	ask := internal("/report.pdf")
	ask.Link.GrantTo = []string{bob, alice, "gone", "bot", admin, "stranger"}
	ask.DryRun = true
	dry := w.attachLinks(t, ask).Grants
	assert.Empty(t, w.shares.Made())
	ask.DryRun, ask.IdempotencyKey = false, "key"
	attached := w.attachLinks(t, ask)
	assert.Equal(t, results(dry), results(attached.Grants), "a dry run says what comes")
	assert.Equal(t, []string{"bob granted", "alice already", "gone failed invalid_request", "bot failed invalid_request", "admin failed invalid_request", "stranger failed invalid_request"}, results(attached.Grants))
	made := w.shares.Made()
	require.Len(t, made, 1)
	assert.Equal(t, "bob-at-host", made[0].Account)
	assert.Equal(t, results(attached.Grants), results(w.attachLinks(t, ask).Grants), "as often as it is asked")
	assert.Len(t, w.shares.Made(), 1)

	require.NoError(t, w.Disconnect(t.Context(), bob))
	ask.IdempotencyKey, ask.Link.GrantTo = "", []string{bob}
	assert.Equal(t, []string{"bob failed forbidden"}, results(w.attachLinks(t, ask).Grants))
}

func results(grants []filehost.Granted) []string {
	var all []string
	for _, grant := range grants {
		text := grant.UserID + " " + string(grant.Result)
		if grant.Err != nil {
			text += " " + filehost.KindOf(grant.Err).Code()
		}
		all = append(all, text)
	}
	return all
}

func TestWhoHasAccessAlreadyIsNotInvitedAgain(t *testing.T) {
	w, ask := linkWorld(), internal("/report.pdf")
	ask.Link.GrantTo = []string{bob}
	may := func(permission filehost.SharePermission) filehost.Access {
		return filehost.Access{Shares: []filehost.HostShare{{With: filehost.WithUser, Account: "bob-at-host", Permission: permission}}}
	}
	w.shares.Open("/report.pdf", may(filehost.MayView))
	assert.Equal(t, []string{"bob already"}, results(w.attachLinks(t, ask).Grants))
	ask.Link.Permission = filehost.MayEdit
	assert.Equal(t, []string{"bob granted"}, results(w.attachLinks(t, ask).Grants), "he may view only")
	w.shares.Open("/report.pdf", may(filehost.MayEdit))
	ask.Link.Permission = filehost.MayView
	assert.Equal(t, []string{"bob already"}, results(w.attachLinks(t, ask).Grants))
	assert.Len(t, w.shares.Made(), 1)
}

func TestNobodyIsInvitedToWhatHePosts(t *testing.T) {
	w, ask := linkWorld(), internal("/report.pdf")
	w.shares.Open("/report.pdf", filehost.Access{}) // a space has no owner, and the host may not name him
	ask.Link.GrantTo = []string{alice}
	assert.Equal(t, []string{"alice already"}, results(w.attachLinks(t, ask).Grants))
	assert.Empty(t, w.shares.Made())
}

func TestAHostThatMakesNoMoreSharesIsNotAskedForTheOthers(t *testing.T) {
	w, ask := linkWorld(), internal("/report.pdf")
	for _, user := range []string{admin, "bob"} {
		w.tokens.Connect(user)
	}
	ask.Link.GrantTo = []string{bob, admin}
	invites := 0
	w.shares.Fail(func(call string) error {
		if call == "invite" {
			invites++
			return filehost.E(filehost.RateLimited, "Too many shares.", nil)
		}
		return nil
	})
	attached := w.attachLinks(t, ask)
	assert.NotEmpty(t, attached.PostID)
	assert.Equal(t, []string{"bob failed rate_limited", "admin failed rate_limited"}, results(attached.Grants))
	assert.Equal(t, 1, invites)
}

func TestLinksAndGrantsByAccessOfNobodysOwnAreInTheAuditLog(t *testing.T) {
	w, ask := linkWorld(), internal("/report.pdf")
	w.tokens.Grant = "token_exchange"
	ask.Link.GrantTo = []string{bob}
	w.attachLinks(t, ask)
	postAsk := public("/report.pdf")
	w.attachLinks(t, postAsk)
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	edit := filehost.MayEdit
	_, err = w.ChangeLink(t.Context(), alice, links[0].ID, filehost.LinkChange{Permission: &edit})
	require.NoError(t, err)
	require.NoError(t, w.RevokeLink(t.Context(), alice, links[0].ID))
	var seen []string
	for _, event := range w.audit.Events() {
		seen = append(seen, fmt.Sprint(event.Action, " ", event.Outcome, " ", event.TargetUserID))
	}
	assert.Equal(t, []string{
		"link_files attempt ", "grant_access attempt bob", "grant_access success bob", "link_files success ",
		"link_files attempt ", "link_files success ", "change_link attempt ", "change_link success ", "remove_link attempt ", "remove_link success ",
	}, seen)
}
