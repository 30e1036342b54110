package mattermost

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// CardPostType is the type of posts that web clients show as cards. Everybody can make such posts: what a card shows comes
// from GET /cards/{post_id} alone.
const CardPostType = "custom_filehost_card"

// cardProp names the card that a post was made with. It tells nothing but which post it is.
const cardProp = "filehost_card"

// sinceMost is how many posts GetPostsSince gives at most; of more it gives any.
const sinceMost = 1000

// MayRead implements filehost.Mattermost.
func (s *Server) MayRead(_ context.Context, userID, channelID string) error {
	if !s.API.HasPermissionToChannel(userID, channelID, model.PermissionReadChannelContent) {
		return filehost.E(filehost.NotFound, "There is no such channel.", nil)
	}
	return nil
}

// FindCard implements filehost.Mattermost. What the server tells of the posts since then holds those that were deleted, but
// not all of very many; the pages of the channel hold all that are still there.
func (s *Server) FindCard(_ context.Context, post filehost.Post, since time.Time) (postID string, gone bool, err error) {
	list, appErr := s.API.GetPostsSince(post.ChannelID, since.UnixMilli())
	switch {
	case appErr != nil:
		return "", false, errors.Wrap(appErr, "look for a post")
	case list == nil:
		return "", false, errNoAnswer
	}
	for _, candidate := range list.Posts {
		if hasCard(candidate, post) {
			if candidate.DeleteAt != 0 {
				return "", true, nil
			}
			return candidate.Id, false, nil
		}
	}
	found, err := s.pageForCard(post, since)
	if err == nil && found == "" && len(list.Order) >= sinceMost {
		err = filehost.E(filehost.Conflict, "Whether the post was made can't be told any more, as the channel has had too many since. "+
			"Look into the channel, and send what is missing as a new request.", nil)
	}
	return found, false, err
}

func hasCard(candidate *model.Post, post filehost.Post) bool {
	return candidate.UserId == post.UserID && candidate.ChannelId == post.ChannelID && candidate.GetProp(cardProp) == post.Card
}

// pageForCard looks through the pages of the channel: a node without a cluster may not know yet that there are posts since
// then.
func (s *Server) pageForCard(post filehost.Post, since time.Time) (postID string, err error) {
	for page := range scanPages {
		list, appErr := s.API.GetPostsForChannel(post.ChannelID, page, scanPage)
		switch {
		case appErr != nil:
			return "", errors.Wrap(appErr, "look for a post")
		case list == nil:
			return "", errNoAnswer
		}
		for _, id := range list.Order { // newest first
			candidate := list.Posts[id]
			if hasCard(candidate, post) {
				return candidate.Id, nil
			}
			if candidate.CreateAt < since.UnixMilli() {
				return "", nil
			}
		}
		if len(list.Order) < scanPage {
			break
		}
	}
	return "", nil
}

// Reword implements filehost.Mattermost.
func (s *Server) Reword(_ context.Context, postID, old, new string) error {
	post, appErr := s.API.GetPost(postID)
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusNotFound:
		return nil
	case appErr != nil:
		return errors.Wrap(appErr, "read a post")
	case post == nil:
		return errNoAnswer
	case old == "" || old == new || post.DeleteAt != 0 || !strings.Contains(post.Message, old):
		return nil
	}
	post.Message = strings.Replace(post.Message, old, new, 1)
	if _, appErr = s.API.UpdatePost(post); appErr != nil {
		return errors.Wrap(appErr, "change a post")
	}
	return nil
}

// How members of a channel are read.
const (
	memberPage  = 100
	memberPages = 20
)

// ChannelMembers implements filehost.Mattermost.
func (s *Server) ChannelMembers(ctx context.Context, channelID string, most int) (members []filehost.User, more bool, err error) {
	more = true
	for page := 0; len(members) < most && page < memberPages && more; page++ {
		if err = ctx.Err(); err != nil {
			return nil, false, filehost.E(filehost.Timeout, "The members of the channel could not be read in time.", err)
		}
		users, appErr := s.API.GetUsersInChannel(channelID, model.ChannelSortByUsername, page, memberPage)
		if appErr != nil {
			return nil, false, classify(appErr, "The members of the channel could not be read.")
		}
		for _, user := range users {
			if user.DeleteAt == 0 && !user.IsBot {
				members = append(members, filehost.User{ID: user.Id, Username: user.Username, Active: true})
			}
		}
		more = len(users) == memberPage
	}
	return members[:min(len(members), most)], more || len(members) > most, nil
}

// IsMember implements filehost.Mattermost.
func (s *Server) IsMember(_ context.Context, userID, channelID string) (bool, error) {
	if !model.IsValidId(userID) {
		return false, nil
	}
	member, err := found(s.API.GetChannelMember(channelID, userID))
	if err != nil || member == nil {
		return false, err
	}
	user, err := found(s.API.GetUser(userID))
	return user != nil && user.DeleteAt == 0 && !user.IsBot, err
}
