package mattermost

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestMayPostNeedsNoPermissionToUpload(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*attachWorld)
		want   filehost.Kind
	}{
		"a member":                 {func(*attachWorld) {}, ok},
		"attachments switched off": {func(w *attachWorld) { w.config.FileSettings.EnableFileAttachments = nil }, ok},
		"may not upload":           {func(w *attachWorld) { w.denied = model.PermissionUploadFile }, ok},
		"may not post":             {func(w *attachWorld) { w.denied = model.PermissionCreatePost }, filehost.Forbidden},
		"not a member":             {func(w *attachWorld) { w.memberErr = notFound() }, filehost.Forbidden},
		"deactivated":              {func(w *attachWorld) { w.user.DeleteAt = 1 }, filehost.Forbidden},
		"archived":                 {func(w *attachWorld) { w.channel.DeleteAt = 1 }, filehost.Forbidden},
		"root of another channel":  {func(w *attachWorld) { w.rootID, w.root.ChannelId = root, "other" }, filehost.InvalidRequest},
		"no channel":               {func(w *attachWorld) { w.channelID = "" }, filehost.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAttachWorld()
			test.change(w)
			assert.Equal(t, test.want, kindOf(w.server().MayPost(t.Context(), user, w.channelID, w.rootID)))
		})
	}
}

func TestAPostWithACardSaysThatThereIsOneAndNothingElse(t *testing.T) {
	api := &plugintest.API{}
	api.On("CreatePost", mock.Anything).Return(&model.Post{Id: "post", UserId: user, ChannelId: channel}, nil)
	_, err := New(Config{API: api}).Post(t.Context(), filehost.Post{UserID: user, ChannelID: channel, Message: "text", Card: "card"})
	require.NoError(t, err)
	made := api.Calls[0].Arguments[0].(*model.Post)
	assert.Equal(t, CardPostType, made.Type)
	assert.Equal(t, model.StringInterface{cardProp: "card"}, made.GetProps())
	_, err = New(Config{API: api}).Post(t.Context(), filehost.Post{UserID: user, ChannelID: channel, Message: "text"})
	require.NoError(t, err)
	assert.Empty(t, api.Calls[1].Arguments[0].(*model.Post).Type)
}

func TestWhoMayNotReadAChannelIsToldThatThereIsNone(t *testing.T) {
	api := &plugintest.API{}
	api.On("HasPermissionToChannel", user, channel, model.PermissionReadChannelContent).Return(false).Once()
	api.On("HasPermissionToChannel", user, channel, model.PermissionReadChannelContent).Return(true)
	server := New(Config{API: api})
	assert.Equal(t, filehost.NotFound, kindOf(server.MayRead(t.Context(), user, channel)))
	assert.Equal(t, ok, kindOf(server.MayRead(t.Context(), user, channel)))
}

// postList is a list of posts in their order.
func postList(posts ...*model.Post) *model.PostList {
	list := model.NewPostList()
	for _, post := range posts {
		list.AddPost(post)
		list.AddOrder(post.Id)
	}
	return list
}

func TestACardIsFoundAmongItsUsersPostsOnly(t *testing.T) {
	since := time.UnixMilli(1000)
	made := func(change func(*model.Post)) *model.Post {
		post := &model.Post{Id: "post", UserId: user, ChannelId: channel, CreateAt: 2000}
		post.AddProp(cardProp, "card")
		change(post)
		return post
	}
	others := func(count int) (posts []*model.Post) {
		for i := range count {
			posts = append(posts, &model.Post{Id: fmt.Sprint("other", i), CreateAt: 1500})
		}
		return posts
	}
	unchanged := func(*model.Post) {}
	for name, test := range map[string]struct {
		since, page []*model.Post
		postID      string
		gone        bool
		kind        filehost.Kind
	}{
		"there":                        {since: []*model.Post{made(unchanged)}, postID: "post", kind: ok},
		"deleted":                      {since: []*model.Post{made(func(p *model.Post) { p.DeleteAt = 1 })}, gone: true, kind: ok},
		"none":                         {kind: ok},
		"another user's":               {since: []*model.Post{made(func(p *model.Post) { p.UserId = "other" })}, kind: ok},
		"another channel's":            {since: []*model.Post{made(func(p *model.Post) { p.ChannelId = "other" })}, kind: ok},
		"another card":                 {since: []*model.Post{made(func(p *model.Post) { p.AddProp(cardProp, "other") })}, kind: ok},
		"on a page only":               {page: []*model.Post{made(unchanged)}, postID: "post", kind: ok},
		"before":                       {page: []*model.Post{{Id: "old", CreateAt: 1}, made(unchanged)}, kind: ok},
		"more than are told":           {since: others(1000), kind: filehost.Conflict},
		"more than are told, but here": {since: others(1000), page: []*model.Post{made(unchanged)}, postID: "post", kind: ok},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetPostsSince", channel, since.UnixMilli()).Return(postList(test.since...), nil)
			api.On("GetPostsForChannel", channel, mock.Anything, scanPage).Return(postList(test.page...), nil)
			postID, gone, err := New(Config{API: api}).FindCard(t.Context(), filehost.Post{UserID: user, ChannelID: channel, Card: "card"}, since)
			assert.Equal(t, test.kind, kindOf(err))
			assert.Equal(t, test.postID, postID)
			assert.Equal(t, test.gone, gone)
		})
	}
	for name, api := range map[string]func(*plugintest.API){
		"a failure":            func(api *plugintest.API) { api.On("GetPostsSince", channel, mock.Anything).Return(nil, refusal(500)) },
		"no answer":            func(api *plugintest.API) { api.On("GetPostsSince", channel, mock.Anything).Return(nil, nil) },
		"a failure of a page":  func(api *plugintest.API) { pagesOf(api, nil, refusal(500)) },
		"no answer for a page": func(api *plugintest.API) { pagesOf(api, nil, nil) },
	} {
		double := &plugintest.API{}
		api(double)
		_, _, err := New(Config{API: double}).FindCard(t.Context(), filehost.Post{ChannelID: channel, Card: "card"}, since)
		assert.Error(t, err, name)
	}
}

