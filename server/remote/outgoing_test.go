package remote

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func contentOf(text string, size int64) *source {
	return &source{reader: strings.NewReader(text), left: size}
}

func TestAPartIsSentAgainOnlyIfNothingOfItWasRead(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://files.example.com/a", bytes.NewReader(nil))
	require.NoError(t, err)
	whole := &part{source: contentOf("hello", 5), size: 5}
	whole.send(request)
	assert.Equal(t, int64(5), request.ContentLength)
	again, err := request.GetBody()
	require.NoError(t, err)
	_, err = again.Read(make([]byte, 1))
	require.NoError(t, err)
	_, err = request.GetBody()
	require.Error(t, err, "the host would get what is left in the place of the whole")
}

func TestAPartIsNoLongerThanItIs(t *testing.T) {
	content := contentOf("hello and more", 5)
	for _, want := range []string{"hel", "lo"} {
		got, err := io.ReadAll(&part{source: content, size: int64(len(want))})
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	n, err := content.Read(make([]byte, 9))
	assert.Zero(t, n)
	require.Equal(t, io.EOF, err)
	got, err := io.ReadAll(contentOf("hello and more", 5))
	require.NoError(t, err)
	assert.Equal(t, "hello", string(got))
}

func TestTheGuardRestsWhileThePartIsRead(t *testing.T) {
	client := clientOf(t, "https://files.example.com", Config{})
	client.clock = clockwork.NewFakeClock()
	_, guard := client.guard(t.Context())
	defer guard.end()
	guard.startFor(time.Minute)
	waits := func() bool { // whether the host is waited for, which it is then as before
		if !guard.timer.Stop() {
			return false
		}
		guard.startFor(time.Minute)
		return true
	}
	content := &beginning{strings.NewReader("hello"), func() { assert.False(t, waits(), "a wait for Mattermost is none for the host") }}
	sent := &part{source: &source{reader: content, left: 5}, size: 5}
	sent.under(guard, time.Hour)
	for _, bytes := range []int{1, 3, 1} {
		assert.True(t, waits())
		_, err := sent.Read(make([]byte, bytes))
		require.NoError(t, err)
	}
	assert.True(t, waits(), "for the answer")
	_, err := sent.Read(make([]byte, 1))
	assert.Equal(t, io.EOF, err)
	assert.True(t, waits())

	late := &part{source: contentOf("hello", 5), size: 5}
	late.under(guard, time.Hour)
	late.answered()
	guard.stop()
	_, err = late.Read(make([]byte, 1))
	require.NoError(t, err)
	assert.False(t, waits(), "the host has answered")
}
