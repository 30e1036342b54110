package remote

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// drivesRequest is for the list of a user's spaces.
const drivesRequest = "GET /graph/v1.0/me/drives"

var personal, _ = filehost.Root.Join("Alan Turing")

// topOf is a folder of the user's that is there at a kind of host.
func topOf(kind string) filehost.Path {
	if kind == "opencloud" {
		return personal
	}
	return filehost.Root
}

// driveJSON is a drive as Graph tells it.
func driveJSON(kind, id, name string) string {
	return `{"driveType":"` + kind + `","id":"` + id + `","name":"` + name + `","root":{"eTag":"\"1\"","id":"` + id + `"}}`
}

// drives answers with a list of drives.
func drives(list string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"value":[`+list+`]}`)
	}
}

func onePersonalSpace(w http.ResponseWriter, r *http.Request) {
	drives(driveJSON("personal", personalID, "Alan Turing"))(w, r)
}

// withDrives answers for the list of drives by the first, and else by the second.
func withDrives(list, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.EscapedPath() == drivesRequest {
			list(w, r)
			return
		}
		next(w, r)
	}
}

// The drives of the recording: Alan's own, two that have the same name, one that has his, and what Mary and Lynn share.
const (
	storage   = "10d60a39-3d59-4223-8aa3-c0583a49ef2b$"
	alanDrive = storage + "b1f74ec4-dd7e-11ef-a543-03775734d0f7"
	maryDrive = storage + "056fc874-dd7f-11ef-ba84-af6fca4b7289"
	projectX  = storage + "ac3d27f4-4db1-41cb-a451-286499d50bfc"
	anotherX  = storage + "08deeb45-77c8-4aba-8da0-8e54cda40265"
	alike     = storage + "ad395094-bc13-43c9-bedd-422f4b9e2299"
	jail      = "a0ca6a90-a365-4782-871e-d44447bbc668$a0ca6a90-a365-4782-871e-d44447bbc668"
	fromMary  = "10d60a39-3d59-4223-8aa3-c0583a49ef2b:056fc874-dd7f-11ef-ba84-af6fca4b7289:64698d38-6d3c-452f-bad0-f9fec143a345"
)

//go:embed testdata/opencloud-drives.json
var drivesRecording []byte

func recordedDrives(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(drivesRecording) }

// spaceRow is the entry of a space as PROPFIND tells it.
func spaceRow(drive, node, letters string) string {
	return strings.Replace(row("/dav/spaces/"+drive+"/", drive+"!"+node, "<d:collection/>"),
		`<d:getetag>`, `<oc:permissions>`+letters+`</oc:permissions><d:getetag>`, 1)
}

func propfindOf(drive, path string) string { return "PROPFIND /dav/spaces/" + drive + path }

// recordedSpaces are the answers of a host with the drives of the recording.
func recordedSpaces() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		drivesRequest:              recordedDrives,
		propfindOf(alanDrive, "/"): answer(rowsOf(spaceRow(alanDrive, "b1", "RDNVCKZP"))),
		propfindOf(projectX, "/"):  answer(rowsOf(spaceRow(projectX, "ac", ""))),
		propfindOf(anotherX, "/"):  answer(rowsOf(spaceRow(anotherX, "08", "RDNVCKZP"))),
		propfindOf(alike, "/"):     answer(rowsOf(spaceRow(alike, "ad", "RDNVCKZP"))),
		propfindOf(jail, "/"):      answer(rowsOf(spaceRow(jail, "a0", ""))),
	}
}

func TestTheTopFolderHoldsTheSpaces(t *testing.T) {
	_, client := scripted(t, "opencloud", recordedSpaces())
	top, entries, err := list(t.Context(), client, filehost.Root)
	require.NoError(t, err)
	assert.Equal(t, filehost.Entry{Kind: filehost.Folder, Permissions: onlyRead}, top, "nothing is made up about it")
	want := map[string]filehost.Entry{}
	for path, entry := range map[string]filehost.Entry{
		"/Alan Turing":            {HostID: alanDrive + "!b1", Space: filehost.PersonalSpace, Permissions: ownedSpace},
		"/Project X (ac3d27f4)":   {HostID: projectX + "!ac", Space: filehost.ProjectSpace, Permissions: onlyRead},
		"/Project X (08deeb45)":   {HostID: anotherX + "!08", Space: filehost.ProjectSpace, Permissions: ownedSpace},
		"/Alan Turing (ad395094)": {HostID: alike + "!ad", Space: filehost.ProjectSpace, Permissions: ownedSpace},
		"/Shares":                 {HostID: jail + "!a0", Space: filehost.SharesSpace, Permissions: onlyRead},
	} {
		entry.Kind, entry.ETag, entry.Shared = filehost.Folder, `"1"`, &no
		entry.Tracked = entry.Space != filehost.SharesSpace
		entry.Path, _ = filehost.ParsePath("path", path)
		want[path] = entry
	}
	got := map[string]filehost.Entry{}
	for _, entry := range entries {
		got[entry.Path.String()] = entry
	}
	assert.Equal(t, want, got)
	entry, err := client.Stat(t.Context(), alice, path(t, "/Project X (ac3d27f4)"))
	require.NoError(t, err)
	assert.Equal(t, want["/Project X (ac3d27f4)"], entry, "by itself as in the list")
}

var ownedSpace = []filehost.Permission{filehost.Read, filehost.Create, filehost.Share}

func TestASpaceThatGoesWhileTheListIsReadIsLeftOut(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		want   filehost.Kind // Internal = it is left out
	}{
		"gone":     {404, filehost.Internal},
		"closed":   {403, filehost.Internal},
		"trouble":  {500, filehost.HostUnavailable},
		"sign-in":  {401, filehost.CredentialRejected},
		"too many": {429, filehost.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			answers := recordedSpaces()
			answers[propfindOf(projectX, "/")] = status(test.status)
			_, client := scripted(t, "opencloud", answers)
			_, entries, err := list(t.Context(), client, filehost.Root)
			if test.want == filehost.Internal {
				require.NoError(t, err)
				assert.Len(t, entries, 4)
				return
			}
			assert.Equal(t, test.want, filehost.KindOf(err))
			assert.Empty(t, entries)
		})
	}
}

func TestFoldersOfSpaces(t *testing.T) {
	type is = map[string]string // id -> kind and name
	for name, test := range map[string]struct {
		drives string
		want   map[string]string // by id
	}{
		"as they are called": {
			driveJSON("personal", "s$p", "Ann") + "," + driveJSON("project", "s$1", "Überblick 2026") + "," + driveJSON("virtual", "j$j", "Shares"),
			is{"s$p": "/Ann", "s$1": "/Überblick 2026", "j$j": "/Shares"},
		},
		"the same name": {
			driveJSON("project", "s$11111111-2", "X") + "," + driveJSON("project", "s$22222222-2", "X"),
			is{"s$11111111-2": "/X (11111111)", "s$22222222-2": "/X (22222222)"},
		},
		"the same name, composed and not": {
			driveJSON("project", "s$11111111-2", "é") + "," + driveJSON("project", "s$22222222-2", norm.NFD.String("é")),
			is{"s$11111111-2": "/é (11111111)", "s$22222222-2": "/é (22222222)"},
		},
		"the same name and the same first digits": {
			driveJSON("project", "s$11111111-1", "X") + "," + driveJSON("project", "s$11111111-2", "X"),
			is{"s$11111111-1": "/X (s$11111111-1)", "s$11111111-2": "/X (s$11111111-2)"},
		},
		"one that is called as the alias of another": {
			driveJSON("project", "s$11111111-2", "X") + "," + driveJSON("project", "s$22222222-2", "X") + "," +
				driveJSON("project", "s$33333333-2", "X (11111111)") + "," + driveJSON("project", "s$44444444-2", "X (s$22222222-2)"),
			is{"s$11111111-2": "/X (11111111)", "s$22222222-2": "/X (22222222)",
				"s$33333333-2": "/X (11111111) (33333333)", "s$44444444-2": "/X (s$22222222-2) (44444444)"},
		},
		"the user's own keeps its name, and so does that of shares": {
			driveJSON("project", "s$11111111-2", "Ann") + "," + driveJSON("project", "s$22222222-2", "Shares") + "," +
				driveJSON("personal", "s$p", "Ann") + "," + driveJSON("virtual", "j$j", "Shares"),
			is{"s$p": "/Ann", "j$j": "/Shares", "s$11111111-2": "/Ann (11111111)", "s$22222222-2": "/Shares (22222222)"},
		},
		"a user who is called Shares": {
			driveJSON("virtual", "j$jjjjjjjj", "Shares") + "," + driveJSON("personal", "s$p", "Shares"),
			is{"s$p": "/Shares", "j$jjjjjjjj": "/Shares (jjjjjjjj)"},
		},
		"names that no folder can have": {
			driveJSON("personal", "s$p", "..") + "," + driveJSON("project", "s$1", "a/b\\\\c\\u0000\\n") + "," + driveJSON("project", "s$2", " "),
			is{"s$p": "/personal", "s$1": "/a_b_c__", "s$2": "/project"},
		},
		"a very long name": {
			driveJSON("project", "s$1", strings.Repeat("ü", 300)), is{"s$1": "/" + strings.Repeat("ü", 127)},
		},
		"what is no space of theirs": {
			`{"driveType":"project","id":"s$1","name":"Gone","root":{"deleted":{"state":"trashed"}}},` +
				driveJSON("grant", "s$2", "X") + "," + driveJSON("project", "a way out/..", "X") + "," + driveJSON("project", "", "X") + "," +
				driveJSON("project", "s$3", "Once") + "," + driveJSON("project", "s$3", "Twice"),
			is{"s$3": "/Twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			told, err := readDrives(strings.NewReader(`{"value":[` + test.drives + `]}`))
			require.NoError(t, err)
			got := map[string]string{}
			for _, each := range newSpaces(told).list {
				got[each.id] = each.path.String()
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func FuzzFoldersOfSpaces(f *testing.F) {
	f.Add("X", "X", "X (11111111)", "personal")
	f.Add("..", "/", "\x00", "virtual")
	f.Fuzz(func(t *testing.T, first, second, third, kind string) {
		made := newSpaces([]drive{
			{ID: "s$11111111-1", Name: first, Type: "project"}, {ID: "s$11111111-2", Name: second, Type: "project"},
			{ID: "s$22222222-1", Name: third, Type: "project"}, {ID: "s$11111111", Name: third, Type: kind},
		})
		seen := map[string]bool{}
		for _, each := range made.list {
			name := each.path.Name()
			if each.path.IsRoot() || each.path.Parent() != filehost.Root || seen[name] {
				t.Fatalf("%q for %q", each.path, []string{first, second, third})
			}
			seen[name] = true
		}
	})
}

func TestSpacesThatCantBeAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		list http.HandlerFunc
		want filehost.Kind
		says string
	}{
		"no Graph API":          {status(404), filehost.HostUnavailable, "its Graph API"},
		"another method":        {status(405), filehost.HostUnavailable, "its Graph API"},
		"not implemented":       {status(501), filehost.HostUnavailable, "its Graph API"},
		"sign-in":               {status(401), filehost.CredentialRejected, ""},
		"closed":                {status(403), filehost.Forbidden, ""},
		"trouble":               {status(500), filehost.HostUnavailable, ""},
		"too many requests":     {status(429), filehost.RateLimited, ""},
		"a page":                {page("<html>"), filehost.HostUnavailable, "makes no sense"},
		"no list":               {page(`{"error":{}}`), filehost.HostUnavailable, "makes no sense"},
		"an array":              {page(`[]`), filehost.HostUnavailable, "makes no sense"},
		"something else":        {page(`{"value":7}`), filehost.HostUnavailable, "makes no sense"},
		"it breaks off":         {page(`{"value":[` + driveJSON("project", "s$1", "X")), filehost.HostUnavailable, "makes no sense"},
		"it breaks off behind":  {page(`{"value":[` + driveJSON("project", "s$1", "X") + `]`), filehost.HostUnavailable, "makes no sense"},
		"it goes on elsewhere":  {page(`{"value":[],"@odata.nextLink":"/graph/v1.0/me/drives?$skip=100"}`), filehost.HostUnavailable, "makes no sense"},
		"a drive of nonsense":   {page(`{"value":[{"id":7}]}`), filehost.HostUnavailable, "makes no sense"},
		"longer than is read":   {page(`{` + strings.Repeat(" ", maxDrivesBytes) + `"value":[]}`), filehost.HostUnavailable, "makes no sense"},
		"more than can be held": {drives(strings.Repeat(`{},`, maxDrives) + `{}`), filehost.TooLarge, "10000 spaces"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{drivesRequest: test.list})
			for what, ask := range map[string]func() error{
				"the list": func() error { _, _, err := list(t.Context(), client, filehost.Root); return err },
				"an entry": func() error { _, err := client.Stat(t.Context(), alice, path(t, "/X/a")); return err },
				"the top":  func() error { _, err := client.Stat(t.Context(), alice, filehost.Root); return err },
				"a search": func() error {
					_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "a", Most: 9})
					return err
				},
			} {
				err := ask()
				assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", what, err)
				assert.ErrorContains(t, err, test.says, what)
			}
		})
	}
}

func TestAListOfDrivesThatBreaksOffIsNoNonsense(t *testing.T) {
	_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{drivesRequest: func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"value":[`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}})
	_, _, err := list(t.Context(), client, filehost.Root)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "makes no sense")
}

func TestWhatIsLookedAtTogetherIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inside, most atomic.Int32
		leave := make(chan bool)
		look := func(context.Context, int) (filehost.Entry, error) {
			most.Store(max(most.Load(), inside.Add(1)))
			<-leave
			inside.Add(-1)
			return filehost.Entry{}, nil
		}
		go func() {
			synctest.Wait()
			close(leave)
		}()
		entries, err := inParallel(t.Context(), make([]int, 20), 3, look)
		require.NoError(t, err)
		assert.Len(t, entries, 20)
		assert.Equal(t, int32(3), most.Load())
	})
	_, err := inParallel(t.Context(), make([]int, 2), 3, func(context.Context, int) (filehost.Entry, error) { panic("x") })
	require.Error(t, err, "a panic ends the list, and not the plugin")
}

func page(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestAListOfDrivesIsReadToItsLimit(t *testing.T) {
	told, err := readDrives(strings.NewReader(`{"@odata.context":{"a":[1]},"value":[` + strings.TrimSuffix(strings.Repeat(`{},`, maxDrives), ",") + `]}`))
	require.NoError(t, err)
	assert.Len(t, told, maxDrives)
}

func TestNothingButSpacesIsAtTheTop(t *testing.T) {
	host, client := scripted(t, "opencloud", nil)
	_, err := client.tree(t.Context(), alice, filehost.Root)
	assert.Equal(t, filehost.Unsupported, filehost.KindOf(err))
	assert.Empty(t, host.seen)
	_, err = client.Stat(t.Context(), alice, path(t, "/nowhere"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	_, _, err = list(t.Context(), client, path(t, "/nowhere/at/all"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	_, err = client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/file.txt"), Kind: filehost.File})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	assert.Empty(t, host.seen, "no other request has a place to go to")
}

func TestASpaceIsFoundByEitherFormOfItsName(t *testing.T) {
	_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{
		drivesRequest: drives(driveJSON("project", projectX, norm.NFD.String("Überblick"))), propfindOf(projectX, "/a"): answer(rowsOf(row("/dav/spaces/"+projectX+"/a", projectX+"!7", ""))),
	})
	entry, err := client.Stat(t.Context(), alice, path(t, norm.NFD.String("/Überblick/a")))
	require.NoError(t, err)
	assert.Equal(t, norm.NFC.String("/Überblick/a"), entry.Path.String())
}

func TestAnEntryOfAnotherSpaceIsNotTakenForIts(t *testing.T) {
	for name, href := range map[string]string{
		"another space":       "/dav/spaces/" + anotherX + "/a",
		"the list of spaces":  "/dav/spaces/a",
		"the space's own":     "/dav/spaces/" + projectX + "/",
		"the user's home":     "/remote.php/dav/files/alice/a",
		"outside of it":       "/a",
		"the id with a way":   "/dav/spaces/" + projectX + "/../" + anotherX + "/a",
		"the name of a space": "/Project X (ac3d27f4)/a",
	} {
		answers := recordedSpaces()
		answers[propfindOf(projectX, "/a")] = answer(rowsOf(row(href, projectX+"!7", "")))
		_, client := scripted(t, "opencloud", answers)
		_, err := client.Stat(t.Context(), alice, path(t, "/Project X (ac3d27f4)/a"))
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), name)
	}
	// What comes behind an entry whose beginning is that of the spaces' own addresses.
	rows := rowsOf(spaceRow(projectX, "ac", ""), row("/dav/spaces/"+anotherX, "7", ""))
	answers := recordedSpaces()
	answers[propfindOf(projectX, "/")] = answer(rows)
	_, client := scripted(t, "opencloud", answers)
	_, _, err := list(t.Context(), client, path(t, "/Project X (ac3d27f4)"))
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

// connected is alice by a connection of a Mattermost user's.
func connected(userID, connection string) filehost.Credential {
	credential := alice
	credential.UserID, credential.Connection = userID, connection
	return credential
}

func TestSpacesAreKeptForAMinuteAndForTheirUser(t *testing.T) {
	clock := clockwork.NewFakeClock()
	asked, gone := 0, false
	host := &script{t: t, answers: recordedSpaces()}
	host.answers[drivesRequest] = func(w http.ResponseWriter, r *http.Request) {
		asked++
		if gone {
			drives(driveJSON("personal", alanDrive, "Alan Turing"))(w, r)
			return
		}
		recordedDrives(w, r)
	}
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	client := clientOf(t, server.URL, Config{Host: filehost.Host{Kind: "opencloud"}, Clock: clock})
	want := func(credential filehost.Credential, at string, requests int, kind filehost.Kind) {
		t.Helper()
		asked = 0
		_, err := client.Stat(t.Context(), credential, path(t, at))
		assert.Equal(t, requests, asked, "requests for the list")
		if kind == filehost.Internal { // none
			assert.NoError(t, err)
			return
		}
		assert.Equal(t, kind, filehost.KindOf(err), "%v", err)
	}
	ann, bob := connected("ann", "1"), connected("bob", "2")
	want(ann, "/Alan Turing", 1, filehost.Internal)
	want(ann, "/Alan Turing", 0, filehost.Internal)
	want(ann, "/Project X (ac3d27f4)", 0, filehost.Internal)
	want(ann, "/nowhere", 1, filehost.NotFound)
	want(bob, "/Alan Turing", 1, filehost.Internal)
	want(connected("ann", "2"), "/Alan Turing", 1, filehost.Internal)
	other := connected("ann", "1")
	other.Account = "somebody"
	want(other, "/Alan Turing", 1, filehost.Internal)
	other = connected("ann", "1")
	other.Username = "somebody"
	want(other, "/Alan Turing", 1, filehost.Internal)
	want(alice, "/Alan Turing", 1, filehost.Internal)
	want(alice, "/Alan Turing", 1, filehost.Internal)
	want(connected("", "1"), "/Alan Turing", 1, filehost.Internal)
	want(connected("", "1"), "/Alan Turing", 1, filehost.Internal)
	want(connected("ann", ""), "/Alan Turing", 1, filehost.Internal)
	want(connected("ann", ""), "/Alan Turing", 1, filehost.Internal)
	clock.Advance(keepSpaces - time.Nanosecond)
	want(bob, "/Alan Turing", 0, filehost.Internal)
	clock.Advance(time.Nanosecond)
	want(bob, "/Alan Turing", 1, filehost.Internal)

	// Taken away between listing and opening: the host says so of what is in it, before the list is asked for again.
	gone = true
	host.answers[propfindOf(projectX, "/")] = status(404)
	want(bob, "/Project X (ac3d27f4)", 0, filehost.NotFound)
	var entries []filehost.Entry
	_, err := client.List(t.Context(), bob, filehost.Root, func(entry filehost.Entry) error {
		entries = append(entries, entry)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"/Alan Turing"}, pathsOf(entries), "the list itself is always asked for")
}

func TestKeptSpacesAreBounded(t *testing.T) {
	var cache spaceCache
	now := time.Unix(0, 0)
	large := &spaces{list: make([]space, maxKeptSpaces/2)}
	for i := range 5 {
		cache.keep(connected(strconv.Itoa(i), "1"), large, now)
		assert.LessOrEqual(t, cache.size, maxKeptSpaces)
		assert.NotNil(t, cache.of(connected(strconv.Itoa(i), "1"), now), "the last one is kept")
	}
	cache.keep(connected("9", "1"), &spaces{}, now.Add(keepSpaces))
	assert.Len(t, cache.kept, 1, "what is too old goes")
	assert.Equal(t, 1, cache.size)
	cache.keep(connected("9", "1"), large, now.Add(keepSpaces))
	cache.keep(connected("9", "1"), large, now.Add(keepSpaces))
	assert.Equal(t, 1+maxKeptSpaces/2, cache.size, "counted once")
}

func TestAnIDIsFoundInWhicheverSpaceItIs(t *testing.T) {
	const node = "!72c5582c-c34a-48d9-b47f-cc3f34db8810"
	meta := func(id string) string { return "PROPFIND /remote.php/dav/meta" + path(t, "/"+id).Escaped() + "/" }
	for name, test := range map[string]struct {
		id, told string // what meta tells
		at, href string // where it is looked for
		there    string // the id of what is there
		want     string // its path; "" = not found
		wantID   string // "" = id
	}{
		"a space's own":           {alanDrive + node, "/Docs/a", propfindOf(alanDrive, "/Docs/a"), alanDrive + "/Docs/a", alanDrive + node, "/Alan Turing/Docs/a", ""},
		"of a project":            {projectX + node, "/Plans", propfindOf(projectX, "/Plans"), projectX + "/Plans/", projectX + node, "/Project X (ac3d27f4)/Plans", ""},
		"a space itself":          {projectX + node, "/", propfindOf(projectX, "/"), projectX + "/", projectX + node, "/Project X (ac3d27f4)", ""},
		"in what is shared":       {maryDrive + node, "/FromMary/in.txt", propfindOf(jail, "/FromMary/in.txt"), jail + "/FromMary/in.txt", maryDrive + node, "/Shares/FromMary/in.txt", ""},
		"deep in it":              {maryDrive + node, "/Inner/nest.txt", propfindOf(jail, "/Inner/nest.txt"), jail + "/Inner/nest.txt", maryDrive + node, "/Shares/Inner/nest.txt", ""},
		"what is shared":          {jail + "!" + fromMary, "/FromMary", propfindOf(jail, "/FromMary"), jail + "/FromMary/", jail + "!" + fromMary, "/Shares/FromMary", ""},
		"the same by its owner's": {maryDrive + "!f89114e2-03e0-4b0c-b616-605f70316c12", "/FromMary", propfindOf(jail, "/FromMary"), jail + "/FromMary/", jail + "!" + fromMary, "/Shares/FromMary", jail + "!" + fromMary},
		"another is there":        {projectX + node, "/Plans", propfindOf(projectX, "/Plans"), projectX + "/Plans/", projectX + "!other", "", ""},
		"of a space he has not":   {storage + "elsewhere" + node, "/Docs/a", "", "", "", "", ""},
		"gone":                    {projectX + node, "", "", "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answers := recordedSpaces()
			answers[meta(test.id)] = answer(metaRow(path(t, "/"+test.id).Escaped()[1:], test.told))
			if test.at != "" {
				answers[test.at] = answer(rowsOf(row("/dav/spaces/"+test.href, test.there, "")))
			}
			_, client := scripted(t, "opencloud", answers)
			entry, err := client.StatID(t.Context(), alice, test.id)
			if test.want == "" {
				assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, entry.Path.String())
			assert.Equal(t, cmp.Or(test.wantID, test.id), entry.HostID)
		})
	}
}

// shareJSON is what somebody shares of a drive, under a name of its own and one where the user has it.
func shareJSON(share, name, drive, item, itsName string) string {
	return `{"driveType":"mountpoint","id":"` + jail + `!` + share + `","name":"` + name + `","root":{"remoteItem":{"id":"` + drive + `!` + item + `","name":"` +
		itsName + `","rootId":"` + drive + `!root"}}}`
}

var sharesDriveJSON = driveJSON("virtual", jail, "Shares")

// metaTells is the answer to where the entry with an id is.
func metaTells(t *testing.T, id, told string) (string, http.HandlerFunc) {
	t.Helper()
	escaped := path(t, "/"+id).Escaped()
	return "PROPFIND /remote.php/dav/meta" + escaped + "/", answer(metaRow(escaped[1:], told))
}

func jailRow(t *testing.T, name, id string) (string, http.HandlerFunc) {
	t.Helper()
	return propfindOf(jail, path(t, name).Escaped()), answer(rowsOf(row("/dav/spaces/"+jail+name, id, "")))
}

func TestAnIDIsLookedForInEachShareThatItMayBeIn(t *testing.T) {
	const inFirst, inSecond = "/In/a.txt", "/In (1)/a.txt"
	id := maryDrive + "!a"
	for name, test := range map[string]struct {
		first http.HandlerFunc
		want  filehost.Kind // Internal = it is found
	}{
		"it is not in the first":     {status(404), filehost.Internal},
		"another is in the first":    {answer(rowsOf(row("/dav/spaces/"+jail+inFirst, maryDrive+"!b", ""))), filehost.Internal},
		"the first has trouble":      {status(500), filehost.HostUnavailable},
		"the first can't be seen":    {status(403), filehost.Forbidden},
		"the sign-in is over by now": {status(401), filehost.CredentialRejected},
	} {
		meta, told := metaTells(t, id, inFirst)
		second, there := jailRow(t, inSecond, id)
		_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{
			drivesRequest: drives(sharesDriveJSON + "," + shareJSON("s:1", "In", maryDrive, "1", "In") + "," + shareJSON("s:2", "In (1)", maryDrive, "2", "In")),
			meta:          told, propfindOf(jail, inFirst): test.first, second: there,
		})
		entry, err := client.StatID(t.Context(), alice, id)
		assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", name, err)
		if err == nil {
			assert.Equal(t, "/Shares/In (1)/a.txt", entry.Path.String(), name)
		}
	}
}

func TestAnIDIsNotTakenForThatOfAShareWithTheSameName(t *testing.T) {
	answers := recordedSpaces()
	there, serve := jailRow(t, "/FromMary", jail+"!"+fromMary)
	answers[there] = serve
	for _, id := range []string{maryDrive + "!another", storage + "of-somebody-else!f89114e2-03e0-4b0c-b616-605f70316c12"} {
		meta, told := metaTells(t, id, "/FromMary")
		answers[meta] = told
		host, client := scripted(t, "opencloud", answers)
		_, err := client.StatID(t.Context(), alice, id)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "%v", err)
		assert.Len(t, host.seen, 2, "nothing is looked at beside its path and the list")
	}
	id := storage + "of-somebody-else!in"
	meta, told := metaTells(t, id, "/FromMary/in.txt")
	answers[meta] = told
	host, client := scripted(t, "opencloud", answers)
	_, err := client.StatID(t.Context(), alice, id)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	assert.Len(t, host.seen, 2, "what another shares is not it")
}