func pagesOf(api *plugintest.API, list *model.PostList, appErr *model.AppError) {
	api.On("GetPostsSince", channel, mock.Anything).Return(postList(), nil)
	api.On("GetPostsForChannel", channel, 0, scanPage).Return(list, appErr)
}

func TestAPostIsRewordedWhereItStillSaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		post   *model.Post
		appErr *model.AppError
		want   string // "" = it is left alone
		fails  bool
	}{
		"as it was":             {post: &model.Post{Message: "words\n\nold line"}, want: "words\n\nnew line"},
		"changed by its user":   {post: &model.Post{Message: "other words"}},
		"deleted":               {post: &model.Post{Message: "old line", DeleteAt: 1}},
		"gone":                  {appErr: refusal(http.StatusNotFound)},
		"it can't be read":      {appErr: refusal(500), fails: true},
		"there is no answer":    {fails: true},
		"the line stands twice": {post: &model.Post{Message: "old line old line"}, want: "new line old line"},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetPost", "post").Return(test.post, test.appErr)
			api.On("UpdatePost", mock.Anything).Return(&model.Post{}, nil)
			assert.Equal(t, test.fails, New(Config{API: api}).Reword(t.Context(), "post", "old line", "new line") != nil)
			var got string
			if len(api.Calls) > 1 {
				got = api.Calls[1].Arguments[0].(*model.Post).Message
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestMembersAreActivePeopleAndNotTooMany(t *testing.T) {
	page := func(from, count int) (users []*model.User) {
		for i := range count {
			users = append(users, &model.User{Id: fmt.Sprint(from + i), Username: fmt.Sprint("user", from+i), IsBot: i == 0, DeleteAt: int64(i / (count - 1))})
		}
		return users
	}
	api := &plugintest.API{}
	api.On("GetUsersInChannel", channel, model.ChannelSortByUsername, 0, memberPage).Return(page(0, memberPage), nil)
	api.On("GetUsersInChannel", channel, model.ChannelSortByUsername, 1, memberPage).Return(page(100, 50), nil)
	server := New(Config{API: api})
	members, more, err := server.ChannelMembers(t.Context(), channel, 500)
	require.NoError(t, err)
	assert.Len(t, members, 98+48, "neither the bots nor the deactivated")
	assert.False(t, more)
	members, more, err = server.ChannelMembers(t.Context(), channel, 100)
	require.NoError(t, err)
	assert.Len(t, members, 100)
	assert.True(t, more)

	bots := &plugintest.API{}
	full := make([]*model.User, memberPage)
	for i := range full {
		full[i] = &model.User{IsBot: true}
	}
	bots.On("GetUsersInChannel", channel, mock.Anything, mock.Anything, memberPage).Return(full, nil)
	members, more, err = New(Config{API: bots}).ChannelMembers(t.Context(), channel, 500)
	require.NoError(t, err)
	assert.Empty(t, members)
	assert.True(t, more)
	assert.Len(t, bots.Calls, memberPages)
}

func TestAMemberIsAnActivePersonOfTheChannel(t *testing.T) {
	for name, test := range map[string]struct {
		member *model.ChannelMember
		user   *model.User
		appErr *model.AppError
		want   bool
		fails  bool
	}{
		"a member":    {member: &model.ChannelMember{}, user: &model.User{}, want: true},
		"a bot":       {member: &model.ChannelMember{}, user: &model.User{IsBot: true}},
		"deactivated": {member: &model.ChannelMember{}, user: &model.User{DeleteAt: 1}},
		"none":        {appErr: notFound(), user: &model.User{}},
		"unknown":     {appErr: refusal(500), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetChannelMember", channel, user).Return(test.member, test.appErr)
			api.On("GetUser", user).Return(test.user, nil)
			member, err := New(Config{API: api}).IsMember(t.Context(), user, channel)
			assert.Equal(t, test.fails, err != nil)
			assert.Equal(t, test.want, member)
		})
	}
	member, err := New(Config{API: &plugintest.API{}}).IsMember(t.Context(), "../x", channel)
	require.NoError(t, err)
	assert.False(t, member)
}
