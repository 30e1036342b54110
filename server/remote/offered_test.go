package remote

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// offering is a host that tells what it offers.
func offering(t *testing.T, kind string, tell http.HandlerFunc) (*Client, *clockwork.FakeClock, *atomic.Int32) {
	t.Helper()
	asked := new(atomic.Int32)
	client := sharesOf(t, kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		tell(w, r)
	}))
	return client, client.offering.clock.(*clockwork.FakeClock), asked
}

func capable(sharing string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ocs":{"meta":{"status":"ok","statuscode":200},"data":{"capabilities":` + sharing + `}}}`))
	}
}

func TestLinksAreOfferedAsTheHostTellsItsUser(t *testing.T) {
	onlyInternal := filehost.Links{Internal: true}
	for name, test := range map[string]struct {
		tell   http.HandlerFunc
		links  filehost.Links
		policy filehost.Policy
	}{
		"Nextcloud, as recorded":     {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"password":{"enforced":false,"askForOptionalPassword":false},"expire_date":{"enabled":false}}}}`), allLinks, filehost.Policy{}},
		"all rules":                  {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"password":{"enforced":true},"expire_date":{"enabled":true,"days":7,"enforced":true}}}}`), allLinks, filehost.Policy{PasswordRequired: true, ExpiryRequired: true, MaxExpiry: 7 * day}},
		"an end by default":          {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"expire_date":{"enabled":true,"days":7,"enforced":false}}}}`), allLinks, filehost.Policy{}},
		"days as text":               {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"expire_date":{"enabled":true,"days":"7","enforced":true}}}}`), allLinks, filehost.Policy{ExpiryRequired: true, MaxExpiry: 7 * day}},
		"days without sense":         {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"expire_date":{"enabled":true,"days":99999999999,"enforced":true}}}}`), allLinks, filehost.Policy{ExpiryRequired: true}},
		"OpenCloud, as recorded":     {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"password":{"enforced_for":{"read_only":true,"read_write":true,"read_write_delete":true,"upload_only":true},"enforced":false}}}}`), allLinks, filehost.Policy{PasswordRequired: true}},
		"ownCloud, for writing only": {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"password":{"enforced_for":{"read_only":false,"read_write":true},"enforced":true}}}}`), allLinks, filehost.Policy{}},
		"no links":                   {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":false}}}`), onlyInternal, filehost.Policy{}},
		"no shares":                  {capable(`{"files_sharing":{"api_enabled":false,"public":{"enabled":true}}}`), onlyInternal, filehost.Policy{}},
		"no shares for this user":    {capable(`{"files_sharing":{"api_enabled":true,"can_share":false,"public":{"enabled":true}}}`), onlyInternal, filehost.Policy{}},
		"no links for this user":     {capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true,"can_create_public_link":false}}}`), onlyInternal, filehost.Policy{}},
		"no such app":                {capable(`{"files":{}}`), onlyInternal, filehost.Policy{}},
		"an empty list of them":      {capable(`[]`), allLinks, filehost.Policy{}},
		"none told":                  {capable(`null`), allLinks, filehost.Policy{}},
		"a fault":                    {status(http.StatusInternalServerError), allLinks, filehost.Policy{}},
		"no sign-in":                 {status(http.StatusUnauthorized), allLinks, filehost.Policy{}},
	} {
		client, _, _ := offering(t, "nextcloud", test.tell)
		assert.Equal(t, test.links, client.Capabilities(t.Context(), alice).Links, name)
		assert.Equal(t, onlyInternal, client.Capabilities(t.Context(), reader()).Links, "%s: who may only read makes none", name)
		policy, err := client.LinkPolicy(t.Context(), alice)
		require.NoError(t, err)
		assert.Equal(t, test.policy, policy, name)
	}
	client, _, asked := offering(t, "webdav", status(http.StatusNotFound))
	assert.Zero(t, client.Capabilities(t.Context(), alice).Links)
	policy, err := client.LinkPolicy(t.Context(), alice)
	require.NoError(t, err)
	assert.Zero(t, policy)
	assert.Zero(t, asked.Load())
}

func TestWhatAHostOffersIsAskedOnceInAWhile(t *testing.T) {
	tell := capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":true}}}`)
	answer := tell
	client, clock, asked := offering(t, "nextcloud", func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	want := func(requests int32, why string) {
		t.Helper()
		client.Capabilities(t.Context(), alice)
		assert.Equal(t, requests, asked.Load(), why)
	}
	want(1, "the first time")
	want(1, "at once again")
	clock.Advance(offeredLife)
	want(2, "after a while")

	other := alice
	other.Connection = "another"
	client.Capabilities(t.Context(), other)
	assert.Equal(t, int32(3), asked.Load(), "another connection is another user's")
	renewed := alice
	renewed.Generation, renewed.Secret = "newer", filehost.NewSecret("newer")
	client.Capabilities(t.Context(), renewed)
	assert.Equal(t, int32(3), asked.Load(), "a refreshed credential is the same user's")

	clock.Advance(offeredLife)
	answer = status(http.StatusBadGateway)
	want(4, "the host fails")
	want(4, "at once again")
	clock.Advance(offeredRetry)
	answer = tell
	want(5, "it is asked again soon")
}

