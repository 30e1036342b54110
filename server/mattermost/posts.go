package mattermost

import (
	"context"
	"slices"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// MayAttach implements filehost.Mattermost. The plugin API checks none of this itself.
func (s *Server) MayAttach(_ context.Context, userID, channelID, rootID string) error {
	if err := validIDs(channelID, rootID); err != nil {
		return err
	}
	if !value(s.API.GetConfig().FileSettings.EnableFileAttachments) {
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

// Post implements filehost.Mattermost. The server drops a file that it doesn't accept with no more than a warning and
// answers with those it kept, so the post is compared with what was asked, and removed if a file is missing. It is not
// read back: a read may come from a replica that does not have it yet.
func (s *Server) Post(_ context.Context, post filehost.Post) (string, error) {
	asked := slices.Sorted(slices.Values(post.FileIDs))
	created, appErr := s.API.CreatePost(&model.Post{
		UserId:    post.UserID,
		ChannelId: post.ChannelID,
		RootId:    post.RootID,
		Message:   post.Message,
		FileIds:   post.FileIDs,
	})
	if appErr != nil {
		return "", classify(appErr, "Mattermost refused the post.")
	}
	if slices.Equal(slices.Sorted(slices.Values(created.FileIds)), asked) {
		return created.Id, nil
	}
	if deleteErr := s.API.DeletePost(created.Id); deleteErr != nil {
		return "", errors.Wrap(deleteErr, "remove a post that lacks files")
	}
	return "", filehost.E(filehost.Internal, "Mattermost did not attach all files, so the post was removed; try again.", nil)
}
