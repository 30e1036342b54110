package tokens

import (
	"context"
	"crypto/sha256"
	"encoding/base64"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// connectionLost is the error of a user whose record can't be used, of which he is told besides. Whoever meets such a record
// does so: who made it dead may have been killed before he told anybody.
func (s *Store) connectionLost(userID string, found entry) error {
	s.reportLoss(userID, found)
	return s.notConnected(found)
}

// reportLoss tells Config.Lost, in the background, of a record that has ended by itself.
func (s *Store) reportLoss(userID string, found entry) {
	loss, ok := lossOf(userID, found)
	if !ok || s.config.Lost == nil || !s.config.Pending.begin(s.config.Lifetime) {
		return // of a plugin that stops: the next use of the record tells
	}
	defer s.config.Pending.running.Done()
	s.config.Pending.background(s.config.Log, func() {
		_, _, _ = s.losses.Do(userID+" "+loss.Of, func() (any, error) { // of callers at once, one tells
			s.tell(loss)
			return struct{}{}, nil
		})
	})
}

func (s *Store) tell(loss filehost.Loss) {
	ctx, cancel := s.withTimeout(context.WithoutCancel(s.config.Lifetime), callLimit)
	defer cancel()
	err := filehost.Recovered(func() error { return s.config.Lost(ctx, loss) })
	if err != nil {
		s.config.Log.Warn("A user could not be told that his connection has ended.", "host", s.config.Host.ID, "user_id", loss.UserID, "error", err.Error())
	}
}

// lossOf tells what was lost with a record. A sign-in that has merely run out is no loss: where the server gives no refresh
// token, that is what each comes to within hours.
func lossOf(userID string, found entry) (filehost.Loss, bool) {
	loss := filehost.Loss{UserID: userID, Account: found.Account, Of: string(found.Generation)}
	switch found.State {
	case dead:
		loss.Reason = filehost.LostRejected
	case foreign:
		loss.Reason = filehost.LostSettings
	case outdated:
		loss.Reason = filehost.LostMethod
	case unreadable:
		hash := sha256.Sum256(found.raw)
		loss.Reason, loss.Of = filehost.LostUnreadable, base64.RawURLEncoding.EncodeToString(hash[:])
	default:
		return filehost.Loss{}, false
	}
	return loss, true
}
