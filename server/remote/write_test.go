package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// taker is a host that takes files, as its answers say. What it is not told of is not there.
type taker struct {
	mu       sync.Mutex
	answers  map[string]http.HandlerFunc // by method and path
	requests []string
	bodies   map[string]string
	headers  map[string]http.Header
}

func newTaker(t *testing.T, kind string, answers map[string]http.HandlerFunc) (*taker, *Client) {
	t.Helper()
	h := &taker{answers: answers, bodies: map[string]string{}, headers: map[string]http.Header{}}
	client := serve(t, kind, "", h.ServeHTTP)
	return h, client
}

// ServeHTTP implements http.Handler.
func (h *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	place := r.URL.EscapedPath()
	for temporary, after := range map[string]string{"/.filehost-attach-": ".tmp"} {
		if before, rest, ok := strings.Cut(place, temporary); ok {
			_, rest, _ = strings.Cut(rest, after)
			place = before + "/TEMPORARY" + rest
		}
	}
	key := r.Method + " " + place
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.requests = append(h.requests, key)
	h.bodies[key], h.headers[key] = string(body), r.Header
	answer := h.answers[key]
	h.mu.Unlock()
	switch {
	case answer == nil && key == drivesRequest:
		answer = onePersonalSpace
	case answer == nil:
		answer = status(http.StatusNotFound)
	}
	answer(w, r)
}

func (h *taker) count(key string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, each := range h.requests {
		if each == key {
			n++
		}
	}
	return n
}

// fileOf answers for a file of that size.
func fileOf(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, rowsOf(strings.Replace(row(r.URL.EscapedPath(), "7", ""), "gth>1<", "gth>"+strconv.Itoa(size)+"<", 1))) //nolint:gosec // XML, of a test's path
	}
}

// folderOf answers for a folder whose files have that size together.
func folderOf(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, rowsOf(strings.Replace(row(r.URL.EscapedPath(), "8", "<d:collection/>"), "<d:getetag>", "<oc:size>"+strconv.Itoa(size)+"</oc:size><d:getetag>", 1))) //nolint:gosec // XML, of a test's path
	}
}

func folderThere(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = io.WriteString(w, rowsOf(row(r.URL.EscapedPath(), "8", "<d:collection/>"))) //nolint:gosec // XML, of a test's path
}

// turns gives one answer after the other, and the last for good.
func turns(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		mu.Unlock()
		answer(w, r)
	}
}

func helloFile(t *testing.T) filehost.NewFile {
	t.Helper()
	return filehost.NewFile{Folder: path(t, "/Docs"), Name: "a.txt", Size: 5, MIMEType: "text/plain", ModifiedAt: time.Unix(1_700_000_000, 0), Content: strings.NewReader("hello")}
}

const (
	ncDocs    = "/remote.php/dav/files/alice/Docs"
	ncFile    = ncDocs + "/a.txt"
	ocDocs    = "/dav/spaces/" + personalID + "/Docs"
	ocFile    = ocDocs + "/a.txt"
	ncUploads = "/remote.php/dav/uploads/alice/TEMPORARY"
)

func TestAPUTIsUnderConditions(t *testing.T) {
	for kind, match := range map[string]string{"nextcloud": `"1"`, "owncloud": `"1"`} {
		h, client := newTaker(t, kind, map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: fileOf(5)})
		entry, err := client.Write(t.Context(), alice, helloFile(t))
		require.NoError(t, err)
		assert.Equal(t, int64(5), entry.Size)
		assert.Equal(t, "hello", h.bodies["PUT "+ncFile])
		header := h.headers["PUT "+ncFile]
		assert.Equal(t, []string{"*", "", "1700000000", "text/plain"}, []string{header.Get("If-None-Match"), header.Get("If-Match"), header.Get("X-OC-Mtime"), header.Get("Content-Type")})

		new := helloFile(t)
		new.Replaces, new.MIMEType = &filehost.Entry{ETag: `"1"`}, "text/plain\r\nX: y"
		_, err = client.Write(t.Context(), alice, new)
		require.NoError(t, err)
		header = h.headers["PUT "+ncFile]
		assert.Equal(t, []string{"", match, "application/octet-stream"}, []string{header.Get("If-None-Match"), header.Get("If-Match"), header.Get("Content-Type")})
	}
}

