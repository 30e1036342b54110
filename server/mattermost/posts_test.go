package mattermost

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func refusal(status int) *model.AppError {
	return model.NewAppError("CreatePost", "id", nil, "", status)
}

func TestAPostThatIsRefusedIsToldFromOneThatMayBeThere(t *testing.T) {
	for name, test := range map[string]struct {
		created *model.Post
		appErr  *model.AppError
		want    filehost.Kind
	}{
		"another plugin rejects it":  {nil, refusal(http.StatusBadRequest), filehost.Forbidden},
		"not allowed":                {nil, refusal(http.StatusForbidden), filehost.Forbidden},
		"the channel is gone":        {nil, refusal(http.StatusNotFound), filehost.NotFound},
		"the database fails":         {nil, refusal(http.StatusInternalServerError), filehost.Internal},
		"the way to the server ends": {nil, nil, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("CreatePost", mock.Anything).Return(test.created, test.appErr)
			_, err := New(Config{API: api}).Post(t.Context(), filehost.Post{UserID: user, FileIDs: []string{"a"}, PendingID: "pending"})
			require.Error(t, err)
			assert.Equal(t, test.want, kindOf(err))
			assert.Equal(t, "pending", api.Calls[0].Arguments[0].(*model.Post).PendingPostId)
		})
	}
}

func TestFilesAreToldAsTheServerHasThem(t *testing.T) {
	api := &plugintest.API{}
	api.On("GetFileInfo", "a").Return(&model.FileInfo{Id: "a", CreatorId: user, ChannelId: channel, PostId: "post"}, nil)
	api.On("GetFileInfo", "gone").Return(nil, refusal(http.StatusNotFound))
	api.On("GetFileInfo", "broken").Return(nil, refusal(http.StatusInternalServerError))
	api.On("GetFileInfo", "unanswered").Return(nil, nil)
	server := New(Config{API: api})
	files, err := server.Files(t.Context(), []string{"gone", "a"})
	require.NoError(t, err)
	assert.Equal(t, []filehost.FileInfo{{}, {ID: "a", UserID: user, ChannelID: channel, PostID: "post"}}, files)
	for _, id := range []string{"broken", "unanswered"} {
		_, err = server.Files(t.Context(), []string{"a", id})
		assert.Error(t, err, "it isn't known to be gone")
	}
}

// fileInfos lets the server know files by their post; "gone" = the file was deleted.
func fileInfos(api *plugintest.API, postOf map[string]string) {
	for id, postID := range postOf {
		if postID == "gone" {
			api.On("GetFileInfo", id).Return(nil, refusal(http.StatusNotFound))
			continue
		}
		api.On("GetFileInfo", id).Return(&model.FileInfo{Id: id, PostId: postID}, nil)
	}
}

func TestOnlyIncompletePostsOfTheUserAreRemoved(t *testing.T) {
	asked := filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}}
	for name, test := range map[string]struct {
		post    *model.Post
		a, b    string // the posts that have the files
		removed bool
	}{
		"whole":                          {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "post", "post", false},
		"no file attached":               {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "", "", true},
		"one attached":                   {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "post", "", true},
		"known by its file only":         {&model.Post{UserId: user}, "post", "", true},
		"a reply in a thread":            {&model.Post{UserId: user, RootId: "root", ReplyCount: 3, FileIds: []string{"a", "b"}}, "post", "", true},
		"a file taken out by its author": {&model.Post{UserId: user, FileIds: []string{"a"}}, "post", "gone", false},
		"somebody else's":                {&model.Post{UserId: "other", FileIds: []string{"a", "b"}}, "", "", false},
		"somebody else's with a file":    {&model.Post{UserId: "other", FileIds: []string{"a", "b"}}, "post", "", false},
		"in another channel":             {&model.Post{UserId: user, ChannelId: "other", FileIds: []string{"a", "b"}}, "post", "", false},
		"with other files":               {&model.Post{UserId: user, FileIds: []string{"c"}}, "", "", false},
		"made before":                    {&model.Post{UserId: user, FileIds: []string{"a", "b"}, CreateAt: 999}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			test.post.Id = "post"
			if test.post.ChannelId == "" {
				test.post.ChannelId = channel
			}
			if test.post.CreateAt == 0 {
				test.post.CreateAt = 1000
			}
			fileInfos(api, map[string]string{"a": test.a, "b": test.b})
			api.On("GetPost", "post").Return(test.post, nil)
			api.On("GetPostsForChannel", channel, 0, scanPage).Return(&model.PostList{Order: []string{"post"}, Posts: map[string]*model.Post{"post": test.post}}, nil)
			api.On("DeletePost", "post").Return(nil)
			removed, err := New(Config{API: api}).RemoveIncomplete(t.Context(), asked, time.UnixMilli(1000))
			require.NoError(t, err)
			assert.Equal(t, test.removed, removed)
			if test.removed {
				api.AssertCalled(t, "DeletePost", "post")
			} else {
				api.AssertNotCalled(t, "DeletePost", "post")
			}
		})
	}
}

// TestAPostWithRepliesIsNeverRemoved wants the thread to be left, by who made the post and by who comes after him.
func TestAPostWithRepliesIsNeverRemoved(t *testing.T) {
	asked := filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}}
	api := &plugintest.API{}
	post := &model.Post{Id: "post", UserId: user, ChannelId: channel, FileIds: []string{"a"}, ReplyCount: 1}
	fileInfos(api, map[string]string{"a": "post", "b": ""})
	api.On("GetPost", "post").Return(post, nil)
	api.On("CreatePost", mock.Anything).Return(post, nil)
	server := New(Config{API: api})
	_, err := server.RemoveIncomplete(t.Context(), asked, time.UnixMilli(1000))
	assert.Equal(t, filehost.Conflict, kindOf(err))
	assert.ErrorContains(t, err, "has replied")
	_, err = server.Post(t.Context(), asked)
	assert.Equal(t, filehost.Conflict, kindOf(err))
	api.AssertNotCalled(t, "DeletePost", mock.Anything)
}