func TestAnIDIsLookedForAtSoManyPlaces(t *testing.T) {
	list := sharesDriveJSON
	for i := range mostPlaces + 1 {
		list += "," + shareJSON(fmt.Sprintf("s:%d", i), fmt.Sprintf("In (%d)", i), maryDrive, strconv.Itoa(i), "In")
	}
	meta, told := metaTells(t, maryDrive+"!a", "/In/a.txt")
	host, client := newTaker(t, "opencloud", map[string]http.HandlerFunc{drivesRequest: drives(list), meta: told})
	_, err := client.StatID(t.Context(), connected("ann", "1"), maryDrive+"!a")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	assert.Len(t, host.requests, 2+mostPlaces)
}

func TestWhatIsNewIsFoundThoughTheListIsKept(t *testing.T) {
	id := maryDrive + "!a"
	meta, told := metaTells(t, id, "/In/a.txt")
	there, serve := jailRow(t, "/In/a.txt", id)
	for name, find := range map[string]func(*Client) ([]filehost.Entry, error){
		"by its id": func(client *Client) ([]filehost.Entry, error) {
			entry, err := client.StatID(t.Context(), connected("ann", "1"), id)
			return []filehost.Entry{entry}, err
		},
		"by a search": func(client *Client) (found []filehost.Entry, err error) {
			_, err = client.Find(t.Context(), connected("ann", "1"), filehost.Query{View: filehost.FolderView, Text: "a.txt", Most: 9}, func(entry filehost.Entry) error {
				found = append(found, entry)
				return nil
			})
			return found, err
		},
		"in the view of shares": func(client *Client) (found []filehost.Entry, err error) {
			_, err = client.Find(t.Context(), connected("ann", "1"), filehost.Query{View: filehost.SharedView, Most: 9}, func(entry filehost.Entry) error {
				found = append(found, entry)
				return nil
			})
			return found, err
		},
	} {
		space, serveSpace := propfindOf(jail, "/"), answer(rowsOf(row("/dav/spaces/"+jail+"/", jail+"!a0", "<d:collection/>"), row("/dav/spaces/"+jail+"/In", jail+"!s:1", "<d:collection/>")))
		answers := map[string]http.HandlerFunc{
			drivesRequest: onePersonalSpace, meta: told, there: serve, space: serveSpace,
			"REPORT /remote.php/dav/spaces": answer(rowsOf(row("/remote.php/dav/spaces/a0ca6a90-a365-4782-871e-d44447bbc668%21s:1/a.txt", id, ""))),
		}
		_, client := newTaker(t, "opencloud", answers)
		_, err := client.Stat(t.Context(), connected("ann", "1"), path(t, "/Alan Turing/x"))
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "the list is kept")
		answers[drivesRequest] = drives(sharesDriveJSON + "," + shareJSON("s:1", "In", maryDrive, "1", "In"))
		found, err := find(client)
		require.NoError(t, err, name)
		require.Len(t, found, 1, name)
		assert.Contains(t, []string{"/Shares/In", "/Shares/In/a.txt"}, found[0].Path.String(), name)
	}
}

