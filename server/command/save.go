package command

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// save saves the files of a thread's first message in a folder of the host.
func (h *Handler) save(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	folder, err := readPath(unquote(rest))
	if err != nil {
		return filehost.Message{}, err
	}
	if c.RootID == "" {
		return filehost.Message{}, filehost.Invalid("post", sayWhatToSave)
	}
	fileIDs, err := c.service.FilesOf(ctx, c.UserID, c.RootID)
	if err != nil {
		return filehost.Message{}, err
	}
	var done, failed []string
	var first error
	for i, fileID := range fileIDs {
		saved, err := c.service.Save(ctx, c.UserID, filehost.Saving{FileID: fileID, Folder: filehost.Ref{Path: folder}, Conflict: filehost.RenameNew})
		if err == nil {
			done = append(done, filehost.Literal(saved.Entry.Path.String()))
			continue
		}
		if first == nil {
			first = err
		}
		failed = append(failed, notSaved(i+1, c.failure(ctx, err).Text))
	}
	if len(done) == 0 {
		return filehost.Message{}, first
	}
	return filehost.Message{Text: savedAs(done, failed)}, nil
}
