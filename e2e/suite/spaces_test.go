package suite

import (
	"crypto/rand"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
)

// lender is a host that has doubles of shares.
type lender interface {
	ShareWith(owner, name, with string, role doubles.Role) (back func())
}

// TestWhatOthersShare looks at what bob shares with alice, at a host that can tell, and copies it.
func TestWhatOthersShare(t *testing.T) {
	client := site.WholePlugin(site.User)
	host, ok := site.Host.(lender)
	page, err := client.List(t.Context(), in("/"))
	must(t, err)
	if page.Capabilities.Shared != ok {
		t.Fatalf("shared: %v", page.Capabilities.Shared)
	}
	if !ok {
		_, err := client.List(t.Context(), in("/", "view", "shared"))
		wantProblem(t, err, "unsupported", 422)
		return
	}
	name, folder := "lent "+rand.Text()+".txt", "Lent "+rand.Text()
	must(t, os.WriteFile(site.Host.Dir("bob")+"/"+name, []byte("of bob"), 0o600))
	must(t, os.Mkdir(site.Host.Dir("bob")+"/"+folder, 0o700))
	back := []func(){host.ShareWith("bob", "/"+name, "alice", doubles.Viewer), host.ShareWith("bob", "/"+folder, "alice", doubles.Editor)}
	defer func() {
		for _, each := range back {
			each()
		}
	}()
	page, err = client.List(t.Context(), in("/", "view", "shared"))
	must(t, err)
	if page.Folder != nil || page.Truncated || !slices.Equal(names(page.Entries), []string{folder, name}) {
		t.Fatalf("%q of %v are shared, truncated %v", names(page.Entries), page.Folder, page.Truncated)
	}
	dir, file := page.Entries[0], page.Entries[1]
	if slices.Contains(file.Permissions, "write") || !slices.Contains(file.Permissions, "read") || file.Shared == nil || !*file.Shared {
		t.Errorf("the file is %+v", file)
	}
	if !slices.Contains(dir.Permissions, "create") || dir.Kind != "folder" {
		t.Errorf("the folder is %+v", dir)
	}
	page, err = client.List(t.Context(), in("/", "view", "shared", "type", "folder"))
	must(t, err)
	if !slices.Equal(names(page.Entries), []string{folder}) {
		t.Errorf("folders among them: %q", names(page.Entries))
	}
	attached, err := client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{ID: file.ID}, {Path: file.Path}}})
	must(t, err)
	for _, item := range attached.Items {
		if item.Error != nil || string(download(t, item.FileID)) != "of bob" || item.Path != file.Path {
			t.Errorf("the copy is %+v", item)
		}
	}
	back[0]()
	page, err = client.List(t.Context(), in("/", "view", "shared"))
	must(t, err)
	if !slices.Equal(names(page.Entries), []string{folder}) {
		t.Errorf("%q are shared after it was taken back", names(page.Entries))
	}
	_, err = client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{Path: file.Path}}})
	wantProblem(t, err, "not_found", 404)
}

// TestSpaces looks at the spaces of a host that has them, as folders at the top.
func TestSpaces(t *testing.T) {
	client := site.WholePlugin(site.User)
	page, err := client.List(t.Context(), in("/"))
	must(t, err)
	host, ok := site.Host.(*doubles.OpenCloud)
	if page.Capabilities.Spaces != ok {
		t.Fatalf("spaces: %v", page.Capabilities.Spaces)
	}
	if !ok {
		for _, entry := range page.Entries {
			if entry.Space != "" {
				t.Errorf("%s is a space", entry.Path)
			}
		}
		return
	}
	name := "Project " + rand.Text()
	var dirs, paths []string
	for _, members := range []map[string]doubles.Role{
		{"alice": doubles.Viewer, "bob": doubles.Manager}, {"alice": doubles.Editor}, {"bob": doubles.Manager},
	} {
		dir, err := host.AddSpace(name, members)
		must(t, err)
		must(t, os.WriteFile(dir+"/plan "+name+".txt", []byte("in "+dir), 0o600))
		dirs = append(dirs, dir)
		t.Cleanup(func() { host.DisableSpace(dir) })
	}
	page, err = client.List(t.Context(), in("/"))
	must(t, err)
	kinds := map[string]int{}
	for _, entry := range page.Entries {
		kinds[entry.Space]++
		if strings.HasPrefix(entry.Name, name) {
			paths = append(paths, entry.Path)
		}
	}
	if kinds["personal"] != 1 || kinds["shares"] != 1 || kinds[""] != 0 || len(paths) != 2 || paths[0] == paths[1] {
		t.Fatalf("the spaces are %v, of one name %q", kinds, paths)
	}
	// Both of one name, each with its own file, permissions and id.
	var contents []string
	for _, path := range paths {
		inside, err := client.List(t.Context(), in(path))
		must(t, err)
		if len(inside.Entries) != 1 {
			t.Fatalf("%s holds %q", path, names(inside.Entries))
		}
		file := inside.Entries[0]
		attached, err := client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{ID: file.ID}}})
		must(t, err)
		content := string(download(t, attached.Items[0].FileID))
		contents = append(contents, content)
		if attached.Items[0].Path != file.Path || !strings.HasPrefix(file.Path, path+"/") {
			t.Errorf("%s was found at %s", file.Path, attached.Items[0].Path)
		}
		if editor := content == "in "+dirs[1]; slices.Contains(file.Permissions, "write") != editor || slices.Contains(inside.Folder.Permissions, "create") != editor {
			t.Errorf("%s: %q in %q", content, file.Permissions, inside.Folder.Permissions)
		}
		byID, err := client.List(t.Context(), url.Values{"id": {inside.Folder.ID}})
		must(t, err)
		if byID.Folder.Path != path || byID.Folder.Space != "project" {
			t.Errorf("the id of %s found %+v", path, byID.Folder)
		}
	}
	slices.Sort(contents)
	if want := []string{"in " + dirs[0], "in " + dirs[1]}; !slices.Equal(contents, want) {
		t.Errorf("they hold %q, want %q", contents, want)
	}
	// A search from the top finds in all that the user has, and in no other's.
	found, err := client.List(t.Context(), in("/", "q", "plan "+name))
	must(t, err)
	if len(found.Entries) != 2 || found.Truncated || !strings.HasPrefix(found.Entries[0].Path, "/"+name) {
		t.Errorf("found %q", names(found.Entries))
	}
	found, err = client.List(t.Context(), in(paths[0], "q", "plan"))
	must(t, err)
	if len(found.Entries) != 1 || !strings.HasPrefix(found.Entries[0].Path, paths[0]+"/") {
		t.Errorf("found %q in one of them", names(found.Entries))
	}
	// What is taken away between listing and opening is gone, whatever is kept of the list.
	host.DisableSpace(dirs[0])
	host.DisableSpace(dirs[1])
	for _, path := range paths {
		_, err := client.List(t.Context(), in(path))
		wantProblem(t, err, "not_found", 404)
	}
	page, err = client.List(t.Context(), in("/"))
	must(t, err)
	if slices.ContainsFunc(page.Entries, func(entry api.Entry) bool { return strings.HasPrefix(entry.Name, name) }) {
		t.Errorf("the list has %q", names(page.Entries))
	}
	_, err = client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{Path: "/file at the top.txt"}}})
	wantProblem(t, err, "not_found", 404)
}
