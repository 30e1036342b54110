package mattermost

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// IsIn implements filehost.Members. Nothing is remembered: who leaves a team is out at the next request.
func (s *Server) IsIn(_ context.Context, userID string, audience filehost.Audience) (bool, error) {
	user, appErr := s.API.GetUser(userID)
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusNotFound:
		return false, nil
	case appErr != nil:
		return false, errors.Wrap(appErr, "look up a user")
	case user == nil:
		return false, errNoAnswer
	case user.DeleteAt != 0, user.IsBot, user.IsRemote():
		return false, nil
	}
	guest := user.IsGuest()
	if audience.Everyone && !guest {
		return true, nil
	}
	if !guest {
		for _, name := range audience.Teams {
			if in, err := s.inTeam(userID, name); in || err != nil {
				return in, err
			}
		}
	}
	return s.inGroup(userID, audience.Groups)
}

func (s *Server) inTeam(userID, name string) (bool, error) {
	team, err := found(s.API.GetTeamByName(name))
	if err != nil || team == nil || team.DeleteAt != 0 || team.Id != s.Teams[name] {
		return false, err
	}
	member, err := found(s.API.GetTeamMember(team.Id, userID))
	return member != nil && member.DeleteAt == 0, err
}

// inGroup tells whether a user is in one of the groups. Those that users have made themselves don't count, nor does what
// is left of a directory's groups when the server no longer keeps them up to date.
func (s *Server) inGroup(userID string, names []string) (bool, error) {
	if len(names) == 0 || !s.syncsGroups() {
		return false, nil
	}
	groups, err := found(s.API.GetGroupsForUser(userID))
	return slices.ContainsFunc(groups, func(group *model.Group) bool {
		return group.DeleteAt == 0 && group.Source != model.GroupSourceCustom && slices.Contains(names, strings.ToLower(value(group.Name)))
	}), err
}

// syncsGroups tells whether the server has the licence by which it keeps groups as the directory has them. It drops one
// that has run out.
func (s *Server) syncsGroups() bool {
	license := s.API.GetLicense()
	return license != nil && license.Features != nil && value(license.Features.LDAPGroups)
}

// found is the answer of a look-up, empty for what is not there.
func found[T any](answer T, appErr *model.AppError) (T, error) {
	var none T
	switch {
	case appErr == nil:
		return answer, nil
	case appErr.StatusCode == http.StatusNotFound:
		return none, nil
	}
	return none, errors.Wrap(appErr, "look up who has access")
}

// CheckAudience implements filehost.Members.
func (s *Server) CheckAudience(_ context.Context, audience filehost.Audience) error {
	var remedies []string
	usable := audience.Everyone
	add := func(remedy string, works bool, err error) error {
		if remedy != "" {
			remedies = append(remedies, remedy)
		}
		usable = usable || works
		return err
	}
	for _, name := range audience.Teams {
		if err := add(s.checkTeam(name, audience.Everyone)); err != nil {
			return err
		}
	}
	for _, name := range audience.Groups {
		if err := add(s.checkGroup(name)); err != nil {
			return err
		}
	}
	remedy := strings.Join(remedies, " ")
	switch {
	case !usable:
		return filehost.E(filehost.NotConfigured, remedy+" Until then nobody gets access without signing in.", nil)
	case remedy != "":
		return &filehost.Degraded{Remedy: remedy, Err: errors.New("not all of the audience is as it seems")}
	}
	return nil
}

// CheckNames implements filehost.Members.
func (s *Server) CheckNames(context.Context) error {
	config, err := s.config()
	if err != nil || !value(config.ServiceSettings.ExperimentalEnableAuthenticationTransfer) {
		return err
	}
	return &filehost.Degraded{Err: errChosenNames, Remedy: fmt.Sprintf(
		"%s is set to user names, and Mattermost lets users move a password account, with whatever name they gave it, to the single sign-on: "+
			"switch Mattermost's ServiceSettings.ExperimentalEnableAuthenticationTransfer off (System Console, Experimental, Allow Authentication Transfer), or name users by their id at the single sign-on.",
		filehost.Quote(filehost.LabelSubjectClaim))}
}

var errChosenNames = errors.New("users can have chosen the names that they are known by")

func (s *Server) checkTeam(name string, everyone bool) (remedy string, works bool, err error) {
	team, err := found(s.API.GetTeamByName(name))
	setting := filehost.Quote(filehost.LabelOf("AutomaticFor"))
	switch {
	case err != nil:
		return "", false, err
	case team == nil:
		return fmt.Sprintf("%s names the team %s, and there is none: enter the name that stands in the team's address.", setting, filehost.Quote(name)), false, nil
	case team.DeleteAt != 0:
		return fmt.Sprintf("%s names the team %s, which is archived: restore it, or name another one.", setting, filehost.Quote(name)), false, nil
	case team.Id != s.Teams[name]:
		return fmt.Sprintf("%s names the team %s, which was made after the setting had named it, so that its members don't count: whoever may make teams could have made it. "+
			"If it is the one that you mean, take it out of the setting and save, then enter it again and save.", setting, filehost.Quote(name)), false, nil
	case team.AllowOpenInvite && !everyone:
		return fmt.Sprintf("%s names the team %s, which everybody on this server may join: close it (Team Settings, Access), or enter everyone if that is meant.", setting, filehost.Quote(name)), true, nil
	}
	return "", true, nil
}

func (s *Server) checkGroup(name string) (remedy string, works bool, err error) {
	setting := filehost.Quote(filehost.LabelOf("AutomaticFor"))
	if !s.syncsGroups() {
		return fmt.Sprintf("%s names the group %s, but this Mattermost server has no licence for groups of a directory (AD/LDAP): name a team.", setting, filehost.Quote(name)), false, nil
	}
	group, err := found(s.API.GetGroupByName(name))
	switch {
	case err != nil:
		return "", false, err
	case group == nil, group.DeleteAt != 0:
		return fmt.Sprintf("%s names the group %s, and there is none: enter the name by which it is mentioned.", setting, filehost.Quote(name)), false, nil
	case group.Source == model.GroupSourceCustom:
		return fmt.Sprintf("%s names the group %s, which users have made themselves: name one of the directory (AD/LDAP), or a team.", setting, filehost.Quote(name)), false, nil
	}
	return "", true, nil
}