func TestWhatHasNoStrongETagIsNotReplaced(t *testing.T) {
	for _, etag := range []string{"", `W/"1"`} {
		h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusPreconditionFailed)})
		new := helloFile(t)
		new.Replaces = &filehost.Entry{ETag: etag}
		_, err := client.Write(t.Context(), alice, new)
		assert.Equal(t, filehost.Changed, filehost.KindOf(err))
		assert.NotContains(t, []string{"", "*"}, h.headers["PUT "+ncFile].Get("If-Match"), "a condition, and one that something else doesn't fulfil")
	}
}

func TestANameThatIsTooLongIsNotSent(t *testing.T) {
	h, client := newTaker(t, "nextcloud", nil)
	new := helloFile(t)
	new.Name, new.Content = strings.Repeat("n", maxNameBytes+1), neverRead{t}
	_, err := client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
	assert.Empty(t, h.requests)
}

func TestAnAnswerBeforeTheWholeFileIsNoSuccess(t *testing.T) {
	content, write := io.Pipe()
	t.Cleanup(func() { _ = write.Close() })
	client := serve(t, "nextcloud", "", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			fileOf(5)(w, r)
			return
		}
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(http.StatusCreated)
	})
	go func() { _, _ = io.WriteString(write, "hel") }()
	new := helloFile(t)
	new.Content = content
	_, err := client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%v", err)
}

func TestWhatAHostRefusesIsWorded(t *testing.T) {
	for code, test := range map[int]struct {
		want, replacing filehost.Kind
		field           string
		owner           filehost.LimitOwner
	}{
		400: {want: filehost.InvalidRequest, field: "name"},
		401: {want: filehost.CredentialRejected},
		403: {want: filehost.Forbidden},
		404: {want: filehost.NotFound},
		405: {want: filehost.Unsupported},
		409: {want: filehost.NotFound},
		412: {want: filehost.Conflict, replacing: filehost.Changed},
		413: {want: filehost.TooLarge, owner: filehost.OwnerHost},
		415: {want: filehost.Forbidden},
		423: {want: filehost.Conflict},
		429: {want: filehost.RateLimited},
		500: {want: filehost.NotFound}, // nginx's, where the folder is gone
		503: {want: filehost.HostUnavailable},
		507: {want: filehost.TooLarge, owner: filehost.OwnerHost},
	} {
		_, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(code)})
		for _, replaces := range []*filehost.Entry{nil, {ETag: `"1"`}} {
			new := helloFile(t)
			new.Replaces = replaces
			_, err := client.Write(t.Context(), alice, new)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			want := test.want
			if replaces != nil && test.replacing != 0 {
				want = test.replacing
			}
			assert.Equal(t, want.Code(), known.Kind.Code(), "%d: %v", code, err)
			assert.Equal(t, test.field, known.Field, "%d", code)
			assert.Equal(t, test.owner, known.LimitOwner, "%d", code)
		}
	}
}

func TestNothingIsWrittenWithAReadOnlyCredential(t *testing.T) {
	for _, kind := range Kinds() {
		for _, size := range []int64{5, chunkBytes + 1} {
			h, client := newTaker(t, kind, map[string]http.HandlerFunc{"GET /ocs/v2.php/cloud/capabilities": status(http.StatusNotFound)})
			new := helloFile(t)
			new.Size, new.Content = size, neverRead{t}
			made := path(t, "/Docs/New")
			if kind == "opencloud" {
				new.Folder, made = path(t, "/Alan Turing/Docs"), path(t, "/Alan Turing/New")
			}
			_, err := client.Write(t.Context(), reader(), new)
			assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "%s: %v", kind, err)
			_, err = client.MakeFolder(t.Context(), reader(), made)
			assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "%s: %v", kind, err)
			for _, request := range h.requests {
				method, _, _ := strings.Cut(request, " ")
				assert.Contains(t, readMethods, method)
			}
			assert.False(t, client.Capabilities(t.Context(), reader()).Save)
		}
	}
}

// neverRead is a content of which nothing may be read.
type neverRead struct{ *testing.T }

// Read implements io.Reader.
func (n neverRead) Read([]byte) (int, error) {
	n.Error("the content was read")
	return 0, io.EOF
}

