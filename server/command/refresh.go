package command

import (
	"context"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// refresh tells what has become of the files of a post: of the one whose link or id is given, or the first one of the thread.
func (h *Handler) refresh(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	postID := c.RootID
	if rest = strings.TrimSuffix(rest, "/"); rest != "" {
		postID = rest[strings.LastIndexByte(rest, '/')+1:]
	}
	if postID == "" {
		return filehost.Message{}, filehost.Invalid("post", sayWhichPost)
	}
	return h.refreshPost(ctx, c, postID, true)
}

// refreshPost tells what has become of the files of a post, and brings newer versions in unless it is a dry run.
func (h *Handler) refreshPost(ctx context.Context, c *call, postID string, dryRun bool) (filehost.Message, error) {
	refreshed, err := c.service.Refresh(ctx, c.UserID, postID, dryRun)
	if err != nil {
		return filehost.Message{}, err
	}
	lines, newer := make([]string, len(refreshed.Items)), false
	for i, item := range refreshed.Items {
		lines[i] = "- " + became(item, dryRun)
		if item.Err != nil {
			lines[i] += " " + c.failure(ctx, item.Err).Text
		}
		newer = newer || item.State == filehost.Newer
	}
	message := filehost.Message{Text: strings.Join(lines, "\n")}
	if refreshed.ReplyID != "" {
		message.Text += "\n" + inTheThread
	}
	if !dryRun || !newer {
		return message, nil
	}
	bring, err := c.button(labelBring, step{Do: doRefresh, ID: postID})
	message.Buttons = []filehost.Button{bring}
	return message, err
}
