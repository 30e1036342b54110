package suite

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

func names(entries []api.Entry) []string {
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name)
	}
	return all
}

func list(t *testing.T, query url.Values) api.Page {
	t.Helper()
	page, err := site.Plugin(site.User).List(t.Context(), query)
	must(t, err)
	return page
}

func TestListRoot(t *testing.T) {
	page, err := site.Plugin(site.User).List(t.Context(), nil)
	must(t, err)
	if page.Folder == nil || page.Folder.Path != "/" || page.Folder.Kind != "folder" {
		t.Errorf("folder is %+v", page.Folder)
	}
	if got, want := names(page.Entries), []string{"Hostile names", "Kinds", "Large", "Many", "Projects", "Welcome.txt"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	if welcome := page.Entries[len(page.Entries)-1]; welcome.Kind != "file" || welcome.Size != 35 || welcome.Path != "/Welcome.txt" {
		t.Errorf("listed %+v", welcome)
	}
}

func TestListKeepsHostileNames(t *testing.T) {
	page := list(t, in(sample.HostileFolder))
	listed := map[string]api.Entry{}
	for _, entry := range page.Entries {
		listed[entry.Path] = entry
	}
	if len(page.Entries) != len(hostileNames()) {
		t.Errorf("listed %d entries, want %d: %q", len(page.Entries), len(hostileNames()), names(page.Entries))
	}
	for _, name := range hostileNames() {
		if entry, ok := listed[sample.HostileFolder+"/"+name]; !ok || entry.Size != int64(len(name)) {
			t.Errorf("%q is listed as %+v", name, entry)
		}
	}
}

func TestListByID(t *testing.T) {
	nested := list(t, in(sample.NestedFolder))
	again, err := site.Plugin(site.User).List(t.Context(), url.Values{"id": {nested.Folder.ID}})
	must(t, err)
	if !slices.Equal(names(again.Entries), []string{"plan.md"}) {
		t.Errorf("listed %q", names(again.Entries))
	}
}

func TestListFiltersByType(t *testing.T) {
	tests := map[string]struct {
		query url.Values
		want  []string
	}{
		"folders":        {in("/", "type", "folder"), []string{"Hostile names", "Kinds", "Large", "Many", "Projects"}},
		"files":          {in("/", "type", "file"), []string{"Welcome.txt"}},
		"a MIME type":    {in(sample.KindsFolder, "type", "application/pdf"), []string{"letter.pdf"}},
		"one or another": {in(sample.KindsFolder, "type", "image/png", "type", "image/svg+xml"), []string{"broken.png", "drawing.svg", "picture.png"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			page := list(t, test.query)
			if got := names(page.Entries); !slices.Equal(got, test.want) {
				t.Errorf("listed %q, want %q", got, test.want)
			}
			if page.Total == nil || *page.Total != len(test.want) {
				t.Errorf("total is %v, want %d", page.Total, len(test.want))
			}
		})
	}
}

func TestListSorts(t *testing.T) {
	bySize := list(t, in(sample.KindsFolder, "sort", "size", "order", "desc", "type", "file")).Entries
	if bySize[0].Name != sample.PartFile || bySize[1].Name != sample.BelowPartFile || bySize[len(bySize)-1].Name != sample.EmptyFile {
		t.Errorf("by size, largest first: %q", names(bySize))
	}
	natural := list(t, in(sample.ManyFolder, "limit", "3")).Entries
	if got, want := names(natural), []string{"file 0.txt", "file 1.txt", "file 2.txt"}; !slices.Equal(got, want) {
		t.Errorf("by name: %q, want %q", got, want)
	}
	last := list(t, in(sample.ManyFolder, "limit", "1", "order", "desc")).Entries
	if got, want := names(last), []string{"file 9999.txt"}; !slices.Equal(got, want) {
		t.Errorf("by name, last first: %q, want %q", got, want)
	}
	byTime := list(t, in("/", "sort", "modified", "order", "desc", "type", "file")).Entries
	if got, want := names(byTime), []string{"Welcome.txt"}; !slices.Equal(got, want) {
		t.Errorf("by time: %q, want %q", got, want)
	}
}

// TestListPages walks the folder of 10,000 entries to its end.
func TestListPages(t *testing.T) {
	client, query, next := site.Plugin(site.User), in(sample.ManyFolder, "limit", "1000"), 0
	for pages := 1; ; pages++ {
		page, err := client.List(t.Context(), query)
		must(t, err)
		if page.Total == nil || *page.Total != sample.ManyCount {
			t.Fatalf("total is %v", page.Total)
		}
		for _, entry := range page.Entries {
			if want := "file " + strconv.Itoa(next) + ".txt"; entry.Name != want || entry.Size != int64(next%7) {
				t.Fatalf("entry %d is %+v, want %s", next, entry, want)
			}
			next++
		}
		if page.NextCursor == "" {
			if next != sample.ManyCount || pages != sample.ManyCount/1000 {
				t.Errorf("%d entries on %d pages", next, pages)
			}
			return
		}
		query.Set("cursor", page.NextCursor)
	}
}

func TestCursorIsBound(t *testing.T) {
	cursor := list(t, in(sample.ManyFolder, "limit", "2")).NextCursor
	stranger := site.Plugin(newConnected(t, "alice"))
	tests := map[string]struct {
		client api.Client
		query  url.Values
	}{
		"to its user":   {stranger, in(sample.ManyFolder, "limit", "2", "cursor", cursor)},
		"to its folder": {site.Plugin(site.User), in(sample.KindsFolder, "limit", "2", "cursor", cursor)},
		"to its order":  {site.Plugin(site.User), in(sample.ManyFolder, "limit", "2", "order", "desc", "cursor", cursor)},
		"to our seal":   {site.Plugin(site.User), in(sample.ManyFolder, "limit", "2", "cursor", forgedAt(cursor, 0))},
		"to its place":  {site.Plugin(site.User), in(sample.ManyFolder, "limit", "2", "cursor", forgedAt(cursor, len(cursor)/2))},
		// The last character may hold bits that count for nothing.
		"to its end": {site.Plugin(site.User), in(sample.ManyFolder, "limit", "2", "cursor", forgedAt(cursor, len(cursor)-2))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.client.List(t.Context(), test.query)
			if problem := wantProblem(t, err, "invalid_request", 400); problem.Details["field"] != "cursor" {
				t.Errorf("details are %v", problem.Details)
			}
		})
	}
}

