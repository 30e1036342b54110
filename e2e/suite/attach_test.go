package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func attach(t *testing.T, attachment api.Attachment) api.Attached {
	t.Helper()
	attached, err := site.Plugin(site.User).Attach(t.Context(), attachment)
	must(t, err)
	return attached
}

// storedNames are the names that Mattermost can't take as they are.
var storedNames = map[string]string{
	"cafe\u0301 decomposed.txt": "caf\u00e9 decomposed.txt",
	"back\\slash.txt":           "back_slash.txt",
	"two\nlines.txt":            "two_lines.txt",
	"invoice\u202efdp.exe":      "invoice_fdp.exe",
	"zero\u200bwidth.txt":       "zero_width.txt",
}

// TestAttachHostileNames attaches every hostile name and reads each back, byte for byte.
func TestAttachHostileNames(t *testing.T) {
	for group := range slices.Chunk(hostileNames(), 10) {
		var paths []string
		for _, name := range group {
			paths = append(paths, sample.HostileFolder+"/"+name)
		}
		attached := attach(t, copies(paths...))
		for i, item := range attached.Items {
			if item.Error != nil {
				t.Errorf("%q: %v", group[i], item.Error)
				continue
			}
			if content := string(download(t, item.FileID)); item.Path != paths[i] || content != group[i] {
				t.Errorf("%q came as %q with content %q", group[i], item.Path, content)
			}
			want := group[i]
			if stored, ok := storedNames[want]; ok {
				want = stored
			}
			if len(want) > 240 {
				want = want[:236] + ".txt"
			}
			if info := readInfo(t, item.FileID); info.Name != want || item.Name != want {
				t.Errorf("%q is called %q, and %q in Mattermost, want %q", group[i], item.Name, info.Name, want)
			}
		}
		if stored := readPost(t, attached.PostID); len(stored.FileIDs) != len(group) {
			t.Errorf("the post has %d files, want %d", len(stored.FileIDs), len(group))
		}
	}
}

func TestAttachPostsAsTheUser(t *testing.T) {
	attachment := copies("/Welcome.txt", sample.NestedFolder+"/plan.md")
	attachment.Message = "two files for @all, **bold**"
	attached := attach(t, attachment)
	stored := readPost(t, attached.PostID)
	if stored.UserID != site.User.ID || stored.ChannelID != site.ChannelID || stored.Message != attachment.Message || stored.RootID != "" {
		t.Errorf("the post is %+v", stored)
	}
	for i, item := range attached.Items {
		if item.Error != nil || !slices.Contains(stored.FileIDs, item.FileID) || readInfo(t, item.FileID).UserID != site.User.ID {
			t.Errorf("item %d is %+v, the post's files are %v", i, item, stored.FileIDs)
		}
	}
}

func TestAttachAnswersInAThread(t *testing.T) {
	root := attach(t, copies("/Welcome.txt")).PostID
	attachment := copies("/Welcome.txt")
	attachment.RootID = root
	if stored := readPost(t, attach(t, attachment).PostID); stored.RootID != root {
		t.Errorf("the post is %+v", stored)
	}
}

// TestAttachByID attaches a file whose name is not UTF-8, so that no path in JSON could name it; where
// the host has no such names, another.
func TestAttachByID(t *testing.T) {
	folder, name := sample.KindsFolder, sample.LatinName
	if !site.Host.Takes(name) {
		folder, name = sample.HostileFolder, sample.HostileNames[0]
	}
	entries := list(t, in(folder)).Entries
	at := slices.IndexFunc(entries, func(entry api.Entry) bool { return strings.HasPrefix(entry.Name, name[:len("latin-1")]) })
	if at < 0 {
		t.Fatalf("%q is not listed: %q", name, names(entries))
	}
	attached := attach(t, api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{ID: entries[at].ID}}})
	if content := string(download(t, attached.Items[0].FileID)); content != name {
		t.Errorf("content is %q", content)
	}
}

// TestAttachKinds attaches what needs care: each arrives whole, with a preview where there can be one.
func TestAttachKinds(t *testing.T) {
	previews := []string{sample.PNGFile, "photo.jpg"}
	for name, content := range sample.Kinds() {
		if name == sample.EmptyFile {
			continue
		}
		t.Run(name, func(t *testing.T) {
			item := attach(t, copies(sample.KindsFolder+"/"+name)).Items[0]
			if got := download(t, item.FileID); !bytes.Equal(got, content) {
				t.Errorf("%d bytes came back, not the %d that were sent", len(got), len(content))
			}
			info := readInfo(t, item.FileID)
			if slices.Contains(previews, name) && !info.HasPreviewImage || info.UserID != site.User.ID || info.Size != int64(len(content)) {
				t.Errorf("Mattermost has it as %+v", info)
			}
		})
	}
}

