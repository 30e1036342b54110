package mattermost

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// MayAttach implements filehost.Mattermost. The plugin API checks none of this itself.
func (s *Server) MayAttach(_ context.Context, userID, channelID, rootID string) error {
	if err := validIDs(channelID, rootID); err != nil {
		return err
	}
	config, err := s.config()
	if err != nil {
		return err
	}
	if !value(config.FileSettings.EnableFileAttachments) {
		return filehost.E(filehost.Forbidden, "File attachments are switched off on this Mattermost server.", nil)
	}
	if user, appErr := s.API.GetUser(userID); appErr != nil || user.DeleteAt != 0 {
		return filehost.E(filehost.Forbidden, "Your account may not post.", nil)
	}
	// Whether a channel exists is nobody's business who isn't a member of it.
	if _, appErr := s.API.GetChannelMember(channelID, userID); appErr != nil {
		return filehost.E(filehost.Forbidden, "You are not a member of this channel.", appErr)
	}
	channel, appErr := s.API.GetChannel(channelID)
	switch {
	case appErr != nil:
		return classify(appErr, "The channel could not be read.")
	case channel.DeleteAt != 0:
		return filehost.E(filehost.Forbidden, "The channel is archived.", nil)
	}
	for _, permission := range []*model.Permission{model.PermissionCreatePost, model.PermissionUploadFile} {
		if !s.API.HasPermissionToChannel(userID, channelID, permission) {
			return filehost.E(filehost.Forbidden, "You may not post files in this channel.", errors.New("lacks "+permission.Id))
		}
	}
	return s.checkRoot(channelID, rootID)
}

func validIDs(channelID, rootID string) error {
	if !model.IsValidId(channelID) {
		return filehost.Invalid("channel_id", "channel_id must be the id of a channel.")
	}
	if rootID != "" && !model.IsValidId(rootID) {
		return filehost.Invalid("root_id", "root_id must be the id of a post, or absent.")
	}
	return nil
}

func (s *Server) checkRoot(channelID, rootID string) error {
	if rootID == "" {
		return nil
	}
	root, appErr := s.API.GetPost(rootID)
	if appErr != nil || root.DeleteAt != 0 || root.ChannelId != channelID || root.RootId != "" {
		return filehost.Invalid("root_id", "root_id must be the first post of a thread in this channel.")
	}
	return nil
}

// errNoAnswer is how a call looks whose way to the server broke: neither a result nor an error.
var errNoAnswer = errors.New("the server gave no answer")

// Files implements filehost.Mattermost.
func (s *Server) Files(_ context.Context, fileIDs []string) ([]filehost.FileInfo, error) {
	files := make([]filehost.FileInfo, len(fileIDs))
	for i, id := range fileIDs {
		info, appErr := s.API.GetFileInfo(id)
		switch {
		case appErr != nil && appErr.StatusCode == http.StatusNotFound:
			continue
		case appErr != nil:
			return nil, errors.Wrap(appErr, "read a file info")
		case info == nil:
			return nil, errNoAnswer
		}
		files[i] = newFileInfo(info, nil)
	}
	return files, nil
}

func newFileInfo(info *model.FileInfo, shown json.RawMessage) filehost.FileInfo {
	return filehost.FileInfo{ID: info.Id, UserID: info.CreatorId, ChannelID: info.ChannelId, PostID: info.PostId, JSON: shown}
}

// Post implements filehost.Mattermost. The server drops a file that it doesn't accept, such as one that another post has,
// with no more than a warning and answers with those it kept, so the post is compared with what was asked, and removed if
// a file is missing. It is not read back: a read may come from a replica that does not have it yet.
func (s *Server) Post(_ context.Context, post filehost.Post) (string, error) {
	created, appErr := s.API.CreatePost(&model.Post{
		UserId:        post.UserID,
		ChannelId:     post.ChannelID,
		RootId:        post.RootID,
		Message:       post.Message,
		FileIds:       post.FileIDs,
		PendingPostId: post.PendingID,
	})
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusBadRequest: // by the server's rules, or by those of another plugin
		return "", filehost.E(filehost.Forbidden, "Mattermost refused the post: "+appErr.Message, appErr)
	case appErr != nil:
		return "", classify(appErr, "Mattermost could not create the post; try again.")
	case created == nil:
		return "", errNoAnswer
	case sameFiles(created.FileIds, post.FileIDs):
		return created.Id, nil
	}
	if deleteErr := s.API.DeletePost(created.Id); deleteErr != nil {
		return "", errors.Wrap(deleteErr, "remove a post that lacks files")
	}
	return "", filehost.E(filehost.Internal, "Mattermost did not attach all files, so the post was removed; try again.", nil)
}

func sameFiles(one, other []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(one)), slices.Sorted(slices.Values(other)))
}

// RemoveIncomplete implements filehost.Mattermost. A post keeps the list of files it was made with, also where the server
// ended before it had attached them: such a post is found by that list, and told by the files, which name their post.
func (s *Server) RemoveIncomplete(ctx context.Context, post filehost.Post, since time.Time) error {
	files, err := s.Files(ctx, post.FileIDs)
	if err != nil {
		return err
	}
	list, appErr := s.API.GetPostsSince(post.ChannelID, since.UnixMilli())
	switch {
	case appErr != nil:
		return errors.Wrap(appErr, "look for a post")
	case list == nil:
		return errNoAnswer
	}
	for _, found := range list.Posts {
		if found.UserId != post.UserID || found.DeleteAt != 0 || !hasSome(found, post.FileIDs, files) || hasAll(found, files) {
			continue
		}
		if appErr = s.API.DeletePost(found.Id); appErr != nil {
			return errors.Wrap(appErr, "remove a post that lacks files")
		}
	}
	return nil
}

func hasSome(post *model.Post, fileIDs []string, files []filehost.FileInfo) bool {
	return slices.ContainsFunc(post.FileIds, func(id string) bool { return slices.Contains(fileIDs, id) }) ||
		slices.ContainsFunc(files, func(file filehost.FileInfo) bool { return file.PostID == post.Id })
}

// hasAll leaves out files that were deleted since, as the post's author can.
func hasAll(post *model.Post, files []filehost.FileInfo) bool {
	return slices.ContainsFunc(files, func(file filehost.FileInfo) bool { return file.PostID == post.Id }) &&
		!slices.ContainsFunc(files, func(file filehost.FileInfo) bool { return file.ID != "" && file.PostID != post.Id })
}
