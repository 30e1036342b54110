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
	return s.mayPost(userID, channelID, rootID, "You may not post files in this channel.", model.PermissionCreatePost, model.PermissionUploadFile)
}

// MayPost implements filehost.Mattermost.
func (s *Server) MayPost(_ context.Context, userID, channelID, rootID string) error {
	if err := validIDs(channelID, rootID); err != nil {
		return err
	}
	return s.mayPost(userID, channelID, rootID, "You may not post in this channel.", model.PermissionCreatePost)
}

// mayPost fails unless the user may do something in a channel of his; refusal says so where he lacks a permission.
func (s *Server) mayPost(userID, channelID, rootID, refusal string, needed ...*model.Permission) error {
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
	for _, permission := range needed {
		if !s.API.HasPermissionToChannel(userID, channelID, permission) {
			return filehost.E(filehost.Forbidden, refusal, errors.New("lacks "+permission.Id))
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
	asked := &model.Post{
		UserId:        post.UserID,
		ChannelId:     post.ChannelID,
		RootId:        post.RootID,
		Message:       post.Message,
		FileIds:       post.FileIDs,
		PendingPostId: post.PendingID,
	}
	if post.Card != "" {
		asked.Type = CardPostType
		asked.AddProp(cardProp, post.Card)
	}
	created, appErr := s.API.CreatePost(asked)
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusBadRequest: // by the server's rules, or by those of another plugin
		return "", filehost.E(filehost.Forbidden, "Mattermost refused the post: "+appErr.Message, appErr)
	case appErr != nil:
		return "", classify(appErr, "Mattermost could not create the post; try again.")
	case created == nil:
		return "", errNoAnswer
	case created.UserId != post.UserID || created.ChannelId != post.ChannelID: // one that it had seen under the same pending id
		return "", filehost.E(filehost.Internal, "Mattermost took the post for another one; try again.", nil)
	case sameFiles(created.FileIds, post.FileIDs):
		return created.Id, nil
	}
	if err := s.removePost(created.Id); err != nil {
		return "", errors.Wrap(err, "the post lacks files")
	}
	return "", filehost.E(filehost.Internal, "Mattermost did not attach all files, so the post was removed; try again.", nil)
}

// ReadPost implements filehost.Mattermost.
func (s *Server) ReadPost(_ context.Context, postID string) (filehost.SeenPost, error) {
	if !model.IsValidId(postID) {
		return filehost.SeenPost{}, filehost.Invalid("post_id", "post_id must be the id of a post.")
	}
	post, appErr := s.API.GetPost(postID)
	switch {
	case appErr != nil && appErr.StatusCode != http.StatusNotFound:
		return filehost.SeenPost{}, classify(appErr, "The post could not be read.")
	case appErr == nil && post == nil:
		return filehost.SeenPost{}, errNoAnswer
	case appErr != nil || post.DeleteAt != 0:
		return filehost.SeenPost{}, filehost.E(filehost.NotFound, "There is no such post.", nil)
	}
	return NewSeenPost(post), nil
}

// NewSeenPost is a post of the server's as the use cases see it.
func NewSeenPost(post *model.Post) filehost.SeenPost {
	return filehost.SeenPost{ID: post.Id, UserID: post.UserId, ChannelID: post.ChannelId, RootID: post.RootId, Message: post.Message, FileIDs: post.FileIds,
		Card: post.Type == CardPostType}
}

func sameFiles(one, other []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(one)), slices.Sorted(slices.Values(other)))
}

// How far RemoveIncomplete looks back. A page is as long as those that the server gives its own clients.
const (
	scanPage  = 200
	scanPages = 50
)

