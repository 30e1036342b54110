package mattermost

import (
	"net/http"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// company is a server with users, teams and groups. Whom it does not have it does not find.
type company struct {
	plugin.API
	users   map[string]*model.User
	teams   map[string]*model.Team                  // by name
	members map[string]map[string]*model.TeamMember // by the team's id and the user's
	groups  map[string]*model.Group                 // by name
	joined  map[string][]string                     // names of groups by user
	license *model.License
	failed  bool // the database is down
}

func newCompany() *company {
	name := func(name string) *string { return &name }
	groups := true
	return &company{
		users: map[string]*model.User{
			"ann": {Id: "ann"}, "guest": {Id: "guest", Roles: "system_guest"}, "gone": {Id: "gone", DeleteAt: 1}, "bot": {Id: "bot", IsBot: true},
			"remote": {Id: "remote", RemoteId: name("other site")}, "left": {Id: "left"},
		},
		teams: map[string]*model.Team{
			"sales": {Id: "t1", Name: "sales"}, "old": {Id: "t2", Name: "old", DeleteAt: 1}, "open": {Id: "t3", Name: "open", AllowOpenInvite: true},
		},
		members: map[string]map[string]*model.TeamMember{
			"t1": {"ann": {}, "guest": {SchemeGuest: true}, "gone": {}, "bot": {}, "remote": {}, "left": {DeleteAt: 1}},
			"t2": {"ann": {}},
		},
		groups: map[string]*model.Group{
			"engineers": {Id: "g1", Name: name("engineers"), Source: model.GroupSourceLdap},
			"friends":   {Id: "g2", Name: name("friends"), Source: model.GroupSourceCustom},
			"former":    {Id: "g3", Name: name("former"), Source: model.GroupSourceLdap, DeleteAt: 1},
			"nameless":  {Id: "g4", Source: model.GroupSourceLdap},
		},
		joined:  map[string][]string{"ann": {"nameless", "engineers"}, "guest": {"engineers"}, "bot": {"engineers"}, "left": {"friends", "former"}},
		license: &model.License{Features: &model.Features{LDAPGroups: &groups}},
	}
}

func (c *company) down() *model.AppError {
	if c.failed {
		return model.NewAppError("where", "id", nil, "", http.StatusInternalServerError)
	}
	return nil
}

func (c *company) GetUser(id string) (*model.User, *model.AppError) {
	if user, ok := c.users[id]; ok {
		return user, nil
	}
	return nil, notFound()
}

func (c *company) GetTeamByName(name string) (*model.Team, *model.AppError) {
	if c.failed {
		return nil, c.down()
	}
	if team, ok := c.teams[name]; ok {
		return team, nil
	}
	return nil, notFound()
}

func (c *company) GetTeamMember(team, user string) (*model.TeamMember, *model.AppError) {
	if member, ok := c.members[team][user]; ok {
		return member, nil
	}
	return nil, notFound()
}

func (c *company) GetGroupByName(name string) (*model.Group, *model.AppError) {
	if group, ok := c.groups[name]; ok {
		return group, nil
	}
	return nil, notFound()
}

func (c *company) GetGroupsForUser(user string) (groups []*model.Group, _ *model.AppError) {
	for _, name := range c.joined[user] {
		groups = append(groups, c.groups[name])
	}
	return groups, c.down()
}

func (c *company) GetLicense() *model.License { return c.license }

// server is the plugin's view of the company, whose teams were all there when they were named.
func (c *company) server() *Server {
	teams := map[string]string{}
	for name, team := range c.teams {
		teams[name] = team.Id
	}
	return New(Config{API: c, Teams: teams})
}

func audience(t *testing.T, text string) filehost.Audience {
	t.Helper()
	parsed, err := filehost.ParseAudience(text)
	require.NoError(t, err)
	return parsed
}

func TestWhoIsInAnAudience(t *testing.T) {
	for text, want := range map[string][]string{
		"everyone":                        {"ann", "left"},
		"team:sales":                      {"ann"},
		"team:old":                        nil,
		"team:none":                       nil,
		"team:none, team:sales":           {"ann"},
		"group:engineers":                 {"ann", "guest"},
		"group:friends":                   nil,
		"group:former":                    nil,
		"group:none":                      nil,
		"group:@Engineers, team:Sales":    {"ann", "guest"},
		"everyone, group:engineers":       {"ann", "guest", "left"},
		"team:sales, group:friends,team:": nil, // does not parse
	} {
		t.Run(text, func(t *testing.T) {
			parsed, err := filehost.ParseAudience(text)
			if err != nil {
				assert.Nil(t, want)
				return
			}
			server := newCompany().server()
			var in []string
			for _, id := range []string{"ann", "guest", "gone", "bot", "remote", "left", "nobody"} {
				is, err := server.IsIn(t.Context(), id, parsed)
				require.NoError(t, err)
				if is {
					in = append(in, id)
				}
			}
			assert.Equal(t, want, in)
		})
	}
}

func TestGroupsWithoutTheirLicenceHaveNoMembers(t *testing.T) {
	for name, license := range map[string]*model.License{"none": nil, "another": {Features: &model.Features{}}, "an empty one": {}} {
		t.Run(name, func(t *testing.T) {
			api := newCompany()
			api.license = license
			is, err := api.server().IsIn(t.Context(), "ann", audience(t, "group:engineers"))
			require.NoError(t, err)
			assert.False(t, is)
		})
	}
}

func TestWhoIsInAnAudienceIsNotGuessedWhenItCantBeLookedUp(t *testing.T) {
	for _, text := range []string{"team:sales", "group:engineers"} {
		api := newCompany()
		api.failed = true
		is, err := api.server().IsIn(t.Context(), "ann", audience(t, text))
		require.Error(t, err, text)
		assert.False(t, is, text)
		assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	}
}

func TestTheHealthOfAnAudienceNamesWhatIsWrong(t *testing.T) {
	for text, test := range map[string]struct {
		warns, fails string // what the remedy holds
		change       func(*company)
	}{
		"everyone":                    {},
		"team:sales":                  {},
		"group:engineers":             {},
		"team:sales,team:none":        {warns: "“none”, and there is none"},
		"team:none":                   {fails: "“none”, and there is none"},
		"team:old":                    {fails: "“old”, which is archived"},
		"team:open":                   {warns: "“open”, which everybody on this server may join"},
		"team:open,everyone":          {},
		"group:none,everyone":         {warns: "“none”, and there is none"},
		"group:former":                {fails: "“former”, and there is none"},
		"group:friends":               {fails: "“friends”, which users have made themselves"},
		"team:sales, group:engineers": {warns: "no licence", change: func(c *company) { c.license = nil }},
	} {
		t.Run(text, func(t *testing.T) {
			api := newCompany()
			if test.change != nil {
				test.change(api)
			}
			err := api.server().CheckAudience(t.Context(), audience(t, text))
			var degraded *filehost.Degraded
			switch {
			case test.warns != "":
				require.ErrorAs(t, err, &degraded)
				assert.Contains(t, degraded.Remedy, test.warns)
				assert.Contains(t, degraded.Remedy, filehost.LabelOf("AutomaticFor"))
			case test.fails != "":
				assert.Equal(t, filehost.NotConfigured, filehost.KindOf(err))
				assert.ErrorContains(t, err, test.fails)
			default:
				assert.NoError(t, err)
			}
		})
	}
}
