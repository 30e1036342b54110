package suite

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// databaseIsClean fails when the server's database, after all tests, holds anything secret in the clear: in whatever table,
// as text or as bytes.
func databaseIsClean(ctx context.Context) error {
	rows, err := databaseRows(ctx)
	if err != nil {
		return err
	}
	// What is there for certain would be found, in a text and in the bytes of a record.
	for _, known := range []string{"filehost-attach", `"ciphertext"`} {
		if _, found := find(rows, known); !found {
			return fmt.Errorf("a look through the database does not see %s, which is there", known)
		}
	}
	for _, secret := range site.Host.Secrets() {
		if table, found := find(rows, secret); found {
			return fmt.Errorf("the table %s holds a secret: %s", table, secret)
		}
	}
	return nil
}

// databaseRows are the contents of all tables, by their names.
func databaseRows(ctx context.Context) (rows map[string]string, err error) {
	database, err := site.Database(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, database.Close(ctx)) }()
	tables, err := texts(ctx, database, "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
	if err != nil {
		return nil, err
	}
	rows = map[string]string{}
	for _, table := range tables {
		found, err := texts(ctx, database, "SELECT t::text FROM "+table+" t")
		if err != nil {
			return nil, err
		}
		rows[table] = strings.Join(found, "\n")
	}
	return rows, nil
}

func texts(ctx context.Context, database *pgx.Conn, query string) ([]string, error) {
	rows, err := database.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// find looks for a text as it is, as PostgreSQL shows bytes, and as JSON shows them.
func find(rows map[string]string, text string) (table string, found bool) {
	raw := []byte(text)
	forms := []string{text, hex.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw)}
	for table, content := range rows {
		for _, form := range forms {
			if strings.Contains(content, form) {
				return table, true
			}
		}
	}
	return "", false
}
