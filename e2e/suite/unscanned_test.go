package suite

import (
	"context"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// hideServer makes the plugin look for the server's own API for one test where there is none.
func hideServer(t *testing.T) {
	t.Helper()
	set := func(listen, siteURL string) {
		err := site.Admin.Put(context.WithoutCancel(t.Context()), "/api/v4/config/patch", map[string]any{
			"ServiceSettings": map[string]any{"ListenAddress": listen, "SiteURL": siteURL},
		}, nil)
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		set(strings.TrimPrefix(site.Mattermost.URL, "http://"), site.Mattermost.URL)
		eventually(t, "copies go through the server's own route again", func() bool {
			return checkStatus(adminHealth(t), "transfers") == "pass"
		})
	})
	set("127.0.0.1:1", "http://127.0.0.1:1")
}

// TestUnscannedCopies shows what happens where the plugin can't reach the server's upload route: a
// copy is refused, unless the admin lets it go past the plugins that scan uploads.
func TestUnscannedCopies(t *testing.T) {
	hideServer(t)
	eventually(t, "health fails", func() bool { return checkStatus(adminHealth(t), "transfers") == "fail" })
	before := posted(t, site.ChannelID)
	_, err := site.Plugin(site.User).Attach(t.Context(), copies("/Welcome.txt"))
	if problem := wantProblem(t, err, "not_configured", 503); !strings.Contains(problem.Message, "upload route") {
		t.Errorf("the message doesn't say why: %s", problem.Message)
	}
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}

	configure(t, map[string]any{"allowunscannedcopies": true})
	eventually(t, "health warns", func() bool { return checkStatus(adminHealth(t), "transfers") == "warn" })
	scanned, err := site.Scanned(t.Context())
	must(t, err)
	content := string(sample.Pattern(sample.PartSize + 3))
	attached := attach(t, copies(addFile(t, []byte(content))))
	if got := string(download(t, attached.Items[0].FileID)); got != content {
		t.Errorf("%d bytes came back, not the %d that were sent", len(got), len(content))
	}
	if info := readInfo(t, attached.Items[0].FileID); info.UserID != site.User.ID {
		t.Errorf("Mattermost has it as %+v", info)
	}
	_, err = site.Plugin(site.User).Attach(t.Context(), copies(sample.KindsFolder+"/"+sample.SVGFile))
	if problem := wantProblem(t, err, "unsupported", 422); !strings.Contains(problem.Message, "image") {
		t.Errorf("the message doesn't say why: %s", problem.Message)
	}
	seen, err := site.Scanned(t.Context())
	must(t, err)
	for _, upload := range seen[len(scanned):] {
		// The server asks it about a file that it has closed before.
		if upload.Size != 0 {
			t.Errorf("the scanner saw %+v all the same", upload)
		}
	}
}