func TestWhatAHostOffersIsOfOneUser(t *testing.T) {
	client, _, asked := offering(t, "nextcloud", func(w http.ResponseWriter, r *http.Request) {
		may := map[bool]string{true: "true", false: "false"}[r.Header.Get("Authorization") == "Bearer first"]
		capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":`+may+`}}}`)(w, r)
	})
	first := filehost.Credential{UserID: "first", Scheme: filehost.Bearer, Secret: filehost.NewSecret("first")} // while he connects
	for what, other := range map[string]filehost.Credential{
		"user":       {UserID: "second"},
		"connection": {UserID: "first", Connection: "another"},
		"account":    {UserID: "first", Account: "another"},
		"username":   {UserID: "first", Username: "another"},
	} {
		other.Scheme, other.Secret = filehost.Bearer, filehost.NewSecret("second")
		assert.True(t, client.Capabilities(t.Context(), first).Links.Public, what)
		assert.False(t, client.Capabilities(t.Context(), other).Links.Public, "another %s", what)
	}
	assert.Equal(t, int32(5), asked.Load(), "each asks once")
}

func TestWhoeverAsksAtOnceSharesOneAnswer(t *testing.T) {
	open, inside := make(chan struct{}), make(chan struct{}, 1)
	client, _, asked := offering(t, "nextcloud", func(w http.ResponseWriter, r *http.Request) {
		inside <- struct{}{}
		<-open
		capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":false}}}`)(w, r)
	})
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { assert.False(t, client.Capabilities(t.Context(), alice).Links.Public) })
	}
	<-inside
	gone, leave := context.WithCancel(t.Context())
	leave()
	assert.Equal(t, allLinks, client.Capabilities(gone, alice).Links, "who can't wait is told what the kind of host has")
	close(open)
	all.Wait()
	assert.Equal(t, int32(1), asked.Load())
}

func TestWhoLeavesTellsNothingOfTheHost(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	client, _, asked := offering(t, "nextcloud", func(w http.ResponseWriter, r *http.Request) {
		if gone.Err() == nil {
			leave()
			<-r.Context().Done() // until he has left
			return
		}
		capable(`{"files_sharing":{"api_enabled":true,"public":{"enabled":false}}}`)(w, r)
	})
	assert.True(t, client.Capabilities(gone, alice).Links.Public)
	assert.False(t, client.Capabilities(t.Context(), alice).Links.Public, "the next one asks")
	assert.Equal(t, int32(2), asked.Load())
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	memory := newRecent[int, int](clockwork.NewFakeClock(), 10)
	for i := range 1000 {
		_, err := memory.get(t.Context(), i, func() (int, time.Duration) { return i, time.Hour })
		require.NoError(t, err)
		assert.LessOrEqual(t, len(memory.kept), 10)
	}
	memory.forget(999)
	got, err := memory.get(t.Context(), 999, func() (int, time.Duration) { return 7, time.Hour })
	require.NoError(t, err)
	assert.Equal(t, 7, got)
}
