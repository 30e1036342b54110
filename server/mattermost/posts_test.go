package mattermost

import (
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

func TestOnlyIncompletePostsOfTheUserAreRemoved(t *testing.T) {
	since := time.UnixMilli(1000)
	for name, test := range map[string]struct {
		post    *model.Post
		a, b    string // the posts that have the files; "gone" = the file was deleted
		removed bool
	}{
		"whole":                          {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "post", "post", false},
		"no file attached":               {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "", "", true},
		"one attached":                   {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "post", "", true},
		"known by its file only":         {&model.Post{UserId: user}, "post", "", true},
		"all with another post":          {&model.Post{UserId: user, FileIds: []string{"a", "b"}}, "other", "other", true},
		"a file taken out by its author": {&model.Post{UserId: user, FileIds: []string{"a"}}, "post", "gone", false},
		"somebody else's":                {&model.Post{UserId: "other", FileIds: []string{"a", "b"}}, "", "", false},
		"deleted already":                {&model.Post{UserId: user, FileIds: []string{"a", "b"}, DeleteAt: 1}, "", "", false},
		"with other files":               {&model.Post{UserId: user, FileIds: []string{"c"}}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			test.post.Id = "post"
			for id, postID := range map[string]string{"a": test.a, "b": test.b} {
				if postID == "gone" {
					api.On("GetFileInfo", id).Return(nil, refusal(http.StatusNotFound))
					continue
				}
				api.On("GetFileInfo", id).Return(&model.FileInfo{Id: id, PostId: postID}, nil)
			}
			api.On("GetPostsSince", channel, int64(1000)).Return(&model.PostList{Posts: map[string]*model.Post{"post": test.post}}, nil)
			api.On("DeletePost", "post").Return(nil)
			require.NoError(t, New(Config{API: api}).RemoveIncomplete(t.Context(), filehost.Post{UserID: user, ChannelID: channel, FileIDs: []string{"a", "b"}}, since))
			if test.removed {
				api.AssertCalled(t, "DeletePost", "post")
			} else {
				api.AssertNotCalled(t, "DeletePost", "post")
			}
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
