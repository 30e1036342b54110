package suite

import (
	"crypto/rand"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
)

// newTree makes a folder of alice's for one test, with these files below it, and gives its path.
func newTree(t *testing.T, files ...string) string {
	t.Helper()
	top := "/tree " + rand.Text()
	dir := site.Host.Dir("alice") + top
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.MkdirAll(dir+"/Inner", 0o700))
	for _, name := range files {
		must(t, os.WriteFile(dir+"/"+name, []byte("content of "+name), 0o600))
	}
	return top
}

func entryAt(t *testing.T, folder, name string) api.Entry {
	t.Helper()
	entries := list(t, in(folder)).Entries
	at := slices.IndexFunc(entries, func(entry api.Entry) bool { return entry.Name == name })
	if at < 0 {
		t.Fatalf("%s has no %s: %q", folder, name, names(entries))
	}
	return entries[at]
}

// TestIDSurvivesRenameAndMove attaches a file, and lists a folder, by ids that were given out before both were moved.
func TestIDSurvivesRenameAndMove(t *testing.T) {
	top := newTree(t, "a.txt", "Inner/b.txt")
	if !list(t, in(top)).Capabilities.StableIDs {
		t.Log("this host has no ids of its own: an id is of a path")
		id := entryAt(t, top, "a.txt").ID
		must(t, os.Rename(site.Host.Dir("alice")+top+"/a.txt", site.Host.Dir("alice")+top+"/renamed.txt"))
		_, err := site.Plugin(site.User).Attach(t.Context(), byID(id))
		wantProblem(t, err, "not_found", 404)
		return
	}
	file, folder := entryAt(t, top, "a.txt"), entryAt(t, top, "Inner")
	dir := site.Host.Dir("alice") + top
	must(t, os.Rename(dir+"/Inner", dir+"/Renamed folder"))
	must(t, os.Rename(dir+"/a.txt", dir+"/Renamed folder/renamed.txt"))

	page := list(t, url.Values{"id": {folder.ID}})
	if page.Folder.Path != top+"/Renamed folder" || page.Folder.ID != folder.ID || !slices.Equal(names(page.Entries), []string{"b.txt", "renamed.txt"}) {
		t.Errorf("by the folder's id: %+v with %q", page.Folder, names(page.Entries))
	}
	if moved := entryAt(t, top+"/Renamed folder", "renamed.txt"); moved.ID != file.ID {
		t.Errorf("the id was %s and is %s", file.ID, moved.ID)
	}
	attached, err := site.Plugin(site.User).Attach(t.Context(), byID(file.ID))
	must(t, err)
	item := attached.Items[0]
	if item.ID != file.ID || item.Path != top+"/Renamed folder/renamed.txt" || item.Name != "renamed.txt" {
		t.Errorf("attached %+v", item)
	}
	if got := string(download(t, item.FileID)); got != "content of a.txt" {
		t.Errorf("the file is %q", got)
	}
	must(t, os.Remove(dir+"/Renamed folder/renamed.txt"))
	_, err = site.Plugin(site.User).Attach(t.Context(), byID(file.ID))
	wantProblem(t, err, "not_found", 404)
	_, err = site.Plugin(newConnected(t, "bob")).List(t.Context(), url.Values{"id": {folder.ID}})
	wantProblem(t, err, "not_found", 404)
}

func byID(id string) api.Attachment {
	return api.Attachment{ChannelID: site.ChannelID, As: "copy", Items: []api.Item{{ID: id}}}
}