func TestWhatIsNoShareIsNowhere(t *testing.T) {
	good := drive{ID: jail + "!s:1", Name: "In", Type: "mountpoint"}
	good.Root.Remote.ID, good.Root.Remote.Name, good.Root.Remote.RootID = maryDrive+"!1", "In", maryDrive+"!root"
	for name, change := range map[string]func(*drive){
		"":                  nil,
		"of another type":   func(d *drive) { d.Type = "grant" },
		"no share":          func(d *drive) { d.ID = jail },
		"at no name":        func(d *drive) { d.Name = "" },
		"at a way out":      func(d *drive) { d.Name = ".." },
		"of no space":       func(d *drive) { d.Root.Remote.RootID = "" },
		"with a way for id": func(d *drive) { d.ID = jail + "!../x" },
	} {
		each := good
		if change != nil {
			change(&each)
		}
		assert.Len(t, newSpaces([]drive{{ID: jail, Name: "Shares", Type: "virtual"}, each}).incoming, map[bool]int{true: 1, false: 0}[change == nil], name)
	}
}

func TestASearchAmongSharesIsInAFolder(t *testing.T) {
	answers := recordedSpaces()
	there, serve := jailRow(t, "/single.txt", jail+"!s:m:1")
	answers[there] = serve
	for at, want := range map[string]filehost.Kind{"/Shares/gone": filehost.NotFound, "/Shares/single.txt": filehost.InvalidRequest} {
		host, client := newTaker(t, "opencloud", answers)
		_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "r", Folder: path(t, at), Most: 20})
		assert.Equal(t, want, filehost.KindOf(err), at)
		assert.Zero(t, host.count("REPORT /remote.php/dav/spaces"))
	}
}

