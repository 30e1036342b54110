package mattermost

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestOnlyAUsersOwnSessionActsAsHim(t *testing.T) {
	down := model.NewAppError("", "", nil, "", http.StatusInternalServerError)
	for name, test := range map[string]struct {
		user       *model.User
		userErr    *model.AppError
		session    *model.Session
		sessionErr *model.AppError
		want       filehost.Kind
	}{
		"his own":                       {&model.User{}, nil, &model.Session{UserId: user}, nil, ok},
		"a bot's token":                 {&model.User{IsBot: true}, nil, &model.Session{UserId: user, Props: model.StringMap{"type": "UserAccessToken"}}, nil, ok},
		"deactivated":                   {&model.User{DeleteAt: 1}, nil, &model.Session{UserId: user}, nil, filehost.Forbidden},
		"deleted for good":              {nil, notFound(), &model.Session{UserId: user}, nil, filehost.Forbidden},
		"an OAuth application's":        {&model.User{}, nil, &model.Session{UserId: user, IsOAuth: true}, nil, filehost.Forbidden},
		"another user's":                {&model.User{}, nil, &model.Session{UserId: "other"}, nil, filehost.Internal},
		"a user who can't be looked up": {nil, down, &model.Session{UserId: user}, nil, filehost.Internal},
		"one that can't be looked up":   {&model.User{}, nil, nil, down, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			api := &plugintest.API{}
			api.On("GetUser", user).Return(test.user, test.userErr)
			api.On("GetSession", "session").Return(test.session, test.sessionErr).Maybe()
			server := New(Config{API: api})
			for range 2 {
				assert.Equal(t, test.want, kindOf(server.Admit(t.Context(), user, "session")))
			}
		})
	}
}

func TestASessionIsLookedUpOnceAndItsUserEachTime(t *testing.T) {
	api, account := &plugintest.API{}, &model.User{Id: user}
	api.On("GetUser", user).Return(account, nil)
	api.On("GetSession", "session").Return(&model.Session{Id: "session", UserId: user}, nil).Once()
	server := New(Config{API: api})
	require.NoError(t, server.Admit(t.Context(), user, "session"))
	require.NoError(t, server.Admit(t.Context(), user, "session"))
	account.DeleteAt = 1
	assert.Equal(t, filehost.Forbidden, kindOf(server.Admit(t.Context(), user, "session")))
}

func TestARememberedSessionIsNoOtherUsers(t *testing.T) {
	api := &plugintest.API{}
	api.On("GetUser", user).Return(&model.User{}, nil)
	api.On("GetUser", "other").Return(&model.User{}, nil)
	api.On("GetSession", "session").Return(&model.Session{Id: "session", UserId: user}, nil)
	server := New(Config{API: api})
	require.NoError(t, server.Admit(t.Context(), user, "session"))
	assert.Equal(t, filehost.Internal, kindOf(server.Admit(t.Context(), "other", "session")))
}

func TestSessionsAreNotRememberedWithoutEnd(t *testing.T) {
	var known sessions
	for i := range maxSessions + 1 {
		known.remember(&model.Session{Id: strconv.Itoa(i), UserId: user})
	}
	assert.Len(t, known.user, 1)
}
