package filehosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	postIDs  []string
	posted   int
	changed  []string
	postFail error
	postOf   map[string]string // by file id
	deleted  map[string]bool   // files
	late     func(filehost.Post)
	replied  map[string]bool // posts
	asked    []filehost.Dialog
	readers  map[string][]string // who may read a file, by its id
	open     int

	hidden    map[string]bool // channel and user
	goneCards map[string]bool
	findFail  error
}

// Uploaded is a file in the store.
type Uploaded struct {
	filehost.Upload
	Bytes []byte
}

// NewMattermost returns a server with the users.
func NewMattermost(users ...filehost.User) *Mattermost {
	m := &Mattermost{users: map[string]filehost.User{}, uploads: map[string]Uploaded{}, postOf: map[string]string{}, deleted: map[string]bool{}, replied: map[string]bool{}, readers: map[string][]string{}, hidden: map[string]bool{}, goneCards: map[string]bool{}, limits: filehost.Limits{
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
	return slices.Clone(m.posts)
}

// PostIDs returns the ids of what was posted.
func (m *Mattermost) PostIDs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.postIDs)
}

// Uploads returns the files in the store by id.
func (m *Mattermost) Uploads() map[string]Uploaded {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.uploads)
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

// Identity implements filehost.Mattermost: every user has a password of Mattermost's.
func (m *Mattermost) Identity(ctx context.Context, userID string) (filehost.Identity, error) {
	user, err := m.User(ctx, userID)
	return filehost.Identity{UserID: user.ID, Username: user.Username, Bot: user.Bot, Active: user.Active}, err
}

// MayAttach implements filehost.Mattermost.
func (m *Mattermost) MayAttach(context.Context, string, string, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refusal
}

// MayPost implements filehost.Mattermost.
func (m *Mattermost) MayPost(ctx context.Context, userID, channelID, rootID string) error {
	return m.MayAttach(ctx, userID, channelID, rootID)
}

// Hide makes a channel one that a user may not read, and is no member of.
func (m *Mattermost) Hide(channelID, userID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hidden[channelID+" "+userID] = true
}

// MayRead implements filehost.Mattermost.
func (m *Mattermost) MayRead(_ context.Context, userID, channelID string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hidden[channelID+" "+userID] {
		return filehost.E(filehost.NotFound, "There is no such channel.", nil)
	}
	return nil
}

// ChannelMembers implements filehost.Mattermost: everybody is a member but those that the channel is hidden from.
func (m *Mattermost) ChannelMembers(_ context.Context, channelID string, most int) (members []filehost.User, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.users)) {
		if user := m.users[id]; user.Active && !user.Bot && !m.hidden[channelID+" "+id] {
			members = append(members, user)
		}
	}
	return members[:min(len(members), most)], len(members) > most, nil
}

// IsMember implements filehost.Mattermost.
func (m *Mattermost) IsMember(ctx context.Context, userID, channelID string) (bool, error) {
	members, _, err := m.ChannelMembers(ctx, channelID, len(m.users))
	return slices.ContainsFunc(members, func(user filehost.User) bool { return user.ID == userID }), err
}

// FindCard implements filehost.Mattermost.
func (m *Mattermost) FindCard(_ context.Context, post filehost.Post, _ time.Time) (postID string, gone bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.findFail != nil {
		return "", false, m.findFail
	}
	for i, found := range m.posts {
		if found.Card == post.Card && found.UserID == post.UserID && found.ChannelID == post.ChannelID {
			return m.postIDs[i], false, nil
		}
	}
	return "", m.goneCards[post.Card], nil
}

// FailFinds makes FindCard fail.
func (m *Mattermost) FailFinds(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.findFail = err
}

// Reword implements filehost.Mattermost.
func (m *Mattermost) Reword(_ context.Context, postID, old, new string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.Index(m.postIDs, postID); at >= 0 {
		m.posts[at].Message = strings.Replace(m.posts[at].Message, old, new, 1)
	}
	return nil
}

// Limits implements filehost.Mattermost.
func (m *Mattermost) Limits(context.Context) (filehost.Limits, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits, nil
}

// Upload implements filehost.Mattermost. As the real one, it says no more of a failing content than that it failed.
func (m *Mattermost) Upload(_ context.Context, upload filehost.Upload) (filehost.FileInfo, error) {
	content, err := io.ReadAll(upload.Content)
	if err != nil || int64(len(content)) != upload.Size {
		return filehost.FileInfo{}, filehost.E(filehost.Internal, "The upload failed.", nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := "file" + strconv.Itoa(len(m.uploads))
	m.uploads[id] = Uploaded{upload, content}
	return m.file(id), nil
}

// AddFile adds a file that these users may read.
func (m *Mattermost) AddFile(id, name string, content []byte, readers ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uploads[id] = Uploaded{filehost.Upload{Name: name, Size: int64(len(content))}, content}
	m.readers[id] = readers
}

// OpenFiles is how many files are open.
func (m *Mattermost) OpenFiles() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// OpenFile implements filehost.Mattermost.
func (m *Mattermost) OpenFile(_ context.Context, userID, fileID string) (filehost.StoredFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	file, ok := m.uploads[fileID]
	switch {
	case !ok || m.deleted[fileID]:
		return filehost.StoredFile{}, filehost.E(filehost.NotFound, "There is no such file.", nil)
	case !slices.Contains(m.readers[fileID], userID):
		return filehost.StoredFile{}, filehost.E(filehost.Forbidden, "You may not read this file.", nil)
	}
	m.open++
	closing := sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.open--
	})
	return filehost.StoredFile{ReadCloser: &openFile{bytes.NewReader(file.Bytes), closing}, Name: file.Name, Size: file.Size,
		MIMEType: "text/plain", CreatedAt: time.Unix(1_700_000_000, 0).UTC()}, nil
}