// forgedAt is the cursor with another character there.
func forgedAt(cursor string, at int) string {
	other := "A"
	if cursor[at] == 'A' {
		other = "B"
	}
	return cursor[:at] + other + cursor[at+1:]
}

func TestListRefusesBadQueries(t *testing.T) {
	tests := map[string]struct {
		query url.Values
		field string
	}{
		"a relative path":   {in("Kinds"), "path"},
		"a way out":         {in("/Kinds/../../bob"), "path"},
		"a NUL":             {in("/Kinds\x00"), "path"},
		"no number":         {in("/", "limit", "many"), "limit"},
		"a limit of none":   {in("/", "limit", "0"), "limit"},
		"too high a limit":  {in("/", "limit", "1001"), "limit"},
		"an unknown sort":   {in("/", "sort", "colour"), "sort"},
		"an unknown order":  {in("/", "order", "random"), "order"},
		"path and id":       {in("/", "id", "p"), ""},
		"an unknown type":   {in("/", "type", "image"), "type"},
		"an unheard-of id":  {url.Values{"id": {"nonsense"}}, "id"},
		"an unknown cursor": {in("/", "cursor", "nonsense"), "cursor"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := site.Plugin(site.User).List(t.Context(), test.query)
			problem := wantProblem(t, err, "invalid_request", 400)
			if test.field != "" && problem.Details["field"] != test.field {
				t.Errorf("details are %v, want the field %s", problem.Details, test.field)
			}
		})
	}
}

func TestListNotFound(t *testing.T) {
	_, err := site.Plugin(site.User).List(t.Context(), in("/nowhere"))
	wantProblem(t, err, "not_found", 404)
}

// TestListIsTheUsersOwn shows that what one user may see is no other's.
func TestListIsTheUsersOwn(t *testing.T) {
	page, err := site.Plugin(newConnected(t, "bob")).List(t.Context(), in("/"))
	must(t, err)
	if len(page.Entries) != 0 {
		t.Errorf("bob sees %q", names(page.Entries))
	}
}
