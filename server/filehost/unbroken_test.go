package filehost_test

import (
	"cmp"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

var long = []byte(strings.Repeat("0123456789", 100_000))

// copyOf attaches the file while the clock runs as often as the copy waits for it, and returns what Mattermost has of it.
func (w *world) copyOf(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	advanced := make(chan struct{})
	go func() {
		defer close(advanced)
		for w.clock.BlockUntilContext(ctx, 1) == nil {
			w.clock.Advance(time.Second)
		}
	}()
	attached, err := w.Attach(t.Context(), alice, attachment(path))
	cancel()
	<-advanced
	assert.Zero(t, w.remote.OpenFiles(), "each stream is closed")
	if err != nil {
		assert.Empty(t, w.mattermost.Posts())
		return nil, err
	}
	return w.mattermost.Uploads()[attached.Items[0].FileID].Bytes, nil
}

func TestACopyGoesOnWhereTheHostsStreamHasBrokenOff(t *testing.T) {
	for name, breaks := range map[string][]int{
		"once": {700_001}, "at its first byte": {1}, "at its last": {len(long) - 1}, "three times": {600_000, 600_000, 999_999},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.remote.GiveParts()
			w.remote.AddFile("/file", long, noon).Breaks = breaks
			got, err := w.copyOf(t, "/file")
			require.NoError(t, err)
			assert.Equal(t, string(long), string(got))
		})
	}
}

var silence = filehost.E(filehost.Timeout, "No byte came.", nil)

func TestACopyGoesOnAfterASilence(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	file := w.remote.AddFile("/file", long, noon)
	file.Breaks, file.Break = []int{700_000}, silence
	got, err := w.copyOf(t, "/file")
	require.NoError(t, err)
	assert.Equal(t, string(long), string(got))
}

func TestACopyGoesOnByTheStrongETagOfTheAnswer(t *testing.T) {
	for name, listed := range map[string]string{"none is listed": "", "a weak one is listed": `W/"1"`} {
		for change, want := range map[string]filehost.Kind{"": filehost.Internal, `"2"`: filehost.Changed} {
			t.Run(name+change, func(t *testing.T) {
				w := newWorld()
				w.remote.GiveParts()
				file := w.remote.AddFile("/file", long, noon)
				w.remote.Change("/file", func(e *filehost.Entry) { e.ETag = listed })
				file.Breaks, file.Tag = []int{700_000}, `"1"`
				file.Broke = func() { file.Tag = cmp.Or(change, file.Tag) }
				got, err := w.copyOf(t, "/file")
				if want == filehost.Internal {
					require.NoError(t, err)
					assert.Equal(t, string(long), string(got))
					return
				}
				assert.Equal(t, want.Code(), filehost.KindOf(err).Code(), "%v", err)
			})
		}
	}
}

func TestACopyThatCannotGoOnFailsAsItsStreamDid(t *testing.T) {
	for name, test := range map[string]struct {
		breaks []int
		change func(*world)
		kind   filehost.Kind
	}{
		"the host gives no parts": {[]int{700_000}, func(*world) {}, filehost.HostUnavailable},
		"its ETags are weak": {[]int{700_000}, func(w *world) {
			w.remote.GiveParts()
			w.remote.Change("/file", func(e *filehost.Entry) { e.ETag = `W/"1"` })
		}, filehost.HostUnavailable},
		"it breaks off too often": {[]int{600_000, 700_000, 800_000, 900_000}, func(w *world) { w.remote.GiveParts() }, filehost.HostUnavailable},
		"it is silent again": {[]int{600_000, 700_000}, func(w *world) {
			w.remote.GiveParts()
			w.remote.File("/file").Break = silence
		}, filehost.Timeout},
		"after its last byte": {nil, func(w *world) {
			w.remote.GiveParts()
			w.remote.File("/file").Failure = filehost.E(filehost.HostUnavailable, "It has gone.", nil)
		}, filehost.HostUnavailable},
		"before its first byte": {[]int{0}, func(w *world) { w.remote.GiveParts() }, filehost.HostUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.remote.AddFile("/file", long, noon).Breaks = test.breaks
			test.change(w)
			_, err := w.copyOf(t, "/file")
			assert.Equal(t, test.kind.Code(), filehost.KindOf(err).Code(), "%v", err)
		})
	}
}

