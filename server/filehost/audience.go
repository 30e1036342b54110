package filehost

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Audience is who gets access without an act of his own. Bots and deactivated users are never in it, and guests only by
// a group.
type Audience struct {
	Everyone bool
	Teams    []string // names, as the teams' addresses have them
	Groups   []string // names of groups that a directory keeps (LDAP), as @mentions have them
}

// maxAudience is how many teams and groups an audience may name: each may be asked for at every request.
const maxAudience = 20

// ParseAudience reads "everyone", or a list of team:NAME and group:NAME. The error completes the sentence that begins
// with the name of what was read.
func ParseAudience(text string) (Audience, error) {
	var audience Audience
	for part := range strings.SplitSeq(text, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		kind, name, _ := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		switch {
		case part == "":
		case part == "everyone":
			audience.Everyone = true
		case strings.ContainsAny(name, " \t;:/"): // which no name has: a separator that is none
			return Audience{}, fmt.Errorf("%q is none of team:NAME, group:NAME and everyone", part)
		case kind == "team" && name != "":
			audience.Teams = append(audience.Teams, name)
		case kind == "group" && name != "":
			audience.Groups = append(audience.Groups, strings.TrimPrefix(name, "@"))
		default:
			return Audience{}, fmt.Errorf("%q is none of team:NAME, group:NAME and everyone", part)
		}
	}
	slices.Sort(audience.Teams)
	slices.Sort(audience.Groups)
	audience.Teams, audience.Groups = slices.Compact(audience.Teams), slices.Compact(audience.Groups)
	if named := len(audience.Teams) + len(audience.Groups); named > maxAudience {
		return Audience{}, fmt.Errorf("%d teams and groups are more than %d", named, maxAudience)
	}
	return audience, nil
}

// IsEmpty tells whether nobody can be in it.
func (a Audience) IsEmpty() bool { return !a.Everyone && len(a.Teams)+len(a.Groups) == 0 }

// Members tells who is in an audience.
type Members interface {
	// IsIn tells whether a user is in the audience now. A team or group that is not there, is archived or can't be looked
	// up has no members, nor has a team that is another one than when the settings named it; of an error nobody may conclude that the user is in it.
	IsIn(ctx context.Context, userID string, audience Audience) (bool, error)
	// CheckAudience fails when a team or group of the audience can have no members, or has other ones than an admin
	// would think, with a remedy.
	CheckAudience(ctx context.Context, audience Audience) error
	// CheckNames fails with Degraded when a user can have chosen the user name that a single sign-on seems to vouch for,
	// with a remedy.
	CheckNames(ctx context.Context) error
}
