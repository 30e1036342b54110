package suite

import (
	"net/http"
	"slices"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// rehearsal asks what would come of a copy.
func rehearsal(paths ...string) api.Attachment {
	attachment := copies(paths...)
	attachment.DryRun = true
	return attachment
}

// uploads counts the files that the scanner has seen, whoever uploaded them.
func uploads(t *testing.T) int {
	t.Helper()
	seen, err := site.Scanned(t.Context())
	must(t, err)
	return len(seen)
}

// TestDryRunTellsEachItemAndMovesNothing runs dry over good and bad items, as a copy and as a draft.
func TestDryRunTellsEachItemAndMovesNothing(t *testing.T) {
	posts, files := posted(t, site.ChannelID), uploads(t)
	path := addFile(t, sample.Pattern(12345))
	stale := rehearsal(path, "/nowhere.txt", sample.KindsFolder, sample.KindsFolder+"/"+sample.EmptyFile, "/Welcome.txt")
	stale.Items[4].ETag = `"another"`
	for _, as := range []string{"copy", "draft"} {
		stale.As = as
		attached := attach(t, stale)
		var codes []string
		for _, item := range attached.Items {
			code := ""
			if item.Error != nil {
				code = item.Error.Code
			}
			codes = append(codes, code)
		}
		if want := []string{"", "not_found", "invalid_request", "invalid_request", "changed"}; !slices.Equal(codes, want) {
			t.Errorf("codes are %q, want %q", codes, want)
		}
		if attached.PostID != "" || attached.FileInfos != nil || attached.Items[0].FileID != "" || attached.Items[0].Size != 12345 {
			t.Errorf("the answer is %+v", attached)
		}
	}
	all := attach(t, rehearsal("/nowhere.txt", sample.KindsFolder))
	if all.Items[0].Error == nil || all.Items[1].Error == nil {
		t.Errorf("the answer is %+v", all)
	}
	if posted(t, site.ChannelID) != posts || uploads(t) != files {
		t.Error("something was moved")
	}
}

// TestDryRunIsNoCreation wants 200, with and without a key, which it doesn't use up.
func TestDryRunIsNoCreation(t *testing.T) {
	key := newKey()
	asked := rehearsal("/Welcome.txt")
	if status := attachStatus(t, key, asked); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	asked.DryRun = false
	if status := attachStatus(t, key, asked); status != http.StatusCreated {
		t.Errorf("answered %d", status)
	}
}

// TestDryRunIsRefusedWhereTheCopyWouldBe wants what is wrong with the request as a whole to be an error.
func TestDryRunIsRefusedWhereTheCopyWouldBe(t *testing.T) {
	elsewhere := rehearsal("/Welcome.txt")
	elsewhere.ChannelID = newChannel(t)
	_, err := site.Plugin(site.User).Attach(t.Context(), elsewhere)
	wantProblem(t, err, "forbidden", 403)
	_, err = site.Plugin(site.User).Attach(t.Context(), rehearsal())
	wantProblem(t, err, "invalid_request", 400)
	configure(t, map[string]any{"maxcopymb": 1})
	half := sample.Pattern(600 << 10)
	_, err = site.Plugin(site.User).Attach(t.Context(), rehearsal(addFile(t, half), addFile(t, half)))
	problem := wantProblem(t, err, "too_large", 413)
	if problem.Details["limit"] != float64(1<<20) || problem.Details["limit_owner"] != "plugin" || problem.Details["actual"] != float64(1200<<10) {
		t.Errorf("details are %v", problem.Details)
	}
	alone := attach(t, rehearsal(addFile(t, sample.Pattern(1<<20+1))))
	if alone.Items[0].Error == nil || alone.Items[0].Error.Code != "too_large" {
		t.Errorf("the answer is %+v", alone)
	}
}
