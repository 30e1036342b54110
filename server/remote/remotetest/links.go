package remotetest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// linkPassword is one that hosts take which are particular.
const linkPassword = "Conformance-1!x"

// sharesNothing holds a host without shares to that.
func (s *suite) sharesNothing(entry filehost.Entry) bool {
	if s.remote.Capabilities(s.Context(), s.host.Credential).Links.Public {
		return false
	}
	_, _, err := s.remote.CreateLink(s.Context(), s.host.Credential, entry, filehost.LinkWish{Permission: filehost.MayView})
	s.wantKind(filehost.Unsupported, err, "a link")
	_, err = s.remote.Access(s.Context(), s.host.Credential, entry)
	s.wantKind(filehost.Unsupported, err, "who may open it")
	_, err = s.remote.Invite(s.Context(), s.host.Credential, entry, "bob", filehost.MayView)
	s.wantKind(filehost.Unsupported, err, "an invitation")
	s.wantKind(filehost.Unsupported, s.remote.RemoveShare(s.Context(), s.host.Credential, entry, "1"), "the end of one")
	return true
}

// links: a public link is what was asked for or less; it is found, changed and ended by who has made it.
func (s *suite) links() {
	s.write(s.at("file.txt"), "content")
	s.write(s.at("other.txt"), "content")
	entry, other := s.stat(s.at("file.txt")), s.stat(s.at("other.txt"))
	if s.sharesNothing(entry) {
		return
	}
	policy, err := s.remote.LinkPolicy(s.Context(), s.host.Credential)
	require.NoError(s, err)
	s.limit("a link needs a password", s.host.Limits.LinkPassword, policy.PasswordRequired)
	wish := filehost.LinkWish{Permission: filehost.MayView, Label: "Mattermost"}
	if policy.PasswordRequired {
		_, _, err := s.remote.CreateLink(s.Context(), s.host.Credential, entry, wish)
		s.wantKind(filehost.InvalidRequest, err, "no password")
		wish.Password = filehost.NewSecret(linkPassword)
	}
	link := s.link(entry, wish)
	assert.Equal(s, "Mattermost", link.Label)
	again, reused, err := s.remote.CreateLink(s.Context(), s.host.Credential, entry, wish)
	require.NoError(s, err)
	assert.Equal(s, wish.Password.IsEmpty(), reused, "nobody knows the password of another link")
	assert.Equal(s, reused, again.ID == link.ID)

	found, err := s.remote.ShareOf(s.Context(), s.host.Credential, entry, link.ID)
	require.NoError(s, err)
	assert.Equal(s, link, found)
	_, err = s.remote.ShareOf(s.Context(), s.host.Credential, other, link.ID)
	s.wantKind(filehost.NotFound, err, "the share of another entry")
	s.changeLink(entry, link)

	require.NoError(s, s.remote.RemoveShare(s.Context(), s.host.Credential, entry, link.ID))
	require.NoError(s, s.remote.RemoveShare(s.Context(), s.host.Credential, entry, link.ID), "it has ended already")
	_, err = s.remote.ShareOf(s.Context(), s.host.Credential, entry, link.ID)
	s.wantKind(filehost.NotFound, err, "it has ended")
	s.remove(s.at("other.txt"))
	_, _, err = s.remote.CreateLink(s.Context(), s.host.Credential, other, wish)
	s.wantKind(filehost.NotFound, err, "a link to what is gone")
}

// link makes a link and holds the host's answer to what was asked for.
func (s *suite) link(entry filehost.Entry, wish filehost.LinkWish) filehost.HostShare {
	s.Helper()
	link, reused, err := s.remote.CreateLink(s.Context(), s.host.Credential, entry, wish)
	require.NoError(s, err)
	assert.False(s, reused)
	assert.NotEmpty(s, link.ID)
	assert.Regexp(s, `^https?://.*/s/[A-Za-z0-9]+$`, link.URL)
	assert.Equal(s, filehost.WithAnyone, link.With)
	assert.Equal(s, wish.Permission, link.Permission)
	assert.Equal(s, !wish.Password.IsEmpty(), link.Password)
	assert.Empty(s, link.Account)
	if !wish.ExpiresAt.IsZero() {
		assert.False(s, link.ExpiresAt.After(wish.ExpiresAt), "%v", link.ExpiresAt)
		assert.WithinDuration(s, wish.ExpiresAt, link.ExpiresAt, 24*time.Hour)
	}
	return link
}

// changeLink: the end, the password and the permission of a link change, and nothing else does.
func (s *suite) changeLink(entry filehost.Entry, link filehost.HostShare) {
	s.Helper()
	ends, password := time.Now().AddDate(0, 0, 5), filehost.NewSecret(linkPassword)
	changed, err := s.remote.ChangeShare(s.Context(), s.host.Credential, entry, link.ID, filehost.ShareChange{ExpiresAt: &ends, Password: &password})
	require.NoError(s, err)
	want := link
	want.Password, want.ExpiresAt = true, changed.ExpiresAt
	assert.Equal(s, want, changed)
	assert.False(s, changed.ExpiresAt.After(ends))
	assert.WithinDuration(s, ends, changed.ExpiresAt, 24*time.Hour)

	never := time.Time{}
	changed, err = s.remote.ChangeShare(s.Context(), s.host.Credential, entry, link.ID, filehost.ShareChange{ExpiresAt: &never})
	require.NoError(s, err)
	assert.Zero(s, changed.ExpiresAt)
	past := time.Now().Add(-time.Hour)
	_, err = s.remote.ChangeShare(s.Context(), s.host.Credential, entry, link.ID, filehost.ShareChange{ExpiresAt: &past})
	s.wantKind(filehost.InvalidRequest, err, "an end that is over")
}