func TestAnAnswerThatWasLostIsNoFailureIfTheFileIsThere(t *testing.T) {
	for name, test := range map[string]struct {
		there http.HandlerFunc
		want  filehost.Kind
	}{
		"it is":           {fileOf(5), -1},
		"of another size": {fileOf(4), filehost.HostUnavailable},
		"a folder":        {folderOf(5), filehost.HostUnavailable},
		"it isn't":        {status(http.StatusNotFound), filehost.HostUnavailable},
	} {
		_, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusBadGateway), "PROPFIND " + ncFile: test.there})
		_, err := client.Write(t.Context(), alice, helloFile(t))
		if test.want < 0 {
			assert.NoError(t, err, name)
			continue
		}
		assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", name, err)
	}
	// What is there may be what was to be replaced.
	_, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusBadGateway), "PROPFIND " + ncFile: fileOf(5)})
	new := helloFile(t)
	new.Replaces = &filehost.Entry{ETag: `"1"`, Size: 5, Kind: filehost.File}
	_, err := client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

func TestAHostThatHasTakenAnotherSizeKeepsNothing(t *testing.T) {
	h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: fileOf(4)})
	_, err := client.Write(t.Context(), alice, helloFile(t))
	require.ErrorContains(t, err, "did not take the whole file")
	assert.Equal(t, `"1"`, h.headers["DELETE "+ncFile].Get("If-Match"), "and nothing that has come since")

	h, client = newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: fileOf(4)})
	new := helloFile(t)
	new.Replaces = &filehost.Entry{ETag: `"0"`}
	_, err = client.Write(t.Context(), alice, new)
	require.ErrorContains(t, err, "did not take the whole file")
	assert.Zero(t, h.count("DELETE "+ncFile), "what was there before is not removed")

	// Without a strong ETag, what is there can't be told from what has come since.
	h, client = newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: func(w http.ResponseWriter, r *http.Request) {
		answer(rowsOf(strings.Replace(row(r.URL.EscapedPath(), "7", ""), `"1"`, `W/"1"`, 1)))(w, r)
	}})
	_, err = client.Write(t.Context(), alice, helloFile(t))
	require.ErrorContains(t, err, "did not take the whole file")
	assert.Zero(t, h.count("DELETE "+ncFile))

	// A folder has come to be there.
	_, client = newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: folderOf(5)})
	_, err = client.Write(t.Context(), alice, helloFile(t))
	require.ErrorContains(t, err, "did not take the whole file")

	// Of a temporary file, the size is looked at before it takes a place.
	h, client = newTaker(t, "webdav", map[string]http.HandlerFunc{"PUT /Docs/TEMPORARY": status(http.StatusCreated), "PROPFIND /Docs/TEMPORARY": fileOf(4)})
	_, err = client.Write(t.Context(), alice, helloFile(t))
	require.ErrorContains(t, err, "did not take the whole file")
	assert.Zero(t, h.count("MOVE /Docs/TEMPORARY"))
	assert.NotZero(t, h.count("DELETE /Docs/TEMPORARY"))
}