func TestASearchFromTheTopFindsInAllSpaces(t *testing.T) {
	hits := rowsOf(
		row("/remote.php/dav/spaces/"+projectX+"/Plans/plan.txt", projectX+"!1", ""),
		row("/remote.php/dav/spaces/"+anotherX+"/Plans/plan.txt", anotherX+"!1", ""),
		row("/remote.php/dav/spaces/"+alanDrive, alanDrive+"!b1", "<d:collection/>"),
		row("/remote.php/dav/spaces/"+anotherX, anotherX+"!08", "<d:collection/>"),
		row("/remote.php/dav/spaces/a0ca6a90-a365-4782-871e-d44447bbc668%21"+fromMary+"/plan.txt", maryDrive+"!1", ""),
		row("/remote.php/dav/spaces/a0ca6a90-a365-4782-871e-d44447bbc668%21"+fromMary, maryDrive+"!f89114e2-03e0-4b0c-b616-605f70316c12", "<d:collection/>"),
		row("/remote.php/dav/spaces/a0ca6a90-a365-4782-871e-d44447bbc668%21s:m:declined/plan.txt", maryDrive+"!2", ""),
		row("/remote.php/dav/spaces/"+storage+"elsewhere/plan.txt", storage+"elsewhere!1", ""),
		row("/remote.php/dav/spaces/", "7", "<d:collection/>"),
	)
	answers := recordedSpaces()
	answers["REPORT /remote.php/dav/spaces"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "rows 0-8/9")
		answer(hits)(w, r)
	}
	answers[propfindOf(jail, "/")] = answer(rowsOf(row("/dav/spaces/"+jail+"/", jail+"!a0", "<d:collection/>")))
	answers[propfindOf(jail, "/FromMary")] = answer(rowsOf(row("/dav/spaces/"+jail+"/FromMary/", jail+"!"+fromMary, "<d:collection/>")))
	host, client := scripted(t, "opencloud", answers)
	for folder, want := range map[string]map[string]string{
		"/": {
			"/Project X (ac3d27f4)/Plans/plan.txt": projectX + "!1", "/Project X (08deeb45)/Plans/plan.txt": anotherX + "!1",
			"/Shares/FromMary/plan.txt": maryDrive + "!1",
		},
		"/Shares":          {"/Shares/FromMary/plan.txt": maryDrive + "!1"},
		"/Shares/FromMary": {"/Shares/FromMary/plan.txt": maryDrive + "!1"},
	} {
		host.seen = nil
		found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "plan", Folder: path(t, folder), Most: 20})
		require.NoError(t, err)
		got := map[string]string{}
		for _, entry := range found {
			got[entry.Path.String()] = entry.HostID
		}
		assert.Equal(t, want, got, folder)
		assert.False(t, truncated, folder)
		assert.Equal(t, []string{`name:"*plan*"`}, textsOf(t, host.seen[len(host.seen)-1].body, "pattern"))
	}
	found, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "r", Folder: filehost.Root, Most: 20})
	require.NoError(t, err)
	spaces := map[string]filehost.SpaceKind{}
	ids := map[string]string{}
	for _, entry := range found {
		if entry.Kind == filehost.Folder {
			spaces[entry.Path.String()], ids[entry.Path.String()] = entry.Space, entry.HostID
		}
	}
	assert.Equal(t, map[string]filehost.SpaceKind{
		"/Alan Turing": filehost.PersonalSpace, "/Project X (08deeb45)": filehost.ProjectSpace, "/Shares/FromMary": "",
	}, spaces)
	assert.Equal(t, jail+"!"+fromMary, ids["/Shares/FromMary"], "as it is listed, so that the id finds it")
	_, _, err = find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "r", Folder: path(t, "/nowhere"), Most: 20})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

func TestAPathWithItsSpaceHasALimit(t *testing.T) {
	inSpace := tree{top: path(t, "/dav/spaces/s"), mount: mount{path: path(t, "/"+strings.Repeat("n", 255)), space: filehost.ProjectSpace}}
	names := strings.Repeat("/"+strings.Repeat("n", 959), 4) // 3,840 bytes
	_, err := inSpace.path("/dav/spaces/s" + names)
	require.NoError(t, err, "4,096 bytes with the space")
	_, err = inSpace.path("/dav/spaces/s" + names + "n")
	require.ErrorIs(t, err, errTooLong)
}