// TestWhatPostMadeIsRemovedThoughAReplicaDoesNotHaveItYet and nothing but what it made.
func TestWhatPostMadeIsRemovedThoughAReplicaDoesNotHaveItYet(t *testing.T) {
	asked := filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}}
	for name, test := range map[string]struct {
		made    *model.Post
		removed bool
	}{
		"its own":            {&model.Post{UserId: user, ChannelId: channel, FileIds: []string{"a"}}, true},
		"somebody else's":    {&model.Post{UserId: "other", ChannelId: channel, FileIds: []string{"a", "b"}}, false},
		"in another channel": {&model.Post{UserId: user, ChannelId: "other", FileIds: []string{"a"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			test.made.Id = "post"
			api.On("CreatePost", mock.Anything).Return(test.made, nil)
			api.On("GetPost", "post").Return(nil, refusal(http.StatusNotFound))
			api.On("DeletePost", "post").Return(nil)
			_, err := New(Config{API: api}).Post(t.Context(), asked)
			assert.Equal(t, filehost.Internal, kindOf(err))
			if test.removed {
				api.AssertCalled(t, "DeletePost", "post")
			} else {
				api.AssertNotCalled(t, "DeletePost", "post")
			}
		})
	}
}

func TestAPostThatIsDeletedAlreadyIsGone(t *testing.T) {
	api := &plugintest.API{}
	fileInfos(api, map[string]string{"a": "post", "b": ""})
	api.On("GetPost", "post").Return(nil, refusal(http.StatusNotFound))
	removed, err := New(Config{API: api}).RemoveIncomplete(t.Context(), filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}}, time.UnixMilli(1000))
	require.NoError(t, err)
	assert.True(t, removed)
}

// TestAnIncompletePostIsFoundInABusyChannel has it at the end of as many posts as are looked at, and after them.
func TestAnIncompletePostIsFoundInABusyChannel(t *testing.T) {
	const most = scanPages * scanPage
	for name, test := range map[string]struct {
		newer int
		want  filehost.Kind
	}{"on the last page that is read": {most - 2, -1}, "beyond": {most, filehost.Conflict}} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			fileInfos(api, map[string]string{"a": ""})
			lost := &model.Post{Id: "post", UserId: user, ChannelId: channel, FileIds: []string{"a"}, CreateAt: 1000}
			api.On("GetPostsForChannel", channel, mock.Anything, scanPage).Return(func(_ string, page, perPage int) *model.PostList {
				list := model.NewPostList()
				for i := page * perPage; i < min((page+1)*perPage, test.newer); i++ {
					list.AddPost(&model.Post{Id: strconv.Itoa(i), UserId: "other", CreateAt: int64(1_000_000 - i)})
					list.AddOrder(strconv.Itoa(i))
				}
				if len(list.Order) < perPage {
					list.AddPost(lost)
					list.AddOrder(lost.Id)
				}
				return list
			}, func(string, int, int) *model.AppError { return nil })
			api.On("GetPost", "post").Return(lost, nil)
			api.On("DeletePost", "post").Return(nil)
			removed, err := New(Config{API: api}).RemoveIncomplete(t.Context(), filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a"}}, time.UnixMilli(1000))
			assert.Equal(t, test.want < 0, removed)
			if test.want >= 0 {
				assert.Equal(t, test.want, kindOf(err))
				api.AssertNotCalled(t, "DeletePost", "post")
				return
			}
			require.NoError(t, err)
			api.AssertCalled(t, "DeletePost", "post")
		})
	}
}

func TestTheTimeOfARequestNamesItsSetting(t *testing.T) {
	for setting, times := range map[string][2]int{"ServiceSettings.ReadTimeout": {200, 300}, "ServiceSettings.WriteTimeout": {300, 200}} {
		api := &plugintest.API{}
		api.On("GetConfig").Return(&model.Config{ServiceSettings: model.ServiceSettings{ReadTimeout: &times[0], WriteTimeout: &times[1]}})
		limits, err := New(Config{API: api}).Limits(t.Context())
		require.NoError(t, err)
		assert.Equal(t, setting, limits.TimeoutSetting)
		assert.Equal(t, 200*time.Second, limits.RequestTimeout)
	}
}

func TestAPostIsReadUnlessItIsDeleted(t *testing.T) {
	const id = "postaaaaaaaaaaaaaaaaaaaaaa"
	whole := &model.Post{Id: id, UserId: user, ChannelId: channel, RootId: root, FileIds: []string{"a"}}
	for name, test := range map[string]struct {
		id     string
		post   *model.Post
		appErr *model.AppError
		want   filehost.Kind
	}{
		"a post":                     {id, whole, nil, ok},
		"deleted":                    {id, &model.Post{Id: id, DeleteAt: 1}, nil, filehost.NotFound},
		"unknown":                    {id, nil, notFound(), filehost.NotFound},
		"the database fails":         {id, nil, refusal(http.StatusInternalServerError), filehost.Internal},
		"the way to the server ends": {id, nil, nil, filehost.Internal},
		"no id":                      {"../" + id, whole, nil, filehost.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetPost", id).Return(test.post, test.appErr).Maybe()
			post, err := New(Config{API: api}).ReadPost(t.Context(), test.id)
			assert.Equal(t, test.want, kindOf(err))
			if err == nil {
				assert.Equal(t, filehost.SeenPost{ID: id, UserID: user, ChannelID: channel, RootID: root, FileIDs: []string{"a"}}, post)
			}
		})
	}
}