type openFile struct {
	io.Reader
	closing func()
}

// Close implements io.Closer.
func (f *openFile) Close() error {
	f.closing()
	return nil
}

// Files implements filehost.Mattermost.
func (m *Mattermost) Files(_ context.Context, fileIDs []string) ([]filehost.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	files := make([]filehost.FileInfo, len(fileIDs))
	for i, id := range fileIDs {
		if _, ok := m.uploads[id]; ok && !m.deleted[id] {
			files[i] = m.file(id)
		}
	}
	return files, nil
}

func (m *Mattermost) file(id string) filehost.FileInfo {
	upload := m.uploads[id]
	return filehost.FileInfo{ID: id, UserID: upload.UserID, ChannelID: upload.ChannelID, PostID: m.postOf[id],
		JSON: json.RawMessage(fmt.Sprintf(`{"id":%q,"name":%q,"size":%d}`, id, upload.Name, upload.Size))}
}

// DeleteFile deletes a file.
func (m *Mattermost) DeleteFile(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted[id] = true
}

// AttachFile attaches a file to a post that isn't among Posts.
func (m *Mattermost) AttachFile(id, postID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.postOf[id] = postID
}

// LosePosts makes the answer to each later Post be lost: carryOut gets the post, and the way to have it carried out with
// as many of its files as it says. nil ends it.
func (m *Mattermost) LosePosts(carryOut func(carry func(files int))) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = nil
	if carryOut != nil {
		m.late = func(post filehost.Post) {
			carryOut(func(files int) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.save(post, files)
			})
		}
	}
}

// Post implements filehost.Mattermost.
func (m *Mattermost) Post(_ context.Context, post filehost.Post) (string, error) {
	m.mu.Lock()
	late := m.late
	m.mu.Unlock()
	if late != nil {
		late(post)
		return "", filehost.E(filehost.Internal, "The answer was lost.", nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.postFail != nil {
		return "", m.postFail
	}
	id, complete := m.save(post, len(post.FileIDs))
	if !complete {
		m.remove(id)
		return "", filehost.E(filehost.Internal, "Not all files were attached.", nil)
	}
	return id, nil
}

// save keeps a post with the first of its files, and of these with those that no other post has.
func (m *Mattermost) save(post filehost.Post, files int) (id string, complete bool) {
	m.posted++
	id, complete = "post"+strconv.Itoa(m.posted-1), true
	m.posts = append(m.posts, post)
	m.postIDs = append(m.postIDs, id)
	for i, file := range post.FileIDs {
		if _, ok := m.uploads[file]; i < files && ok && m.postOf[file] == "" && !m.deleted[file] {
			m.postOf[file] = id
		} else {
			complete = false
		}
	}
	return id, complete
}

// remove removes a post with the files that it has.
func (m *Mattermost) remove(id string) {
	i := slices.Index(m.postIDs, id)
	if card := m.posts[i].Card; card != "" {
		m.goneCards[card] = true
	}
	for _, file := range m.posts[i].FileIDs {
		if m.postOf[file] == id {
			m.deleted[file] = true
		}
	}
	m.posts, m.postIDs = slices.Delete(m.posts, i, i+1), slices.Delete(m.postIDs, i, i+1)
}

// Reply replies to a post.
func (m *Mattermost) Reply(postID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replied[postID] = true
}

// DeletePost deletes a post as its author or a moderator does.
func (m *Mattermost) DeletePost(postID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(postID)
}

// EditPost changes a post as its author does.
func (m *Mattermost) EditPost(postID string, edit func(*filehost.Post)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	edit(&m.posts[slices.Index(m.postIDs, postID)])
}

// ReadPost implements filehost.Mattermost.
func (m *Mattermost) ReadPost(_ context.Context, postID string) (filehost.SeenPost, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.Index(m.postIDs, postID)
	if at < 0 {
		return filehost.SeenPost{}, filehost.E(filehost.NotFound, "There is no such post.", nil)
	}
	post := m.posts[at]
	return filehost.SeenPost{ID: postID, UserID: post.UserID, ChannelID: post.ChannelID, RootID: post.RootID, Message: post.Message, FileIDs: post.FileIDs}, nil
}

// RemoveIncomplete implements filehost.Mattermost.
func (m *Mattermost) RemoveIncomplete(_ context.Context, post filehost.Post, _ time.Time) (removed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Clone(m.postIDs) {
		found := m.posts[slices.Index(m.postIDs, id)]
		ours := slices.ContainsFunc(found.FileIDs, func(file string) bool { return slices.Contains(post.FileIDs, file) })
		lacks := slices.ContainsFunc(found.FileIDs, func(file string) bool { return m.postOf[file] != id })
		if !ours || !lacks || found.UserID != post.UserID {
			continue
		}
		if m.replied[id] {
			return false, filehost.E(filehost.Conflict, "Somebody has replied.", nil)
		}
		m.remove(id)
		removed = true
	}
	return removed, nil
}

// CheckUploads implements filehost.Mattermost.
func (m *Mattermost) CheckUploads(context.Context) error { return nil }

// ConnectionChanged implements filehost.Mattermost.
func (m *Mattermost) ConnectionChanged(userID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, userID)
}

// Ask implements filehost.Mattermost: the trigger id "old" is too old.
func (m *Mattermost) Ask(_ context.Context, dialog filehost.Dialog) error {
	if dialog.TriggerID == "old" {
		return filehost.Invalid("trigger_id", "This press of a button is too old.")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, dialog)
	return nil
}

// Asked returns the dialogs that were shown.
func (m *Mattermost) Asked() []filehost.Dialog {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}
