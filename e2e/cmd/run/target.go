package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// target is the file host that the plugin is tried with, and the account there.
type target struct {
	url, user, password string
	// dir is the account's tree on disk, if that is known.
	dir string
	// settings are nil for the embedded host.
	settings map[string]any
}

// targetFromEnv reads FILEHOST_URL, FILEHOST_KIND, FILEHOST_USER and FILEHOST_PASSWORD, which name
// one's own host, and FILEHOST_CA, a PEM file to trust there. Without the first, the embedded one is meant.
func targetFromEnv(ctx context.Context) (*target, error) {
	t := &target{
		url: os.Getenv("FILEHOST_URL"), user: os.Getenv("FILEHOST_USER"), password: os.Getenv("FILEHOST_PASSWORD"),
	}
	if t.url == "" {
		return &target{}, nil
	}
	kind := os.Getenv("FILEHOST_KIND")
	if kind == "" || t.user == "" || t.password == "" {
		return nil, errors.New("FILEHOST_URL wants FILEHOST_KIND, FILEHOST_USER and FILEHOST_PASSWORD beside it")
	}
	parsed, err := url.Parse(t.url)
	if err != nil {
		return nil, fmt.Errorf("FILEHOST_URL: %w", err)
	}
	// One's own host often is on a private address, which the plugin only calls when told to.
	addresses, err := net.DefaultResolver.LookupHost(ctx, parsed.Hostname())
	if err != nil {
		return nil, fmt.Errorf("FILEHOST_URL: %w", err)
	}
	t.settings = map[string]any{
		"hostname":         parsed.Hostname(),
		"hostkind":         kind,
		"hosturl":          t.url,
		"allowedaddresses": strings.Join(addresses, ","),
		"allowhttp":        parsed.Scheme == "http",
		"signin":           "password",
	}
	if file := os.Getenv("FILEHOST_CA"); file != "" {
		ca, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("FILEHOST_CA: %w", err)
		}
		t.settings["hostca"] = string(ca)
	}
	return t, nil
}

// complete fills in the embedded host, once it is there.
func (t *target) complete(s *stack.Stack) {
	if s.Host == nil {
		return
	}
	t.url, t.user, t.password = s.Host.URL(), "alice", stack.HostPassword("alice")
	t.dir = s.Host.Dir(t.user)
}

// connect connects the account to the host: not at all if the first use does, through its real sign-in page if it is the
// embedded one, else by user name and app password.
func (t *target) connect(ctx context.Context, s *stack.Stack, account *stack.Account) error {
	connection, err := s.Plugin(account).Connection(ctx)
	if err != nil || connection.Automatic {
		return err
	}
	if s.Host != nil {
		return s.Connect(ctx, account, t.user)
	}
	_, err = s.Plugin(account).ConnectWithPassword(ctx, t.user, t.password)
	return err
}