func TestWhatIsBesideIsMovedWithoutTakingAPlace(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"PUT /Docs/TEMPORARY": status(http.StatusCreated), "PROPFIND /Docs/TEMPORARY": fileOf(5),
		"MOVE /Docs/TEMPORARY": status(http.StatusCreated), "PROPFIND /Docs/a.txt": fileOf(5),
	}
	h, client := newTaker(t, "webdav", answers)
	_, err := client.Write(t.Context(), alice, helloFile(t))
	require.NoError(t, err)
	assert.Equal(t, client.host.Origin()+"/Docs/a.txt", h.headers["MOVE /Docs/TEMPORARY"].Get("Destination"))
	assert.Equal(t, "F", h.headers["MOVE /Docs/TEMPORARY"].Get("Overwrite"))
	assert.Zero(t, h.count("DELETE /Docs/TEMPORARY"))

	new := helloFile(t)
	new.Replaces = &filehost.Entry{ETag: `"1"`, Size: 5, Kind: filehost.File}
	_, err = client.Write(t.Context(), alice, new)
	require.NoError(t, err)
	assert.Equal(t, "T", h.headers["MOVE /Docs/TEMPORARY"].Get("Overwrite"))

	new = helloFile(t)
	new.Replaces = &filehost.Entry{ETag: `"0"`, Size: 5, Kind: filehost.File}
	_, err = client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.Changed, filehost.KindOf(err))
	assert.Equal(t, 2, h.count("MOVE /Docs/TEMPORARY"))

	answers["PROPFIND /Docs/a.txt"] = status(http.StatusForbidden)
	new.Content = strings.NewReader("hello")
	_, err = client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "what it replaces can't be looked at")
	assert.Equal(t, 2, h.count("MOVE /Docs/TEMPORARY"))

	// For a folder in the way, hosts have any status.
	answers["PROPFIND /Docs/a.txt"], answers["MOVE /Docs/TEMPORARY"] = folderThere, status(http.StatusConflict)
	_, err = client.Write(t.Context(), alice, helloFile(t))
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	answers["PROPFIND /Docs/a.txt"] = fileOf(5)

	// Behind a proxy, a host may not know its own origin.
	answers["MOVE /Docs/TEMPORARY"] = turns(status(http.StatusBadGateway), status(http.StatusCreated))
	h, client = newTaker(t, "webdav", answers)
	_, err = client.Write(t.Context(), alice, helloFile(t))
	require.NoError(t, err)
	assert.Equal(t, "/Docs/a.txt", h.headers["MOVE /Docs/TEMPORARY"].Get("Destination"))
}

// still is a client whose clock is moved on whenever somebody waits.
func still(t *testing.T, client *Client) {
	t.Helper()
	clock := clockwork.NewFakeClock()
	client.clock, client.stallAfter = clock, 1000*time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for clock.BlockUntilContext(ctx, 1) == nil {
			clock.Advance(firstWait)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func TestTheRestOfAFileIsRemovedUntilItIsGone(t *testing.T) {
	locked, done, gone := status(http.StatusLocked), status(http.StatusNoContent), status(http.StatusNotFound)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   int
	}{
		"at once":                       {turns(done, gone), 3},
		"it is locked for a while":      {turns(locked, locked, done, gone), 5},
		"it comes when it is not there": {turns(gone, done, gone), 4},
		"nothing is there":              {gone, 2},
		"it may not be removed":         {status(http.StatusForbidden), 1},
	} {
		h, client := newTaker(t, "webdav", map[string]http.HandlerFunc{"PUT /Docs/TEMPORARY": status(http.StatusForbidden), "DELETE /Docs/TEMPORARY": test.answer})
		_, err := client.Write(t.Context(), alice, helloFile(t))
		assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), name)
		assert.Equal(t, test.want, h.count("DELETE /Docs/TEMPORARY"), name)
	}
	h, client := newTaker(t, "webdav", nil)
	ctx, cancel := context.WithCancel(t.Context())
	new := helloFile(t)
	new.Content = &beginning{new.Content, cancel}
	_, err := client.Write(ctx, alice, new)
	require.Error(t, err)
	assert.NotZero(t, h.count("DELETE /Docs/TEMPORARY"), "also when the request is over")
}

// beginning does something when it is read first.
type beginning struct {
	io.Reader
	first func()
}

// Read implements io.Reader.
func (b *beginning) Read(p []byte) (int, error) {
	b.first()
	return b.Reader.Read(p)
}

func TestTheContentsOwnErrorIsTold(t *testing.T) {
	errOwn := errors.New("the content's own")
	for name, content := range map[string]io.Reader{
		"an error": iotest.ErrReader(errOwn), "a panic": &beginning{strings.NewReader(""), func() { panic("x") }}, "too short": strings.NewReader("hell"),
	} {
		for _, kind := range Kinds() {
			_, client := newTaker(t, kind, map[string]http.HandlerFunc{
				"POST " + ocDocs + "/": announced, "PROPFIND " + ncFile: fileOf(5), "GET /ocs/v2.php/cloud/capabilities": status(http.StatusNotFound),
			})
			still(t, client)
			new := helloFile(t)
			new.Content = content
			if kind == "opencloud" {
				new.Folder = path(t, "/Alan Turing/Docs")
			}
			_, err := client.Write(t.Context(), alice, new)
			require.Error(t, err, name)
			assert.Equal(t, filehost.Internal, filehost.KindOf(err), "%s %s: %v", kind, name, err)
			if name == "an error" {
				assert.ErrorIs(t, err, errOwn)
			}
		}
	}
}

