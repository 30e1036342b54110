package mattermost

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// namedTeamsKey is where the store has the ids of the teams that the settings name, by name, as JSON.
	namedTeamsKey = "audience_teams"

	namedTeamsRounds = 50
	namedTeamsPause  = 100 * time.Millisecond // a replica may lag behind, or another node be as far
)

// NamedTeams returns the ids of the teams that bore these names when the settings first named them; "" = there was none.
// In the default permissions every user may make teams: without this he could make the one that an admin has named by
// mistake, or before making it. A name that is named no more is forgotten, so that naming it again looks it up anew. All
// nodes get the same.
func NamedTeams(ctx context.Context, api plugin.API, kv filehost.KV, clock clockwork.Clock, names []string) (map[string]string, error) {
	for range namedTeamsRounds {
		raw, err := kv.Get(ctx, namedTeamsKey)
		if err != nil {
			return nil, err
		}
		var known map[string]string
		if raw != nil && json.Unmarshal(raw, &known) != nil {
			known = nil // damaged: as if all were named now
		}
		named, err := lookUpTeams(api, known, names)
		if err != nil || maps.Equal(known, named) {
			return named, err
		}
		next, err := json.Marshal(named)
		if err != nil {
			return nil, errors.Wrap(err, "write down the named teams")
		}
		won, err := kv.CompareAndSet(ctx, namedTeamsKey, raw, next, 0)
		if won || err != nil {
			return named, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-clock.After(namedTeamsPause):
		}
	}
	return nil, errors.New("the named teams could not be written down: other nodes were quicker too often")
}

// lookUpTeams returns the ids of teams by name: those that are known, and what the server has for the others.
func lookUpTeams(api plugin.API, known map[string]string, names []string) (map[string]string, error) {
	named := map[string]string{}
	for _, name := range names {
		id, ok := known[name]
		if !ok {
			team, err := found(api.GetTeamByName(name))
			if err != nil {
				return nil, err
			}
			if team != nil {
				id = team.Id
			}
		}
		named[name] = id
	}
	return named, nil
}