// RemoveIncomplete implements filehost.Mattermost. A post that has got a file is named by that. One that has got none, as
// the server ended before it had attached any, still lists those that it was made with, and is looked for in the channel.
func (s *Server) RemoveIncomplete(ctx context.Context, post filehost.Post, since time.Time) (removed bool, err error) {
	files, err := s.Files(ctx, post.FileIDs)
	if err != nil {
		return false, err
	}
	found, gone, err := s.postsOf(files)
	if err == nil && !gone && len(found) == 0 {
		found, err = s.listing(post, since)
	}
	if err != nil {
		return false, err
	}
	for _, candidate := range found {
		if candidate.UserId != post.UserID || candidate.ChannelId != post.ChannelID || hasAll(candidate, files) {
			continue
		}
		if err = s.removePost(candidate.Id); err != nil {
			return false, err
		}
		gone = true
	}
	return gone, nil
}

// postsOf returns the posts that have some of the files, and tells whether there is one among them that was deleted: the
// server deletes the files of a post some time after it.
func (s *Server) postsOf(files []filehost.FileInfo) (found []*model.Post, gone bool, err error) {
	var seen []string
	for _, file := range files {
		if file.PostID == "" || slices.Contains(seen, file.PostID) {
			continue
		}
		seen = append(seen, file.PostID)
		post, appErr := s.API.GetPost(file.PostID)
		switch {
		case appErr != nil && appErr.StatusCode == http.StatusNotFound:
			gone = true
		case appErr != nil:
			return nil, false, errors.Wrap(appErr, "read a post")
		case post == nil:
			return nil, false, errNoAnswer
		default:
			found = append(found, post)
		}
	}
	return found, gone, nil
}

// listing returns the user's posts in the channel since then that were made with some of the files. GetPostsSince
// would be shorter, but of more than 1000 posts the server gives any 1000.
func (s *Server) listing(post filehost.Post, since time.Time) (found []*model.Post, err error) {
	for page := range scanPages {
		list, appErr := s.API.GetPostsForChannel(post.ChannelID, page, scanPage)
		switch {
		case appErr != nil:
			return nil, errors.Wrap(appErr, "look for a post")
		case list == nil:
			return nil, errNoAnswer
		}
		for _, id := range list.Order { // newest first
			candidate := list.Posts[id]
			if candidate.CreateAt < since.UnixMilli() {
				return found, nil
			}
			made := slices.ContainsFunc(candidate.FileIds, func(id string) bool { return slices.Contains(post.FileIDs, id) })
			if made && candidate.UserId == post.UserID {
				found = append(found, candidate)
			}
		}
		if len(list.Order) < scanPage {
			return found, nil
		}
	}
	return nil, filehost.E(filehost.Conflict, "Whether the post was made can't be told any more, as the channel has had too many since. "+
		"Look into the channel, and send what is missing as a new request.", nil)
}

// removePost deletes a post unless somebody has replied to it: the server deletes the replies as well. A post that isn't
// found is deleted too, as a replica may not have it yet.
func (s *Server) removePost(id string) error {
	post, appErr := s.API.GetPost(id)
	switch {
	case appErr != nil && appErr.StatusCode != http.StatusNotFound:
		return errors.Wrap(appErr, "read a post")
	case appErr == nil && post == nil:
		return errNoAnswer
	case appErr == nil && post.RootId == "" && post.ReplyCount > 0:
		return filehost.E(filehost.Conflict, "Mattermost made the post without all of its files, and somebody has replied to it, so it was left as it is. "+
			"Look into the channel, and send what is missing as a new request.", nil)
	}
	if appErr = s.API.DeletePost(id); appErr != nil {
		return errors.Wrap(appErr, "remove a post that lacks files")
	}
	return nil
}

// hasAll leaves out files that were deleted since, as the post's author can.
func hasAll(post *model.Post, files []filehost.FileInfo) bool {
	return slices.ContainsFunc(files, func(file filehost.FileInfo) bool { return file.PostID == post.Id }) &&
		!slices.ContainsFunc(files, func(file filehost.FileInfo) bool { return file.ID != "" && file.PostID != post.Id })
}
