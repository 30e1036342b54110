package suite

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// sharing is a host with public links and shares.
type sharing interface {
	Shares(user string) []doubles.Share
	SetLinkRules(rules doubles.LinkRules)
}

// sharingHost is the suite's host; ok is false for one that shares nothing, for which links are refused by name.
func sharingHost(t *testing.T) (host sharing, ok bool) {
	t.Helper()
	if host, ok = site.Host.(sharing); ok {
		return host, true
	}
	for _, audience := range []string{"internal", "public"} {
		_, err := site.Plugin(site.User).Attach(t.Context(), links(audience, site.ChannelID, "/Welcome.txt"))
		if problem := wantProblem(t, err, "unsupported", 422); problem.Details["field"] != "link.audience" {
			t.Errorf("details are %v", problem.Details)
		}
	}
	return nil, false
}

func links(audience, channelID string, paths ...string) api.Attachment {
	asked := copies(paths...)
	asked.As, asked.ChannelID, asked.Link = "link", channelID, &api.LinkRequest{Audience: audience}
	return asked
}

// publicShares are the links to one of alice's files.
func publicShares(host sharing, path string) []doubles.Share {
	return slices.DeleteFunc(host.Shares("alice"), func(share doubles.Share) bool { return !share.Public || !strings.HasSuffix(share.Path, path) })
}

// cardOf is a post as Mattermost has it.
func cardOf(t *testing.T, postID string) (message, kind string, props map[string]any) {
	t.Helper()
	var p struct {
		Message string
		Type    string
		Props   map[string]any
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/posts/"+postID, &p))
	return p.Message, p.Type, p.Props
}

// TestLinks posts an internal link and a public one, and shows who learns what of them.
func TestLinks(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	member, stranger := newAccount(t), newAccount(t)
	channel := newChannel(t, site.User, member)
	client, path := site.Plugin(site.User), addFile(t, []byte("linked"))
	internal, err := client.Attach(t.Context(), links("internal", channel, path))
	must(t, err)
	asked := links("public", channel, path, "/not there", newTree(t, "a.txt"))
	asked.Message, asked.Link.ExpiresAt = "look at **this**", time.Now().Add(10*24*time.Hour).UTC().Format(time.RFC3339)
	host.SetLinkRules(doubles.LinkRules{Password: true})
	defer host.SetLinkRules(doubles.LinkRules{})
	public, err := client.Attach(t.Context(), asked)
	must(t, err)
	if problem := public.Items[1].Error; problem == nil || problem.Code != "not_found" {
		t.Errorf("an item that is not there: %+v", public.Items[1])
	}
	for i, item := range []*api.Link{internal.Items[0].Link, public.Items[0].Link, public.Items[2].Link} {
		if item == nil || !strings.HasPrefix(item.URL, "http") {
			t.Fatalf("link %d is %+v", i, item)
		}
	}
	shares := publicShares(host, path)
	if link := public.Items[0].Link; len(shares) != 1 || len(link.Password) != 24 || !link.PasswordSet || link.ExpiresAt == nil || shares[0].Ends.IsZero() {
		t.Fatalf("the host has %+v, the answer %+v", shares, link)
	}
	message, kind, props := cardOf(t, public.PostID)
	if kind != "custom_filehost_card" || !strings.HasPrefix(message, "look at **this**\n\n[`") || !strings.Contains(message, "password needed") ||
		strings.Contains(message, public.Items[0].Link.Password) || !strings.Contains(message, public.Items[0].Link.URL) {
		t.Errorf("a %s with %v says %s", kind, props, message)
	}
	if message, _, _ := cardOf(t, internal.PostID); !strings.Contains(message, internal.Items[0].Link.URL) {
		t.Errorf("the internal link says %s", message)
	}
	card, err := site.Plugin(member).Card(t.Context(), public.PostID)
	must(t, err)
	if len(card.Items) != 2 || card.Items[0].Link.URL != public.Items[0].Link.URL || card.Items[1].Kind != "folder" || card.Items[0].Link.Password != "" {
		t.Errorf("a member sees %+v", card)
	}
	_, err = site.Plugin(stranger).Card(t.Context(), public.PostID)
	wantProblem(t, err, "not_found", 404)
	var forged struct{ ID string }
	must(t, member.Post(t.Context(), "/api/v4/posts", map[string]any{"channel_id": channel, "message": message, "type": kind, "props": props}, &forged))
	_, err = site.Plugin(member).Card(t.Context(), forged.ID)
	wantProblem(t, err, "not_found", 404)
}

// TestALinkIsChangedAndRevokedByItsUser also on another node.
func TestALinkIsChangedAndRevokedByItsUser(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	other := newConnected(t, "bob")
	channel := newChannel(t, site.User, other)
	path := addFile(t, []byte("linked"))
	client, node := site.Plugin(site.User), secondNode(t).Plugin(site.User)
	attached, err := client.Attach(t.Context(), links("public", channel, path))
	must(t, err)
	id := attached.Items[0].Link.ID
	listed, err := node.Links(t.Context(), channel)
	must(t, err)
	if len(listed) != 1 || listed[0].ID != id || listed[0].State != "active" {
		t.Fatalf("the other node lists %+v", listed)
	}
	if others, err := site.Plugin(other).Links(t.Context(), channel); err != nil || len(others) != 0 {
		t.Errorf("another user is shown %+v, %v", others, err)
	}
	_, err = site.Plugin(other).ChangeLink(t.Context(), id, map[string]string{"permission": "edit"})
	wantProblem(t, err, "not_found", 404)
	wantProblem(t, site.Plugin(other).RevokeLink(t.Context(), id), "not_found", 404)
	changed, err := node.ChangeLink(t.Context(), id, map[string]string{
		"permission": "edit", "password": "Correct-Horse-7", "expires_at": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)})
	must(t, err)
	may := "edit"
	if site.Host.Traits().Kind == "owncloud" {
		may = "view" // nobody edits a single file there by a link
	}
	if changed.Link.Permission != may || !changed.Link.PasswordSet || changed.Link.ExpiresAt == nil {
		t.Errorf("changed to %+v", changed.Link)
	}
	if shares := publicShares(host, path); len(shares) != 1 || shares[0].Password != "Correct-Horse-7" {
		t.Errorf("the host has %+v", shares)
	}
	eventually(t, "the post tells so", func() bool {
		message, _, _ := cardOf(t, attached.PostID)
		return strings.Contains(message, "may "+may+" it until") && strings.Contains(message, "password needed")
	})
	must(t, node.RevokeLink(t.Context(), id))
	if shares := publicShares(host, path); len(shares) != 0 {
		t.Errorf("the host has %+v", shares)
	}
	eventually(t, "the post tells that too", func() bool {
		message, _, _ := cardOf(t, attached.PostID)
		return strings.Contains(message, "the link was revoked") && !strings.Contains(message, attached.Items[0].Link.URL)
	})
	wantProblem(t, client.RevokeLink(t.Context(), id), "not_found", 404)
}

