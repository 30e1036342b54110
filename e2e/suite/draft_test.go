package suite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// draft asks for files for the composer.
func draft(paths ...string) api.Attachment {
	attachment := copies(paths...)
	attachment.As = "draft"
	return attachment
}

// TestDraftIsPostedByTheCaller brings two files into a draft, and posts them through Mattermost's own route as a
// composer does.
func TestDraftIsPostedByTheCaller(t *testing.T) {
	content := sample.Pattern(1<<20 + 3)
	path := addFile(t, content)
	before := posted(t, site.ChannelID)
	attached := attach(t, draft(path, "/nowhere.txt", sample.KindsFolder+"/"+sample.PNGFile))
	if posted(t, site.ChannelID) != before || attached.PostID != "" {
		t.Error("a draft was posted")
	}
	if len(attached.FileInfos) != 2 || attached.Items[1].Error == nil || attached.Items[1].Error.Code != "not_found" {
		t.Fatalf("the draft is %+v", attached)
	}
	var fileIDs []string
	for i, item := range []api.AttachedItem{attached.Items[0], attached.Items[2]} {
		info := attached.FileInfos[i]
		if info.ID != item.FileID || info.Name != item.Name || info.Size != item.Size || info.UserID != site.User.ID ||
			info.ChannelID != site.ChannelID || info.PostID != "" || info.MIMEType == "" {
			t.Errorf("file info %d of %+v is %+v", i, item, info)
		}
		fileIDs = append(fileIDs, info.ID)
	}
	var created post
	must(t, site.User.Post(t.Context(), "/api/v4/posts", map[string]any{
		"channel_id": site.ChannelID, "message": "written by hand", "file_ids": fileIDs,
	}, &created))
	// Mattermost keeps them in an order of its own.
	if stored := readPost(t, created.ID); !slices.Equal(slices.Sorted(slices.Values(stored.FileIDs)), slices.Sorted(slices.Values(fileIDs))) {
		t.Errorf("the post is %+v", stored)
	}
	if got := download(t, fileIDs[0]); !bytes.Equal(got, content) {
		t.Errorf("%d bytes came back, not the %d that were sent", len(got), len(content))
	}
}

// TestDraftShowsFileInfosAsMattermostDoes compares them field by field with the server's own answer.
func TestDraftShowsFileInfosAsMattermostDoes(t *testing.T) {
	var shown struct {
		FileInfos []map[string]any `json:"file_infos"`
	}
	must(t, site.Plugin(site.User).Post(t.Context(), "/attach", draft(sample.KindsFolder+"/"+sample.PNGFile), &shown))
	var own map[string]any
	must(t, site.User.Get(t.Context(), "/api/v4/files/"+shown.FileInfos[0]["id"].(string)+"/info", &own))
	for name, value := range own {
		if got, ok := shown.FileInfos[0][name]; !ok || asJSON(t, got) != asJSON(t, value) {
			// The preview in miniature and the time of the last change are made later.
			if name != "mini_preview" && name != "update_at" {
				t.Errorf("%s is %v, and %v by the server's own route", name, got, value)
			}
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	must(t, err)
	return string(encoded)
}

// TestDraftIsCheckedLikeAPost wants the same refusals, and one of its own.
func TestDraftIsCheckedLikeAPost(t *testing.T) {
	spoken := draft("/Welcome.txt")
	spoken.Message = "hello"
	_, err := site.Plugin(site.User).Attach(t.Context(), spoken)
	if problem := wantProblem(t, err, "invalid_request", 400); problem.Details["field"] != "message" {
		t.Errorf("the field is %v", problem.Details["field"])
	}
	_, err = site.Plugin(site.User).Attach(t.Context(), draft("/nowhere.txt"))
	wantProblem(t, err, "not_found", 404)
	_, err = site.Plugin(site.User).Attach(t.Context(), draft(slices.Repeat([]string{"/Welcome.txt"}, 11)...))
	wantProblem(t, err, "too_large", 413)
	elsewhere := draft("/Welcome.txt")
	elsewhere.ChannelID = newChannel(t)
	_, err = site.Plugin(site.User).Attach(t.Context(), elsewhere)
	wantProblem(t, err, "forbidden", 403)
	elsewhere = draft("/Welcome.txt")
	elsewhere.RootID = strings.Repeat("a", 26)
	_, err = site.Plugin(site.User).Attach(t.Context(), elsewhere)
	wantProblem(t, err, "invalid_request", 400)
}