func TestNoMoreIsSentThanWasAnnounced(t *testing.T) {
	h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PUT " + ncFile: status(http.StatusCreated), "PROPFIND " + ncFile: fileOf(5)})
	new := helloFile(t)
	new.Content = strings.NewReader("hello and more")
	_, err := client.Write(t.Context(), alice, new)
	require.NoError(t, err)
	assert.Equal(t, "hello", h.bodies["PUT "+ncFile])
}

func TestOnlyTheHostsWaitsAreWatched(t *testing.T) {
	release, reading := make(chan bool), make(chan bool)
	client := serve(t, "nextcloud", "", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			close(reading)
			_, _ = io.Copy(io.Discard, r.Body)
			<-release
		}
	})
	t.Cleanup(func() { close(release) })
	clock := clockwork.NewFakeClock()
	client.clock, client.stallAfter = clock, stallAfter
	content, write := io.Pipe()
	failed := make(chan error, 1)
	new := helloFile(t)
	new.Content = content
	go func() {
		_, err := client.Write(t.Context(), alice, new)
		failed <- err
	}()
	<-reading
	clock.Advance(10 * stallAfter) // Mattermost's file store is slow: that is no fault of the host
	_, err := write.Write([]byte("hello"))
	require.NoError(t, err)
	waiting(t, clock)
	clock.Advance(stallAfter)
	err = <-failed
	assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
	require.ErrorIs(t, err, errStalled)
}

func TestLargeFilesComeInChunks(t *testing.T) {
	created := status(http.StatusCreated)
	answers := map[string]http.HandlerFunc{
		"MKCOL " + ncUploads: created, "PUT " + ncUploads + "/00001": created, "PUT " + ncUploads + "/00002": created,
		"MOVE " + ncUploads + "/.file": created, "PROPFIND " + ncFile: fileOf(chunkBytes + 5),
	}
	h, client := newTaker(t, "nextcloud", answers)
	new := helloFile(t)
	new.Size, new.Content = chunkBytes+5, io.MultiReader(bytes.NewReader(make([]byte, chunkBytes)), strings.NewReader("hello"))
	_, err := client.Write(t.Context(), alice, new)
	require.NoError(t, err)
	assert.Equal(t, "hello", h.bodies["PUT "+ncUploads+"/00002"])
	move := h.headers["MOVE "+ncUploads+"/.file"]
	assert.Equal(t, []string{ncFile, "F", "", "20971525", "1700000000"},
		[]string{move.Get("Destination"), move.Get("Overwrite"), move.Get("If"), move.Get("OC-Total-Length"), move.Get("X-OC-Mtime")})
	assert.Zero(t, h.count("DELETE "+ncUploads))

	new.Replaces, new.Content = &filehost.Entry{ETag: `"0"`}, bytes.NewReader(make([]byte, chunkBytes+5))
	_, err = client.Write(t.Context(), alice, new)
	require.NoError(t, err)
	move = h.headers["MOVE "+ncUploads+"/.file"]
	assert.Equal(t, []string{"T", "<" + ncFile + `> (["0"])`}, []string{move.Get("Overwrite"), move.Get("If")})

	for failing, times := range map[string]int{"MKCOL " + ncUploads: 0, "PUT " + ncUploads + "/00002": 2, "MOVE " + ncUploads + "/.file": 2} {
		was := answers[failing]
		answers[failing] = status(http.StatusInsufficientStorage)
		h, client := newTaker(t, "nextcloud", answers)
		new.Content, new.Replaces = bytes.NewReader(make([]byte, chunkBytes+5)), nil
		_, err = client.Write(t.Context(), alice, new)
		assert.Equal(t, filehost.TooLarge, filehost.KindOf(err), "%s: %v", failing, err)
		assert.Equal(t, times, h.count("DELETE "+ncUploads), failing)
		answers[failing] = was
	}
}