// TestALinkGoesWithItsPost deletes posts as their user, as an admin, and with the thread that they are in, on either node,
// and one while the user is not connected.
func TestALinkGoesWithItsPost(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	account := newConnected(t, "alice")
	channel := newChannel(t, account)
	client := site.Plugin(account)
	var root struct{ ID string }
	must(t, account.Post(t.Context(), "/api/v4/posts", map[string]any{"channel_id": channel, "message": "root"}, &root))
	for name, test := range map[string]struct {
		root   string
		delete func(postID string) error
	}{
		"by its user": {delete: func(id string) error { return account.Delete(t.Context(), "/api/v4/posts/"+id) }},
		"by an admin on another node": {delete: func(id string) error {
			return rest.New(secondNode(t).Mattermost.URL, site.Admin.Token).Delete(t.Context(), "/api/v4/posts/"+id)
		}},
		"with its thread": {root: root.ID, delete: func(string) error { return account.Delete(t.Context(), "/api/v4/posts/"+root.ID) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := addFile(t, []byte("linked"))
			asked := links("public", channel, path)
			asked.RootID, asked.Link.RemoveWithPost = test.root, true
			attached, err := client.Attach(t.Context(), asked)
			must(t, err)
			if len(publicShares(host, path)) != 1 {
				t.Fatal("there is no link")
			}
			must(t, test.delete(attached.PostID))
			eventually(t, "the link is gone", func() bool { return len(publicShares(host, path)) == 0 })
		})
	}

	path := addFile(t, []byte("linked"))
	asked := links("public", channel, path)
	asked.Link.RemoveWithPost = true
	attached, err := client.Attach(t.Context(), asked)
	must(t, err)
	must(t, client.Disconnect(t.Context()))
	must(t, account.Delete(t.Context(), "/api/v4/posts/"+attached.PostID))
	eventually(t, "it is listed as one to be removed", func() bool {
		listed, err := client.Links(t.Context(), channel)
		return err == nil && len(listed) == 1 && listed[0].State == "removing"
	})
	must(t, site.Connect(t.Context(), account, "alice"))
	eventuallyWithin(t, 3*time.Minute, "it goes when he has connected again", func() bool { return len(publicShares(host, path)) == 0 })
}

