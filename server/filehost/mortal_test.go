package filehost_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// errDead is what the calls of a process meet that has died. Nobody hears of it.
var errDead = errors.New("dead")

// mortal is a process that dies at one of its calls of a port: before that has an effect, or after it and before its
// answer. What it calls from then on has no effect.
type mortal struct {
	at    int // the first call is 1; 0 = never
	after bool

	mu    sync.Mutex
	calls int
	dead  bool
}

func (m *mortal) call(effect func() error) error {
	m.mu.Lock()
	m.calls++
	last := m.calls == m.at
	if last && !m.after {
		m.dead = true
	}
	if m.dead {
		m.mu.Unlock()
		return errDead
	}
	m.mu.Unlock()
	err := effect()
	m.mu.Lock()
	defer m.mu.Unlock()
	if last {
		m.dead = true
	}
	if m.dead {
		return errDead
	}
	return err
}

// run is the use cases as a process with these ports has them.
func (w *world) run(process filehosttest.Process, m *mortal, kv filehost.KV) *filehost.Service {
	config := w.Config
	config.Claims = filehost.NewClaims(process)
	config.Copies = filehost.NewPlaces("copies")
	config.KV = mortalKV{kv, m}
	config.Remote = mortalRemote{config.Remote, m}
	config.Mattermost = mortalMattermost{config.Mattermost, m}
	return filehost.New(config)
}

type mortalKV struct {
	filehost.KV
	*mortal
}

func (k mortalKV) Get(ctx context.Context, key string) (value []byte, err error) {
	err = k.call(func() (err error) { value, err = k.KV.Get(ctx, key); return err })
	return value, err
}

func (k mortalKV) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (won bool, err error) {
	err = k.call(func() (err error) { won, err = k.KV.CompareAndSet(ctx, key, old, value, ttl); return err })
	return won, err
}

func (k mortalKV) CompareAndDelete(ctx context.Context, key string, old []byte) (won bool, err error) {
	err = k.call(func() (err error) { won, err = k.KV.CompareAndDelete(ctx, key, old); return err })
	return won, err
}

type mortalRemote struct {
	filehost.Remote
	*mortal
}

func (r mortalRemote) Stat(ctx context.Context, credential filehost.Credential, path filehost.Path) (entry filehost.Entry, err error) {
	err = r.call(func() (err error) { entry, err = r.Remote.Stat(ctx, credential, path); return err })
	return entry, err
}

func (r mortalRemote) Open(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (content filehost.Content, err error) {
	err = r.call(func() (err error) { content, err = r.Remote.Open(ctx, credential, entry); return err })
	return content, err
}

func (r mortalRemote) CreateLink(ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish filehost.LinkWish) (link filehost.HostShare, reused bool, err error) {
	err = r.call(func() (err error) { link, reused, err = r.Remote.CreateLink(ctx, credential, entry, wish); return err })
	return link, reused, err
}

func (r mortalRemote) RemoveShare(ctx context.Context, credential filehost.Credential, entry filehost.Entry, shareID string) error {
	return r.call(func() error { return r.Remote.RemoveShare(ctx, credential, entry, shareID) })
}

func (r mortalRemote) LinkPolicy(ctx context.Context, credential filehost.Credential) (policy filehost.Policy, err error) {
	err = r.call(func() (err error) { policy, err = r.Remote.LinkPolicy(ctx, credential); return err })
	return policy, err
}

type mortalMattermost struct {
	filehost.Mattermost
	*mortal
}

func (m mortalMattermost) MayAttach(ctx context.Context, userID, channelID, rootID string) error {
	return m.call(func() error { return m.Mattermost.MayAttach(ctx, userID, channelID, rootID) })
}

func (m mortalMattermost) MayPost(ctx context.Context, userID, channelID, rootID string) error {
	return m.call(func() error { return m.Mattermost.MayPost(ctx, userID, channelID, rootID) })
}

func (m mortalMattermost) FindCard(ctx context.Context, post filehost.Post, since time.Time) (postID string, gone bool, err error) {
	err = m.call(func() (err error) { postID, gone, err = m.Mattermost.FindCard(ctx, post, since); return err })
	return postID, gone, err
}

func (m mortalMattermost) Limits(ctx context.Context) (limits filehost.Limits, err error) {
	err = m.call(func() (err error) { limits, err = m.Mattermost.Limits(ctx); return err })
	return limits, err
}

func (m mortalMattermost) Upload(ctx context.Context, upload filehost.Upload) (stored filehost.FileInfo, err error) {
	err = m.call(func() (err error) { stored, err = m.Mattermost.Upload(ctx, upload); return err })
	return stored, err
}

func (m mortalMattermost) Files(ctx context.Context, fileIDs []string) (files []filehost.FileInfo, err error) {
	err = m.call(func() (err error) { files, err = m.Mattermost.Files(ctx, fileIDs); return err })
	return files, err
}

func (m mortalMattermost) Post(ctx context.Context, post filehost.Post) (postID string, err error) {
	err = m.call(func() (err error) { postID, err = m.Mattermost.Post(ctx, post); return err })
	return postID, err
}

func (m mortalMattermost) RemoveIncomplete(ctx context.Context, post filehost.Post, since time.Time) (removed bool, err error) {
	err = m.call(func() (err error) { removed, err = m.Mattermost.RemoveIncomplete(ctx, post, since); return err })
	return removed, err
}
