package tokens

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// AccountsOf implements filehost.Accounts. It reads what is kept of each user's connection, and gives out nothing of it but
// the account at the host. Of the account that all users share nothing is kept for any of them.
func (s *Store) AccountsOf(ctx context.Context, userIDs []string) (map[string]string, error) {
	accounts := map[string]string{}
	for _, userID := range userIDs {
		if err := ctx.Err(); err != nil {
			return nil, filehost.E(filehost.Timeout, "Who is connected could not be read in time.", err)
		}
		found, err := s.load(ctx, userID)
		if err != nil {
			return nil, err
		}
		connected := found.State == active || found.State == refreshing
		if connected && found.Account != "" {
			accounts[userID] = found.Account
		}
	}
	return accounts, nil
}
