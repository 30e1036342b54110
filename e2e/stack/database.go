package stack

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Database opens the Mattermost server's own database, for tests that break it. The caller closes
// the connection.
func (s *Stack) Database(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.postgres.DSN())
}