// TestWhoCanOpenALink asks before posting, and lets a member in who can't.
func TestWhoCanOpenALink(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	bob, nobody := newConnected(t, "bob"), newAccount(t)
	channel := newChannel(t, site.User, bob, nobody)
	client, path := site.Plugin(site.User), addFile(t, []byte("linked"))
	asked := links("internal", channel, path)
	asked.DryRun = true
	access := func() (map[string]string, []string) {
		rehearsed, err := client.Attach(t.Context(), asked)
		must(t, err)
		reach := map[string]string{}
		for _, member := range rehearsed.Audience.Members {
			reach[member.UserID] = member.Access
		}
		return reach, rehearsed.Audience.Offers
	}
	reach, offers := access()
	if reach[site.User.ID] != "can" || reach[bob.ID] != "cannot" || reach[nobody.ID] != "unknown" || !slices.Equal(offers, []string{"copy", "public", "grant"}) {
		t.Errorf("before: %v, %v", reach, offers)
	}
	asked.DryRun, asked.Link.GrantTo = false, []string{bob.ID, nobody.ID}
	attached, err := client.Attach(t.Context(), asked)
	must(t, err)
	if grants := attached.Grants; len(grants) != 2 || grants[0].Result != "granted" || grants[1].Result != "failed" || grants[1].Error.Code != "forbidden" {
		t.Errorf("grants are %+v", grants)
	}
	if !slices.ContainsFunc(host.Shares("alice"), func(share doubles.Share) bool { return share.With == "bob" && strings.HasSuffix(share.Path, path) }) {
		t.Errorf("the host has %+v", host.Shares("alice"))
	}
	asked.DryRun = true
	if reach, _ = access(); reach[bob.ID] != "can" {
		t.Errorf("after: %v", reach)
	}
}

// TestLinksOnceAcrossNodes sends one request to two nodes at once, and again.
func TestLinksOnceAcrossNodes(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	path := addFile(t, []byte("linked"))
	asked, key := links("public", newChannel(t, site.User), path), newKey()
	asked.Link.Password = "Correct-Horse-7"
	answers := make(chan error, 20)
	clients := []api.Client{site.Plugin(site.User), secondNode(t).Plugin(site.User)}
	for i := range cap(answers) {
		go func() {
			_, err := clients[i%2].AttachOnce(t.Context(), key, asked)
			answers <- err
		}()
	}
	for range cap(answers) {
		if err := <-answers; err != nil {
			wantConflict(t, err)
		}
	}
	attached := attachOnce(t, clients[1], key, asked)
	wantSame(t, attached, attachOnce(t, clients[0], key, asked))
	if shares := publicShares(host, path); len(shares) != 1 {
		t.Errorf("the host has %+v", shares)
	}
	if cards := cardsIn(t, asked.ChannelID); len(cards) != 1 || cards[0] != attached.PostID {
		t.Errorf("the channel has %v", cards)
	}
}

// cardsIn are the posts with links in a channel.
func cardsIn(t *testing.T, channelID string) (ids []string) {
	t.Helper()
	var list struct {
		Posts map[string]struct{ ID, Type string }
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+channelID+"/posts", &list))
	for _, p := range list.Posts {
		if p.Type == "custom_filehost_card" {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// TestNoPasswordOfALinkIsKept repeats a request for which the plugin has chosen a password.
func TestNoPasswordOfALinkIsKept(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	host.SetLinkRules(doubles.LinkRules{Password: true})
	defer host.SetLinkRules(doubles.LinkRules{})
	key := newKey()
	asked := links("public", newChannel(t, site.User), addFile(t, []byte("linked")))
	first := attachOnce(t, site.Plugin(site.User), key, asked)
	password := first.Items[0].Link.Password
	if password == "" {
		t.Fatalf("no password was chosen: %+v", first.Items[0].Link)
	}
	again := attachOnce(t, site.Plugin(site.User), key, asked)
	if link := again.Items[0].Link; link.Password != "" || !link.PasswordSet || link.URL != first.Items[0].Link.URL {
		t.Errorf("the same request again is answered %+v", link)
	}
	encoded, err := json.Marshal(again)
	must(t, err)
	if strings.Contains(string(encoded), password) {
		t.Error("the password is told twice")
	}
}