func TestAttachRefusesAnEmptyFile(t *testing.T) {
	before := posted(t, site.ChannelID)
	_, err := site.Plugin(site.User).Attach(t.Context(), copies(sample.KindsFolder+"/"+sample.EmptyFile))
	wantProblem(t, err, "invalid_request", 400)
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}
}

func TestAttachTellsEachItem(t *testing.T) {
	attached := attach(t, copies("/nowhere.txt", "/Welcome.txt", "/Kinds", sample.KindsFolder+"/"+sample.EmptyFile))
	var codes []string
	for _, item := range attached.Items {
		code := ""
		if item.Error != nil {
			code = item.Error.Code
		}
		codes = append(codes, code)
	}
	if want := []string{"not_found", "", "invalid_request", "invalid_request"}; !slices.Equal(codes, want) {
		t.Errorf("codes are %q, want %q", codes, want)
	}
	if stored := readPost(t, attached.PostID); !slices.Equal(stored.FileIDs, []string{attached.Items[1].FileID}) {
		t.Errorf("the post is %+v", stored)
	}
}

func TestAttachAllFailed(t *testing.T) {
	before := posted(t, site.ChannelID)
	_, err := site.Plugin(site.User).Attach(t.Context(), copies("/nowhere.txt", "/Kinds"))
	wantProblem(t, err, "not_found", 404)
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}
}

func TestAttachChecksTheETag(t *testing.T) {
	path := addFile(t, []byte("as listed"))
	attachment := copies(path)
	attachment.Items[0].ETag = `"another"`
	_, err := site.Plugin(site.User).Attach(t.Context(), attachment)
	wantProblem(t, err, "changed", 412)
	for _, entry := range list(t, in("/", "type", "file")).Entries {
		if entry.Path == path {
			attachment.Items[0].ETag = entry.ETag
		}
	}
	attach(t, attachment)
}

func TestAttachRefusesBadRequests(t *testing.T) {
	eleven := slices.Repeat([]string{"/Welcome.txt"}, 11)
	long := copies("/Welcome.txt")
	long.Message = strings.Repeat("x", 16384)
	tests := map[string]struct {
		attachment api.Attachment
		code       string
		status     int
		details    map[string]any
	}{
		"no items":        {copies(), "invalid_request", 400, map[string]any{"field": "items"}},
		"too many items":  {copies(eleven...), "too_large", 413, map[string]any{"field": "items", "limit": 10.0}},
		"too long a text": {long, "too_large", 413, map[string]any{"field": "message", "limit": 16383.0}},
		"no channel":      {api.Attachment{Items: long.Items}, "invalid_request", 400, map[string]any{"field": "channel_id"}},
		"a way out":       {copies("/../bob/secret.txt"), "invalid_request", 400, map[string]any{"field": "items[0].path"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := site.Plugin(site.User).Attach(t.Context(), test.attachment)
			problem := wantProblem(t, err, test.code, test.status)
			for name, want := range test.details {
				if problem.Details[name] != want {
					t.Errorf("details are %v, want %v", problem.Details, test.details)
				}
			}
		})
	}
}

func TestAttachKeepsTheLimit(t *testing.T) {
	configure(t, map[string]any{"maxcopymb": 1})
	_, err := site.Plugin(site.User).Attach(t.Context(), copies(sample.KindsFolder+"/"+sample.PartFile))
	problem := wantProblem(t, err, "too_large", 413)
	if problem.Details["limit"] != float64(1<<20) || problem.Details["limit_owner"] != "plugin" || problem.Details["actual"] != float64(sample.PartSize) {
		t.Errorf("details are %v", problem.Details)
	}
}

// TestScannerSeesEveryByte proves that copies don't go past plugins that look for viruses or secrets.
func TestScannerSeesEveryByte(t *testing.T) {
	content := sample.Pattern(3<<20 + 17)
	item := attach(t, copies(addFile(t, content))).Items[0]
	seen, err := site.Scanned(t.Context())
	must(t, err)
	sum := sha256.Sum256(content)
	want := stack.Scanned{Name: item.Name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	if !slices.Contains(seen, want) {
		t.Errorf("the scanner saw %+v last, want %+v", seen[len(seen)-1], want)
	}
}

func TestScannerRefuses(t *testing.T) {
	before := posted(t, site.ChannelID)
	_, err := site.Plugin(site.User).Attach(t.Context(), copies(addFile(t, []byte("x"+stack.ScannerMarker))))
	problem := wantProblem(t, err, "forbidden", 403)
	if !strings.Contains(problem.Message, "the scanner refuses this file") {
		t.Errorf("the message doesn't say why: %s", problem.Message)
	}
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}
}