// linkLimits: ends, permissions to edit, and what the host doesn't take.
func (s *suite) linkLimits() {
	s.write(s.at("folder.txt"), "content")
	s.write(s.at("file.txt"), "content")
	folder, entry := s.stat(s.folder(s.at("folder"))), s.stat(s.at("file.txt"))
	if s.sharesNothing(entry) {
		return
	}
	strong := filehost.NewSecret(linkPassword)
	ends := time.Now().AddDate(0, 0, 5)
	s.link(entry, filehost.LinkWish{Permission: filehost.MayView, Password: strong, ExpiresAt: ends})
	edit := s.link(folder, filehost.LinkWish{Permission: filehost.MayEdit, Password: strong})
	view := filehost.MayView
	less, err := s.remote.ChangeShare(s.Context(), s.host.Credential, folder, edit.ID, filehost.ShareChange{Permission: &view})
	require.NoError(s, err)
	assert.Equal(s, filehost.MayView, less.Permission)
	assert.True(s, less.Password)

	file, _, err := s.remote.CreateLink(s.Context(), s.host.Credential, entry, filehost.LinkWish{Permission: filehost.MayEdit, Password: strong})
	require.NoError(s, err)
	s.limit("a link to edit a file", !s.host.Limits.NoFileEdits, file.Permission == filehost.MayEdit)
	_, _, err = s.remote.CreateLink(s.Context(), s.host.Credential, entry, filehost.LinkWish{Permission: filehost.MayView, ExpiresAt: time.Now()})
	s.wantKind(filehost.InvalidRequest, err, "it ends at once")

	reader := s.host.Credential
	reader.ReadOnly = true
	assert.False(s, s.remote.Capabilities(s.Context(), reader).Links.Public)
	_, _, err = s.remote.CreateLink(s.Context(), reader, entry, filehost.LinkWish{Permission: filehost.MayView, Password: strong})
	s.wantKind(filehost.Forbidden, err, "who may only read makes no link")
}

// invitations: an entry is shared with one user of the host, and with no other.
func (s *suite) invitations() {
	s.write(s.at("file.txt"), "content")
	entry := s.stat(s.at("file.txt"))
	if s.sharesNothing(entry) || s.host.Guest == "" {
		return
	}
	share, err := s.remote.Invite(s.Context(), s.host.Credential, entry, s.host.Guest, filehost.MayView)
	require.NoError(s, err)
	assert.NotEmpty(s, share.ID)
	assert.Equal(s, filehost.WithUser, share.With)
	assert.Equal(s, s.host.Guest, share.Account)
	assert.Equal(s, filehost.MayView, share.Permission)
	again, err := s.remote.Invite(s.Context(), s.host.Credential, entry, s.host.Guest, filehost.MayView)
	require.NoError(s, err)
	assert.Equal(s, share, again, "he is invited already")
	more, err := s.remote.Invite(s.Context(), s.host.Credential, entry, s.host.Guest, filehost.MayEdit)
	require.NoError(s, err)
	assert.Equal(s, filehost.MayEdit, more.Permission)
	assert.Equal(s, share.ID, more.ID)
	found, err := s.remote.ShareOf(s.Context(), s.host.Credential, entry, share.ID)
	require.NoError(s, err)
	assert.Equal(s, more, found)

	_, err = s.remote.Invite(s.Context(), s.host.Credential, entry, "nobody-of-this-name", filehost.MayView)
	assert.Contains(s, []filehost.Kind{filehost.NotFound, filehost.Forbidden}, filehost.KindOf(err), "%v", err)
	owner, err := s.remote.Invite(s.Context(), s.host.Credential, entry, s.host.Credential.Account, filehost.MayView)
	require.NoError(s, err)
	assert.Empty(s, owner.ID, "it is his own")
	require.NoError(s, s.remote.RemoveShare(s.Context(), s.host.Credential, entry, share.ID))
	access, err := s.remote.Access(s.Context(), s.host.Credential, entry)
	require.NoError(s, err)
	assert.Empty(s, access.Shares)
}

// access: who may open an entry is told by the shares of it and of the folders above it.
func (s *suite) access() {
	s.folder(s.at("above"))
	inner := s.folder(s.at("above", "inner"))
	s.write(s.at("above", "inner", "file.txt"), "content")
	file, above, folder := s.stat(s.at("above", "inner", "file.txt")), s.stat(s.at("above")), s.stat(inner)
	if s.sharesNothing(file) {
		return
	}
	access, err := s.remote.Access(s.Context(), s.host.Credential, file)
	require.NoError(s, err)
	assert.Equal(s, filehost.Access{Owner: s.host.Credential.Account, Complete: true}, access)
	link := s.link(above, filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret(linkPassword)})
	want := []filehost.HostShare{link}
	if s.host.Guest != "" {
		share, err := s.remote.Invite(s.Context(), s.host.Credential, folder, s.host.Guest, filehost.MayEdit)
		require.NoError(s, err)
		want = append(want, share)
		has, err := s.remote.Invite(s.Context(), s.host.Credential, file, s.host.Guest, filehost.MayView)
		require.NoError(s, err)
		assert.Equal(s, share, has, "he may open it by the folder above")
	}
	access, err = s.remote.Access(s.Context(), s.host.Credential, file)
	require.NoError(s, err)
	assert.ElementsMatch(s, want, access.Shares)
	assert.True(s, access.Complete)
	access, err = s.remote.Access(s.Context(), s.host.Credential, above)
	require.NoError(s, err)
	assert.Equal(s, []filehost.HostShare{link}, access.Shares, "a share of what is in a folder is none of the folder")
}
