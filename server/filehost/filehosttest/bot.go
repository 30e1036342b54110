package filehosttest

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Bot keeps direct messages in memory. It implements filehost.Bot.
type Bot struct {
	mu       sync.Mutex
	sent     []Told
	fail     error
	unusable error
}

// Told is a message that a user has got from the bot, as it reads now.
type Told struct {
	UserID, PostID string
	filehost.Message
}

var _ filehost.Bot = (*Bot)(nil)

// Disable makes all calls fail, and Check says so before. nil ends it.
func (b *Bot) Disable(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail, b.unusable = err, err
}

// Fail makes messages fail. nil ends it.
func (b *Bot) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// Sent returns all messages.
func (b *Bot) Sent() []Told {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent)
}

// Delete deletes a message, as its reader can.
func (b *Bot) Delete(postID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = slices.DeleteFunc(b.sent, func(m Told) bool { return m.PostID == postID })
}

// Message implements filehost.Bot.
func (b *Bot) Message(_ context.Context, userID string, message filehost.Message) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return "", b.fail
	}
	id := "message" + strconv.Itoa(len(b.sent))
	b.sent = append(b.sent, Told{userID, id, message})
	return id, nil
}

// Edit implements filehost.Bot.
func (b *Bot) Edit(_ context.Context, userID, postID string, message filehost.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	for i, sent := range b.sent {
		if sent.UserID == userID && sent.PostID == postID {
			b.sent[i].Message = message
			return nil
		}
	}
	return filehost.E(filehost.NotFound, "There is no such message.", nil)
}

// Check implements filehost.Bot.
func (b *Bot) Check(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unusable
}
