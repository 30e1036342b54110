package remotetest

import (
	"cmp"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// health: the host is recognised without any credential.
func (s *suite) health() { assert.NoError(s, s.remote.Check(s.Context())) }

func (s *suite) account() {
	account, err := s.remote.Account(s.Context(), s.host.Credential)
	require.NoError(s, err)
	assert.Equal(s, cmp.Or(s.host.Credential.Account, s.host.Credential.Username), account)

	nobody := s.host.Credential
	nobody.Account = ""
	_, err = s.remote.Stat(s.Context(), nobody, s.top)
	if s.host.Credential.Account == "" || s.remote.Capabilities(s.Context(), nobody).Spaces { // no path has it
		assert.NoError(s, err)
		return
	}
	s.wantKind(filehost.NotConnected, err, "without an account there is no path")
}

func (s *suite) absent() {
	gone := s.at("gone.txt")
	s.write(gone, "here")
	entry := s.stat(gone)
	s.remove(gone)
	s.wantKind(filehost.NotFound, s.openError(s.host.Credential, entry), "read after it went")
	for what, path := range map[string]filehost.Path{"file": gone, "deeper": s.at("none", "at all")} {
		_, err := s.remote.Stat(s.Context(), s.host.Credential, path)
		s.wantKind(filehost.NotFound, err, what)
		s.wantKind(filehost.NotFound, s.listError(s.Context(), s.host.Credential, path), what)
	}
	s.write(gone, "here again")
	_, err := s.remote.Stat(s.Context(), s.host.Credential, child(s.T, gone, "below"))
	s.wantKind(filehost.NotFound, err, "below a file")
	s.wantKind(filehost.NotFound, s.listError(s.Context(), s.host.Credential, child(s.T, gone, "below")), "below a file")
	assert.Equal(s, "here again", string(s.read(s.stat(gone))))
}

// forbidden: a stranger's files, and what the server itself may not read.
func (s *suite) forbidden() {
	if s.host.Stranger != "" {
		stranger := s.host.Credential
		stranger.Account = s.host.Stranger
		_, err := s.remote.Stat(s.Context(), stranger, filehost.Root)
		s.wantRefused(s.host.Limits.Foreign, err, "a stranger's folder")
		s.wantRefused(s.host.Limits.Foreign, s.listError(s.Context(), stranger, filehost.Root), "a stranger's folder is listed")
	}
	if s.host.Forbid == nil {
		return
	}
	closed := s.folder(s.at("closed"))
	s.write(s.at("closed", "file.txt"), "secret")
	entry := s.stat(s.at("closed", "file.txt"))
	require.NoError(s, s.host.Forbid(closed))
	s.wantKind(s.host.Limits.Forbidden, s.listError(s.Context(), s.host.Credential, closed), "the folder is listed")
	assert.Error(s, s.openError(s.host.Credential, entry), "a file in it is read")
}

// wantRefused wants this refusal of a host that is known, and any of another.
func (s *suite) wantRefused(want filehost.Kind, err error, what string) {
	s.Helper()
	if !s.host.Known {
		assert.Contains(s, []filehost.Kind{filehost.Forbidden, filehost.NotFound}, filehost.KindOf(err), "%s: %v", what, err)
		return
	}
	s.wantKind(want, err, what)
}

// wrongCredential: who is not let in is told so, whatever he asks for.
func (s *suite) wrongCredential() {
	s.write(s.at("file.txt"), "content")
	entry := s.stat(s.at("file.txt"))
	password, token := s.host.Credential, s.host.Credential
	password.Secret = filehost.NewSecret("not the password")
	token.Scheme, token.Secret = filehost.Bearer, filehost.NewSecret("not-a-token")
	for what, wrong := range map[string]filehost.Credential{"a wrong password": password, "an unknown token": token} {
		_, err := s.remote.Stat(s.Context(), wrong, s.top)
		s.wantKind(filehost.CredentialRejected, err, what)
		s.wantKind(filehost.CredentialRejected, s.listError(s.Context(), wrong, s.top), what)
		s.wantKind(filehost.CredentialRejected, s.openError(wrong, entry), what)
		_, err = s.remote.Account(s.Context(), wrong)
		s.wantKind(filehost.CredentialRejected, err, what)
	}
}

// capabilities: a client shows what these say, and no more.
func (s *suite) capabilities() {
	s.limit("capabilities", s.host.Limits.Capabilities, s.remote.Capabilities(s.Context(), s.host.Credential))
}
