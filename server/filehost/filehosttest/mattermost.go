package filehosttest

import (
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Mattermost keeps uploads and posts in memory. Everybody may attach in every channel unless it is told otherwise.
type Mattermost struct {
	mu       sync.Mutex
	users    map[string]filehost.User
	limits   filehost.Limits
	refusal  error
	uploads  map[string]Uploaded
	posts    []filehost.Post
	changed  []string
	postFail error
}

// Uploaded is a file in the store.
type Uploaded struct {
	filehost.Upload
	Bytes []byte
}

// NewMattermost returns a server with the users.
func NewMattermost(users ...filehost.User) *Mattermost {
	m := &Mattermost{users: map[string]filehost.User{}, uploads: map[string]Uploaded{}, limits: filehost.Limits{
		FileSize: 1 << 20, FilesPerPost: 10, MessageLength: 100, ImagePixels: 100 * 100, RequestTimeout: time.Minute}}
	for _, user := range users {
		m.users[user.ID] = user
	}
	return m
}

// Limit changes the limits.
func (m *Mattermost) Limit(change func(*filehost.Limits)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.limits)
}

// Refuse makes MayAttach fail.
func (m *Mattermost) Refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusal = err
}

// FailPosts makes Post fail.
func (m *Mattermost) FailPosts(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.postFail = err
}

// Posts returns what was posted.
func (m *Mattermost) Posts() []filehost.Post {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.posts
}

// Uploads returns the files in the store by id.
func (m *Mattermost) Uploads() map[string]Uploaded {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.uploads
}

// Changed returns the users whose clients were told that their connection changed.
func (m *Mattermost) Changed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// User implements filehost.Mattermost.
func (m *Mattermost) User(_ context.Context, userID string) (filehost.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	user, ok := m.users[userID]
	if !ok {
		return user, filehost.E(filehost.NotFound, "There is no such user.", nil)
	}
	return user, nil
}

// MayAttach implements filehost.Mattermost.
func (m *Mattermost) MayAttach(context.Context, string, string, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refusal
}

// Limits implements filehost.Mattermost.
func (m *Mattermost) Limits(context.Context) (filehost.Limits, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits, nil
}

// Upload implements filehost.Mattermost. As the real one, it says no more of a failing content than that it failed.
func (m *Mattermost) Upload(_ context.Context, upload filehost.Upload) (string, error) {
	content, err := io.ReadAll(upload.Content)
	if err != nil || int64(len(content)) != upload.Size {
		return "", filehost.E(filehost.Internal, "The upload failed.", nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := "file" + strconv.Itoa(len(m.uploads))
	m.uploads[id] = Uploaded{upload, content}
	return id, nil
}

// Post implements filehost.Mattermost.
func (m *Mattermost) Post(_ context.Context, post filehost.Post) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.postFail != nil {
		return "", m.postFail
	}
	m.posts = append(m.posts, post)
	return "post" + strconv.Itoa(len(m.posts)-1), nil
}

// CheckUploads implements filehost.Mattermost.
func (m *Mattermost) CheckUploads(context.Context) error { return nil }

// ConnectionChanged implements filehost.Mattermost.
func (m *Mattermost) ConnectionChanged(userID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, userID)
}