func TestAFileHasNoMoreChunksThanTheHostTakes(t *testing.T) {
	const size = 220_000_000_000
	h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"MKCOL " + ncUploads: status(http.StatusCreated), "PUT " + ncUploads + "/00001": status(http.StatusInsufficientStorage)})
	new := helloFile(t)
	new.Size, new.Content = size, zeros{}
	_, err := client.Write(t.Context(), alice, new)
	assert.Equal(t, filehost.TooLarge, filehost.KindOf(err), "%v", err)
	assert.Len(t, h.bodies["PUT "+ncUploads+"/00001"], size/mostChunks)
}

// zeros is a content without end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestTheAssemblyOfChunksIsLookedForBeforeItIsAskedForAgain(t *testing.T) {
	for name, test := range map[string]struct {
		moves, there http.HandlerFunc
		want         filehost.Kind
		times        int
	}{
		"it was done":    {status(http.StatusGatewayTimeout), fileOf(chunkBytes + 5), -1, 1},
		"it is done now": {turns(status(http.StatusGatewayTimeout), status(http.StatusCreated)), turns(status(http.StatusNotFound), fileOf(chunkBytes+5)), -1, 2},
		"it is not":      {status(http.StatusGatewayTimeout), status(http.StatusNotFound), filehost.Timeout, 2},
		"it is refused":  {status(http.StatusPreconditionFailed), status(http.StatusNotFound), filehost.Conflict, 1},
	} {
		created := status(http.StatusCreated)
		h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{
			"MKCOL " + ncUploads: created, "PUT " + ncUploads + "/00001": created, "PUT " + ncUploads + "/00002": created,
			"MOVE " + ncUploads + "/.file": test.moves, "PROPFIND " + ncFile: test.there,
		})
		new := helloFile(t)
		new.Size, new.Content = chunkBytes+5, bytes.NewReader(make([]byte, chunkBytes+5))
		_, err := client.Write(t.Context(), alice, new)
		assert.Equal(t, test.want < 0, err == nil, "%s: %v", name, err)
		if err != nil {
			assert.Equal(t, test.want, filehost.KindOf(err), name)
		}
		assert.Equal(t, test.times, h.count("MOVE "+ncUploads+"/.file"), name)
	}
}

// announced is the answer to an upload that was announced.
func announced(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", "https://another.example.com/data/canary-token?a=b")
	w.WriteHeader(http.StatusCreated)
}

// came is the answer to bytes that came to an upload.
func came(offset string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Upload-Offset", offset)
		w.WriteHeader(http.StatusNoContent)
	}
}

