package filehost_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

const alice, bob = "alice", "bob"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service over doubles that behave.
type world struct {
	*filehost.Service
	remote     *filehosttest.Remote
	shares     *filehosttest.Shares
	tokens     *filehosttest.Tokens
	mattermost *filehosttest.Mattermost
	clock      *clockwork.FakeClock
	kv         *filehosttest.KV
	audit      *filehosttest.Audit
	bot        *filehosttest.Bot
	log        *bytes.Buffer
	sweep      func()                  // of sweeping
	failing    func(call string) error // what the host's shares fail with meanwhile
}

func newWorld() *world {
	w := &world{remote: filehosttest.NewRemote(), tokens: filehosttest.NewTokens(alice), mattermost: filehosttest.NewMattermost(
		filehost.User{ID: alice, Username: alice, Active: true}, filehost.User{ID: bob, Username: bob, Active: true},
		filehost.User{ID: "bot", Bot: true, Active: true}, filehost.User{ID: "gone"},
		filehost.User{ID: admin, Admin: true, Active: true}, filehost.User{ID: "inactive admin", Admin: true})}
	w.shares = filehosttest.NewShares()
	w.remote.Shares = w.shares
	w.clock = clockwork.NewFakeClockAt(noon)
	w.audit = &filehosttest.Audit{}
	w.kv, w.bot, w.log = filehosttest.NewKV(w.clock), &filehosttest.Bot{}, &bytes.Buffer{}
	host := filehost.Host{ID: filehost.DefaultHostID, Name: "Cloud", Kind: "webdav", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com"}}
	w.Service = filehost.New(filehost.Config{
		Host:        host,
		Methods:     []filehost.Method{filehost.MethodOAuth},
		Settings:    filehost.Settings{MaxCopyBytes: 1 << 20, MaxFiles: 10, CopiesPerNode: 2, CopiesPerUser: 1},
		Tokens:      w.tokens,
		Connections: w.tokens,
		Issuer:      w.tokens,
		Remote:      w.remote,
		Mattermost:  w.mattermost,
		Audit:       w.audit,
		Reminders: filehost.NewReminders(filehost.RemindersConfig{Host: host, Users: w.mattermost.User, Bot: w.bot, KV: w.kv, Clock: w.clock,
			Log: slog.New(slog.NewTextHandler(w.log, nil))}),
		Sealer:   filehosttest.Sealer{},
		KV:       w.kv,
		Clock:    w.clock,
		Claims:   filehost.NewClaims(filehosttest.Process{Name: "run"}),
		Copies:   filehost.NewPlaces("copies"),
		Listings: filehost.NewPlaces("listings"),
		Pictures: filehost.NewPlaces("thumbnails"),
		Accounts: w.tokens,
		Log:      slog.New(slog.NewTextHandler(w.log, nil)),
	})
	return w
}
