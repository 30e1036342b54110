package filehost

import (
	"context"
	"iter"
)

// Kept is what an admin may know of what is kept of a user's access: nothing that gives access.
type Kept struct {
	Connection
	UserID   string // "" where the record doesn't say, or says what it doesn't prove
	Username string // "" for who is no Mattermost user any more
	Position string // in the store, for the next page
}

// KeptQuery asks for a page of what is kept.
type KeptQuery struct {
	State ConnectionState // "" = any
	Grant string          // "" = any
	After string          // the position that the last page ended at; "" = the first page
	Limit int             // of connections on the page
}

// KeptPage is one page. Its order means nothing, but is the same for all pages.
type KeptPage struct {
	Connections []Kept
	Next        string      // the position to go on from; "" = there is no more
	Counts      *KeptCounts // of all that is kept, whatever was asked for; nil on later pages
}

// KeptCounts counts what is kept.
type KeptCounts struct {
	Total   int
	ByState map[ConnectionState]int
	ByGrant map[string]int // of those whose grant can be read
}

// Keeper tells what is kept of all users' access.
type Keeper interface {
	// Kept yields what is kept, one by one after a position ("" = from the first on), without Username and Methods. It
	// ends with an error, or when the loop does.
	Kept(ctx context.Context, after string) iter.Seq2[Kept, error]
	// Keeps tells whether anything is kept that gives a user access, or once has.
	Keeps(ctx context.Context, userID string) (bool, error)
}

// KeptConnections tells a system admin whose access is kept and in what state.
func (s *Service) KeptConnections(ctx context.Context, adminID string, query KeptQuery) (KeptPage, error) {
	if err := s.admin(ctx, adminID); err != nil {
		return KeptPage{}, err
	}
	var page KeptPage
	if query.After == "" {
		page.Counts = &KeptCounts{ByState: map[ConnectionState]int{}, ByGrant: map[string]int{}}
	}
	for kept, err := range s.Connections.Kept(ctx, query.After) {
		if err != nil {
			return KeptPage{}, err
		}
		page.Counts.add(kept)
		switch {
		case kept.UserID == "", !query.matches(kept):
			continue
		case len(page.Connections) < query.Limit:
			page.Connections = append(page.Connections, kept)
			continue
		}
		page.Next = page.Connections[query.Limit-1].Position
		if page.Counts == nil {
			break
		}
	}
	return page, s.nameUsers(ctx, page.Connections)
}

func (q KeptQuery) matches(kept Kept) bool {
	return (q.State == "" || q.State == kept.State) && (q.Grant == "" || q.Grant == kept.Grant)
}

func (c *KeptCounts) add(kept Kept) {
	if c == nil {
		return
	}
	c.Total++
	c.ByState[kept.State]++
	if kept.Grant != "" {
		c.ByGrant[kept.Grant]++
	}
}

// nameUsers looks up the names of users. Who is gone has none.
func (s *Service) nameUsers(ctx context.Context, connections []Kept) error {
	for i := range connections {
		user, err := s.Mattermost.User(ctx, connections[i].UserID)
		if err != nil && KindOf(err) != NotFound {
			return err
		}
		connections[i].Username = user.Username
	}
	return nil
}

// RevokeConnection ends a user's access as he himself could, by the word of a system admin. It fails with NotFound when
// there is none; a sign-in that is still under way has ended then, too.
func (s *Service) RevokeConnection(ctx context.Context, adminID, userID string) error {
	if err := s.admin(ctx, adminID); err != nil {
		return err
	}
	keeps, err := s.endSignIns(ctx, userID)
	switch {
	case err != nil:
		return err
	case !keeps:
		return E(NotFound, "This user has no connection to "+s.Host.Name+".", nil)
	}
	return s.end(ctx, adminID, userID)
}

// UserDeactivated ends the access of a user whom an admin has just deactivated, and what sign-ins he has under way. Of who
// has none nothing is changed or written down.
func (s *Service) UserDeactivated(ctx context.Context, userID string) error {
	keeps, err := s.endSignIns(ctx, userID)
	if err != nil || !keeps {
		return err
	}
	return s.end(ctx, "", userID)
}

// endSignIns ends what sign-ins a user has under way, and then tells whether he has access: none of them gives it any more.
func (s *Service) endSignIns(ctx context.Context, userID string) (keeps bool, err error) {
	if err := s.Connections.EndSignIns(ctx, userID); err != nil {
		return false, err
	}
	return s.Connections.Keeps(ctx, userID)
}

// ReplaceSigningKeys puts new keys in the place of those that the plugin signs with, by the word of a system admin who
// fears that they are known, or whose encryption key is lost. It fails with NotFound where nothing is signed.
func (s *Service) ReplaceSigningKeys(ctx context.Context, adminID string) error {
	if err := s.admin(ctx, adminID); err != nil {
		return err
	}
	if err := s.Issuer.ReplaceKeys(ctx); err != nil {
		return err
	}
	s.note(ctx, AuditEvent{Action: AuditReplaceKeys, ActingUserID: adminID})
	return nil
}

// end revokes a user's access by another's word; "" = the plugin's own.
func (s *Service) end(ctx context.Context, actor, userID string) error {
	ended, _ := s.Connections.Connection(ctx, userID) // what can't be told of it doesn't keep it from ending
	s.pages.forget(userID)
	if err := s.Connections.Disconnect(ctx, userID); err != nil {
		return err
	}
	s.Mattermost.ConnectionChanged(userID)
	s.note(ctx, AuditEvent{Action: AuditRevoke, ActingUserID: actor, TargetUserID: userID, Grant: ended.Grant, Account: ended.Account})
	return nil
}

// admin fails with Forbidden for who is no active system admin.
func (s *Service) admin(ctx context.Context, userID string) error {
	user, err := s.person(ctx, userID)
	if err == nil && !user.Admin {
		return E(Forbidden, "Only a system admin may do this.", nil)
	}
	return err
}