// tus is a host that takes a file of five bytes, in parts of three, unless it is told otherwise.
func tus(t *testing.T, other map[string]http.HandlerFunc) (*taker, *Client, filehost.NewFile) {
	t.Helper()
	answers := map[string]http.HandlerFunc{
		"GET /ocs/v2.php/cloud/capabilities": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"ocs":{"data":{"capabilities":{"files":{"tus_support":{"max_chunk_size":3}}}}}}`)
		},
		"POST " + ocDocs + "/": announced, "PATCH /data/canary-token": turns(came("3"), came("5")),
		"PROPFIND " + ocFile: ocEntry(ocFile),
	}
	maps.Copy(answers, other)
	h, client := newTaker(t, "opencloud", answers)
	file := helloFile(t)
	file.Folder = path(t, "/Alan Turing/Docs")
	return h, client, file
}

// ocEntry answers for a file of five bytes in a space.
func ocEntry(at string) http.HandlerFunc {
	return answer(rowsOf(strings.Replace(row(at, personalID+"!7", ""), "gth>1<", "gth>5<", 1)))
}

func TestAResumableUploadIsAnnouncedAndSentInParts(t *testing.T) {
	h, client, file := tus(t, nil)
	entry, err := client.Write(t.Context(), alice, file)
	require.NoError(t, err)
	assert.Equal(t, int64(5), entry.Size)
	header := h.headers["POST "+ocDocs+"/"]
	assert.Equal(t, []string{"1.0.0", "5", "filename YS50eHQ=,mtime MTcwMDAwMDAwMA==", neverMatches},
		[]string{header.Get("Tus-Resumable"), header.Get("Upload-Length"), header.Get("Upload-Metadata"), header.Get("If-Match")})
	assert.Equal(t, "lo", h.bodies["PATCH /data/canary-token"])
	header = h.headers["PATCH /data/canary-token"]
	assert.Equal(t, []string{"1.0.0", "3", "application/offset+octet-stream"}, []string{header.Get("Tus-Resumable"), header.Get("Upload-Offset"), header.Get("Content-Type")})

	h, client, file = tus(t, map[string]http.HandlerFunc{"GET /ocs/v2.php/cloud/capabilities": status(http.StatusInternalServerError), "PATCH /data/canary-token": came("5")})
	file.Replaces = &filehost.Entry{ETag: `"1"`, Kind: filehost.File, Size: 5}
	_, err = client.Write(t.Context(), alice, file)
	require.NoError(t, err, "without knowing how much it takes")
	assert.Equal(t, `"1"`, h.headers["POST "+ocDocs+"/"].Get("If-Match"))

	h, client, file = tus(t, nil)
	file.Size, file.Content = 0, neverRead{t}
	_, err = client.Write(t.Context(), alice, file)
	require.ErrorContains(t, err, "did not take the whole file", "it has five bytes here")
	assert.Zero(t, h.count("PATCH /data/canary-token"), "an empty file is there when it is announced")
}

func TestWhatOpenCloudMeansBy412(t *testing.T) {
	refused := status(http.StatusPreconditionFailed)
	for name, test := range map[string]struct {
		file, folder http.HandlerFunc
		post         http.HandlerFunc
		replaces     string
		want         filehost.Kind
		field        string
	}{
		"the name is taken":     {file: ocEntry(ocFile), post: refused, want: filehost.Conflict},
		"the folder is gone":    {post: refused, want: filehost.NotFound},
		"the name is refused":   {folder: answer(rowsOf(row(ocDocs+"/", personalID+"!8", "<d:collection/>"))), post: refused, want: filehost.InvalidRequest, field: "name"},
		"it reads If-Match":     {file: turns(status(http.StatusNotFound), ocEntry(ocFile)), folder: answer(rowsOf(row(ocDocs+"/", personalID+"!8", "<d:collection/>"))), post: turns(refused, announced), want: -1},
		"it can't be looked at": {file: status(http.StatusForbidden), post: refused, want: filehost.Forbidden},
		"it has changed":        {file: ocEntry(ocFile), post: refused, replaces: `"1"`, want: filehost.Changed},
		"it had before":         {file: ocEntry(ocFile), post: refused, replaces: `"0"`, want: filehost.Changed},
		"it is gone":            {post: announced, replaces: `"1"`, want: filehost.Changed},
		"it can't be seen":      {file: status(http.StatusForbidden), post: announced, replaces: `"1"`, want: filehost.Forbidden},
		"somebody was faster":   {post: status(http.StatusConflict), want: filehost.Conflict},
	} {
		h, client, file := tus(t, map[string]http.HandlerFunc{"PROPFIND " + ocFile: test.file, "PROPFIND " + ocDocs: test.folder, "POST " + ocDocs + "/": test.post})
		if test.replaces != "" {
			file.Replaces = &filehost.Entry{ETag: test.replaces, Kind: filehost.File, Size: 5}
		}
		_, err := client.Write(t.Context(), alice, file)
		if test.want < 0 {
			require.NoError(t, err, name)
			assert.Empty(t, h.headers["POST "+ocDocs+"/"].Get("If-Match"))
			continue
		}
		var known *filehost.Error
		require.ErrorAs(t, err, &known, name)
		assert.Equal(t, test.want.Code(), known.Kind.Code(), "%s: %v", name, err)
		assert.Equal(t, test.field, known.Field, name)
	}
}

func TestAnUploadGoesOnWhereItsAnswerWasLost(t *testing.T) {
	lost, head := status(http.StatusBadGateway), "HEAD /data/canary-token"
	for name, test := range map[string]struct {
		parts http.HandlerFunc
		head  http.HandlerFunc
		ok    bool
	}{
		"all had come":           {turns(lost, came("5")), came("3"), true},
		"a part had":             {turns(lost, came("5")), came("2"), false},
		"nobody knows":           {turns(lost, came("5")), lost, false},
		"it is told wrong":       {came("4"), nil, false},
		"it is told in words":    {came("three"), nil, false},
		"the file is there then": {turns(came("3"), lost), status(http.StatusNotFound), true},
	} {
		_, client, file := tus(t, map[string]http.HandlerFunc{"PATCH /data/canary-token": test.parts, head: test.head})
		_, err := client.Write(t.Context(), alice, file)
		assert.Equal(t, test.ok, err == nil, "%s: %v", name, err)
		if err != nil {
			assert.NotContains(t, err.Error(), "canary", "who knows the address can write there")
		}
	}
	broken := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	_, client, file := tus(t, map[string]http.HandlerFunc{"PATCH /data/canary-token": broken, head: broken})
	_, err := client.Write(t.Context(), alice, file)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "canary")
}

func TestAnAddressOfAnUploadThatIsNone(t *testing.T) {
	for _, location := range []string{"", "http://[", "%zz"} {
		_, client, file := tus(t, map[string]http.HandlerFunc{"POST " + ocDocs + "/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusCreated)
		}})
		_, err := client.Write(t.Context(), alice, file)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), location)
	}
}

func TestAFileThatIsLookedIntoIsSaved(t *testing.T) {
	early := status(http.StatusTooEarly)
	_, client, file := tus(t, map[string]http.HandlerFunc{"PROPFIND " + ocFile: turns(early, early, ocEntry(ocFile))})
	entry, err := client.Write(t.Context(), alice, file)
	require.NoError(t, err)
	assert.Equal(t, `"1"`, entry.ETag)

	_, client, file = tus(t, map[string]http.HandlerFunc{"PROPFIND " + ocFile: early})
	still(t, client)
	entry, err = client.Write(t.Context(), alice, file)
	require.NoError(t, err)
	assert.Equal(t, filehost.Entry{Path: path(t, "/Alan Turing/Docs/a.txt"), Kind: filehost.File, Size: 5, MIMEType: "text/plain", ModifiedAt: file.ModifiedAt}, entry)
}

func TestFoldersAreMadeWhereNothingIs(t *testing.T) {
	const made = "MKCOL " + ncDocs + "/New/"
	there := func(w http.ResponseWriter, r *http.Request) { folderThere(w, r) }
	none := status(http.StatusNotFound)
	for name, test := range map[string]struct {
		look   http.HandlerFunc
		answer http.HandlerFunc
		parent http.HandlerFunc
		want   filehost.Kind
		asked  int
	}{
		"it is made":             {look: turns(none, there), answer: status(http.StatusCreated), want: -1, asked: 1},
		"it is there":            {look: there, want: filehost.Conflict},
		"it has come meanwhile":  {look: turns(none, there), answer: status(http.StatusMethodNotAllowed), want: filehost.Conflict, asked: 1},
		"below a file":           {look: none, answer: status(http.StatusMethodNotAllowed), want: filehost.NotFound, asked: 1},
		"below none":             {look: none, answer: status(http.StatusConflict), want: filehost.NotFound, asked: 1},
		"Apache, below a file":   {look: none, answer: status(http.StatusBadRequest), parent: fileOf(5), want: filehost.NotFound, asked: 1},
		"a name that is refused": {look: none, answer: status(http.StatusBadRequest), parent: there, want: filehost.InvalidRequest, asked: 1},
		"no permission":          {look: none, answer: status(http.StatusForbidden), want: filehost.Forbidden, asked: 1},
		"no room":                {look: none, answer: status(http.StatusInsufficientStorage), want: filehost.TooLarge, asked: 1},
		"a fault":                {look: none, answer: status(http.StatusInternalServerError), want: filehost.HostUnavailable, asked: 1},
		"it can't be looked at":  {look: status(http.StatusForbidden), want: filehost.Forbidden},
	} {
		h, client := newTaker(t, "nextcloud", map[string]http.HandlerFunc{"PROPFIND " + ncDocs + "/New": test.look, made: test.answer, "PROPFIND " + ncDocs: test.parent})
		_, err := client.MakeFolder(t.Context(), alice, path(t, "/Docs/New"))
		assert.Equal(t, test.want < 0, err == nil, "%s: %v", name, err)
		if err != nil {
			assert.Equal(t, test.want.Code(), filehost.KindOf(err).Code(), "%s: %v", name, err)
		}
		assert.Equal(t, test.asked, h.count(made), name)
	}
}