func TestNoCopyIsMixedOfTwoFiles(t *testing.T) {
	for name, change := range map[string]func(*world){
		"changed": func(w *world) { w.remote.AddFile("/file", long, noon.Add(time.Second)) },
		"gone":    func(w *world) { w.remote.Remove("/file") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.remote.GiveParts()
			file := w.remote.AddFile("/file", long, noon)
			file.Breaks, file.Broke = []int{700_000}, func() { change(w) }
			_, err := w.copyOf(t, "/file")
			assert.Equal(t, filehost.Changed.Code(), filehost.KindOf(err).Code(), "%v", err)
		})
	}
}

func TestACopyGoesOnOnlyWithTheFileThatWasListed(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	file := w.remote.AddFile("/file", long, noon)
	file.Breaks, file.Tag = []int{700_000}, `"another"`
	_, err := w.copyOf(t, "/file")
	assert.Equal(t, filehost.Changed.Code(), filehost.KindOf(err).Code(), "%v", err)
}

// resumer notes as whom the rest of a file is asked for.
type resumer struct {
	filehost.Remote
	users *[]string
}

func (r resumer) OpenFrom(ctx context.Context, credential filehost.Credential, entry filehost.Entry, offset int64) (filehost.Content, error) {
	*r.users = append(*r.users, credential.UserID)
	return r.Remote.OpenFrom(ctx, credential, entry, offset)
}

func TestTheRestOfAFileIsAskedForAsItsUser(t *testing.T) {
	w, users := newWorld(), []string{}
	w.remote.GiveParts()
	w.remote.AddFile("/file", long, noon).Breaks = []int{700_000}
	w.Remote = resumer{w.remote, &users}
	_, err := w.copyOf(t, "/file")
	require.NoError(t, err)
	assert.Equal(t, []string{alice}, users)
}

func TestACopyThatIsCancelledWaitsForTheHostNoLonger(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	w.remote.AddFile("/file", long, noon).Breaks = []int{600_000, 600_000}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		assert.NoError(t, w.clock.BlockUntilContext(t.Context(), 1))
		cancel()
	}()
	_, err := w.Attach(ctx, alice, attachment("/file"))
	require.Error(t, err, "and no clock moved")
	assert.Zero(t, w.remote.OpenFiles())
}

func TestACopyDoesNotGoOnWithAnotherAccount(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	file := w.remote.AddFile("/file", long, noon)
	file.Breaks, file.Broke = []int{700_000}, func() { w.tokens.Connect(alice) }
	_, err := w.copyOf(t, "/file")
	assert.Equal(t, filehost.HostUnavailable.Code(), filehost.KindOf(err).Code(), "%v", err)
}

// early is a server that answers before it has read a file, while a read of it waits for the host.
type early struct {
	filehost.Mattermost
	waits func()
	ended chan error
}

func (e early) Upload(_ context.Context, upload filehost.Upload) (filehost.FileInfo, error) {
	go func() {
		_, err := io.Copy(io.Discard, upload.Content)
		e.ended <- err
	}()
	e.waits()
	return filehost.FileInfo{}, filehost.E(filehost.TooLarge, "No.", nil)
}

func TestACopyThatIsOverWaitsForTheHostNoLonger(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	w.remote.AddFile("/file", long, noon).Breaks = []int{600_000, 600_000}
	ended := make(chan error, 1)
	w.Mattermost = early{w.mattermost, func() { assert.NoError(t, w.clock.BlockUntilContext(t.Context(), 1)) }, ended}
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	require.Error(t, err)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(<-ended), "the read has ended, and no clock moved")
}

func TestACopyThatIsOverWhileTheRestIsOpenedClosesIt(t *testing.T) {
	w := newWorld()
	w.remote.GiveParts()
	file := w.remote.AddFile("/file", long, noon)
	opening, over, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	file.Breaks, file.Resumed = []int{700_000}, func() { close(opening); <-over }
	w.Mattermost = early{w.mattermost, func() { <-opening }, ended}
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	require.Error(t, err)
	close(over)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(<-ended), "nobody reads on")
	assert.Zero(t, w.remote.OpenFiles())
}