// TestSearch looks for parts of names, among them all that a language of queries could take for its own.
func TestSearch(t *testing.T) {
	top := newTree(t, "Report 1.txt", "report_2.txt", "100%.txt", "Inner/My Report.txt", "Ärger.txt", "x.txt")
	capable := list(t, in(top)).Capabilities.Search
	for text, want := range map[string][]string{
		"report":  {"My Report.txt", "Report 1.txt", "report_2.txt"},
		"port 1":  {"Report 1.txt"},
		"t_2":     {"report_2.txt"},
		"%":       {"100%.txt"},
		"0%.":     {"100%.txt"},
		"ärg":     {"Ärger.txt"},
		"inner":   {"Inner"},
		"*":       {},
		"?":       {},
		`"x`:      {},
		"x OR re": {},
		"scope:x": {},
		"<x>&amp": {},
	} {
		t.Run(text, func(t *testing.T) {
			page, err := site.Plugin(site.User).List(t.Context(), in(top, "q", text))
			if !capable {
				if problem := wantProblem(t, err, "unsupported", 422); problem.Details["field"] != "q" {
					t.Errorf("details are %v", problem.Details)
				}
				return
			}
			must(t, err)
			if strings.Contains(text, "%") && site.Host.Traits().Kind == "owncloud" {
				// It takes % for anything and can't be told otherwise: it finds the ten thousand other files as well.
				if !page.Truncated {
					t.Errorf("%q is said to be all", names(page.Entries))
				}
				return
			}
			if got := names(page.Entries); !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("found %q, want %q", got, want)
			}
			if page.Folder != nil || page.Truncated || page.Total == nil || *page.Total != len(want) {
				t.Errorf("folder %v, truncated %v, total %v", page.Folder, page.Truncated, page.Total)
			}
			for _, entry := range page.Entries {
				if !slices.Contains(entry.Permissions, "read") {
					t.Errorf("%s: %v", entry.Name, entry.Permissions)
				}
			}
		})
	}
	if !capable {
		return
	}
	_, err := site.Plugin(site.User).List(t.Context(), in(top+"/nowhere", "q", "x"))
	wantProblem(t, err, "not_found", 404)
	_, err = site.Plugin(site.User).List(t.Context(), in(top+"/x.txt", "q", "x"))
	wantProblem(t, err, "invalid_request", 400)
	if got := names(list(t, in(top+"/Inner", "q", "report")).Entries); !slices.Equal(got, []string{"My Report.txt"}) {
		t.Errorf("below another folder: %q", got)
	}
	if got := names(list(t, in(top, "q", "re", "type", "folder")).Entries); len(got) != 0 {
		t.Errorf("folders: %q", got)
	}
}

// TestSearchThatFindsTooMuch finds more than it shows, says so, and shows each entry once.
func TestSearchThatFindsTooMuch(t *testing.T) {
	client, query := site.Plugin(site.User), in("/Many", "q", "file", "limit", "300")
	first, err := client.List(t.Context(), query)
	if !list(t, in("/", "limit", "1")).Capabilities.Search {
		wantProblem(t, err, "unsupported", 422)
		return
	}
	must(t, err)
	query.Set("cursor", first.NextCursor)
	second, err := client.List(t.Context(), query)
	must(t, err)
	seen := map[string]bool{}
	for _, entry := range slices.Concat(first.Entries, second.Entries) {
		seen[entry.Path] = true
	}
	if !first.Truncated || !second.Truncated || first.Total != nil || len(seen) != 500 || second.NextCursor != "" {
		t.Errorf("truncated %v and %v, total %v, %d entries, then %q", first.Truncated, second.Truncated, first.Total, len(seen), second.NextCursor)
	}
}

// TestViews looks at recent files and at favorites, where the host has them.
func TestViews(t *testing.T) {
	top := newTree(t, "old.txt", "new.txt", "Inner/newer.txt")
	dir := site.Host.Dir("alice") + top
	for i, name := range []string{"old.txt", "new.txt", "Inner/newer.txt"} {
		at := time.Now().Add(time.Duration(i) * time.Minute)
		must(t, os.Chtimes(dir+"/"+name, at, at))
	}
	capable := list(t, in(top)).Capabilities
	for view, offered := range map[string]bool{"recent": capable.Recent, "favorites": capable.Favorites, "shared": capable.Shared} {
		if !offered {
			_, err := site.Plugin(site.User).List(t.Context(), in(top, "view", view))
			if problem := wantProblem(t, err, "unsupported", 422); problem.Details["field"] != "view" {
				t.Errorf("%s: details are %v", view, problem.Details)
			}
		}
	}
	if capable.Recent {
		if got := names(list(t, in(top, "view", "recent")).Entries); !slices.Equal(got, []string{"newer.txt", "new.txt", "old.txt"}) {
			t.Errorf("recent: %q", got)
		}
		if got := names(list(t, in(top, "view", "recent", "order", "asc", "limit", "1")).Entries); !slices.Equal(got, []string{"old.txt"}) {
			t.Errorf("the oldest of them: %q", got)
		}
		if got := names(list(t, in(top, "view", "recent", "type", "image/")).Entries); len(got) != 0 {
			t.Errorf("images: %q", got)
		}
	}
	marker, ok := site.Host.(interface{ Favor(user, name string) error })
	if ok != capable.Favorites {
		t.Fatalf("favorites: %s", strconv.FormatBool(capable.Favorites))
	}
	if !ok {
		return
	}
	must(t, marker.Favor("alice", top+"/Inner/newer.txt"))
	must(t, marker.Favor("alice", top+"/Inner"))
	page := list(t, in(top, "view", "favorites"))
	if got := names(page.Entries); !slices.Equal(got, []string{"Inner", "newer.txt"}) || !*page.Entries[1].Favorite {
		t.Errorf("favorites: %q", got)
	}
	if got := names(list(t, in(top+"/Inner", "view", "favorites", "type", "file")).Entries); !slices.Equal(got, []string{"newer.txt"}) {
		t.Errorf("files among them: %q", got)
	}
}
