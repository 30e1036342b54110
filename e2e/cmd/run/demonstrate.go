package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// demonstrationLimit is the largest file that is attached for show, in bytes.
const demonstrationLimit = 10 << 20

// demonstrate does the plugin's main job once and prints what came of it.
func demonstrate(ctx context.Context, s *stack.Stack, t *target) error {
	progress("connecting " + s.User.Username + " to " + t.url + " as " + t.user)
	if err := t.connect(ctx, s, s.User); err != nil {
		return err
	}
	plugin := s.Plugin(s.User)
	page, err := plugin.List(ctx, url.Values{"path": {"/"}})
	if err != nil {
		return err
	}
	say("\nGET /files lists %s's root folder:", t.user)
	var chosen *api.Entry
	for i, entry := range page.Entries {
		say("  %-6s %12d  %s", entry.Kind, entry.Size, entry.Path)
		if chosen == nil && entry.Kind == "file" && entry.Size > 0 && entry.Size <= demonstrationLimit {
			chosen = &page.Entries[i]
		}
	}
	if chosen == nil {
		say("There is no small file in it, so that nothing is attached.")
	} else if err := attach(ctx, s, *chosen); err != nil {
		return err
	}
	health, err := plugin.Health(ctx)
	if err != nil {
		return err
	}
	say("\nGET /health: %s", health.Status)
	return nil
}

// attach attaches a file and reads it back from Mattermost.
func attach(ctx context.Context, s *stack.Stack, entry api.Entry) error {
	attached, err := s.Plugin(s.User).Attach(ctx, api.Attachment{
		ChannelID: s.ChannelID, Message: "Attached from the file host", As: "copy",
		Items: []api.Item{{Path: entry.Path, ETag: entry.ETag}},
	})
	if err != nil {
		return err
	}
	file := attached.Items[0]
	sum, size, err := checksum(ctx, s.User, file.FileID)
	if err != nil {
		return err
	}
	say("\nPOST /attach made post %s; Mattermost gives its file back as\n  %s, %d bytes, SHA-256 %s",
		attached.PostID, file.Name, size, sum)
	return nil
}

func checksum(ctx context.Context, account *stack.Account, fileID string) (string, int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, account.URL+"/api/v4/files/"+fileID, nil)
	if err != nil {
		return "", 0, err
	}
	response, err := account.Send(request)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = response.Body.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, response.Body)
	return fmt.Sprintf("%x", sum.Sum(nil)), size, err
}
