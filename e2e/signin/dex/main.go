// Command dex is Dex over memory, with one connector of type oidc: `dex CONFIG.json`. The connector is added once Dex
// runs, as its API does it, so that its issuer need not be up before.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"golang.org/x/crypto/bcrypt"
)

// settings are what the file holds that the program is given.
type settings struct {
	Address, Issuer string
	// Users are those that Dex knows itself, and their passwords.
	Users map[string]string
	// Client is the one that may exchange tokens.
	Client struct {
		ID, Secret   string
		RedirectURIs []string
	}
	// Connector is that of the issuer whose ID tokens are exchanged.
	Connector struct{ ID, Issuer string }
}

// tokenLife is how long Dex's tokens last.
const tokenLife = time.Hour

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s settings
	if err := json.Unmarshal(content, &s); err != nil {
		return err
	}
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(io.Discard, nil)) // it logs what the tests look for
	store := memory.New(logger)
	if err := s.fill(ctx, store); err != nil {
		return err
	}
	dex, err := server.NewServer(ctx, server.Config{
		Issuer: s.Issuer, Storage: store, Logger: logger, SkipApprovalScreen: true, IDTokensValidFor: tokenLife,
	})
	if err != nil {
		return err
	}
	if err := s.connect(ctx, store); err != nil {
		return err
	}
	listener := &http.Server{Addr: s.Address, Handler: dex, ReadHeaderTimeout: 10 * time.Second}
	return listener.ListenAndServe()
}

// fill adds the client and the users.
func (s settings) fill(ctx context.Context, store storage.Storage) error {
	err := store.CreateClient(ctx, storage.Client{
		ID: s.Client.ID, Secret: s.Client.Secret, RedirectURIs: s.Client.RedirectURIs, Name: "Mattermost",
	})
	if err != nil {
		return err
	}
	for name, password := range s.Users {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost) // Dex takes no less
		if err != nil {
			return err
		}
		err = store.CreatePassword(ctx, storage.Password{
			Email: name + "@example.com", Username: name, UserID: name, Hash: hash,
		})
		if err != nil {
			return err
		}
	}
	return store.CreateConnector(ctx, storage.Connector{ID: server.LocalConnector, Type: server.LocalConnector, Name: "Dex"})
}

// connect adds the connector of the issuer.
func (s settings) connect(ctx context.Context, store storage.Storage) error {
	config, err := json.Marshal(map[string]any{
		"issuer": s.Connector.Issuer, "clientID": "dex", "redirectURI": s.Issuer + "/callback",
		"scopes": []string{"profile"}, // with "email" it wants email_verified too
	})
	if err != nil {
		return err
	}
	return store.CreateConnector(ctx, storage.Connector{
		ID: s.Connector.ID, Type: "oidc", Name: "Mattermost", ResourceVersion: "1", Config: config,
	})
}
