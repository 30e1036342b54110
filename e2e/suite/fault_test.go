package suite

import (
	"bytes"
	"net/http"
	"os"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// TestBrokenStreams breaks the source in every way it can break while a copy is under way, again and
// again: each is an error, and never a post.
func TestBrokenStreams(t *testing.T) {
	const size, part = 8 << 20, 1 << 20
	tests := map[string]struct {
		fault  hosts.Fault
		change bool
		code   string
		status int
	}{
		"it ends early":                {hosts.Fault{End: hosts.Short}, false, "host_unavailable", 502},
		"its connection is closed":     {hosts.Fault{End: hosts.Cut}, false, "host_unavailable", 502},
		"its connection is reset":      {hosts.Fault{End: hosts.Reset}, false, "host_unavailable", 502},
		"it stalls":                    {hosts.Fault{End: hosts.Stall}, false, "timeout", 504},
		"it changes under the copy":    {hosts.Fault{End: hosts.Finish}, true, "changed", 412},
		"it isn't served":              {hosts.Fault{Status: http.StatusServiceUnavailable}, false, "host_unavailable", 502},
		"it vanishes before it's read": {hosts.Fault{Status: http.StatusNotFound}, false, "not_found", 404},
		"it is refused":                {hosts.Fault{Status: http.StatusForbidden}, false, "forbidden", 403},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := addFile(t, sample.Pattern(size))
			test.fault.User, test.fault.Path, test.fault.After = "alice", path, part
			if test.change {
				test.fault.Then = func() { replace(t, path) }
			}
			defer site.Host.Fault(test.fault)()
			before := posted(t, site.ChannelID)
			_, err := site.Plugin(site.User).Attach(t.Context(), copies(path))
			wantProblem(t, err, test.code, test.status)
			if after := posted(t, site.ChannelID); after != before {
				t.Error("something was posted")
			}
		})
	}
}

// TestACopyOutlivesABrokenStream breaks the source off once: the copy goes on where it was, and has
// every byte.
func TestACopyOutlivesABrokenStream(t *testing.T) {
	const size = 8 << 20
	for name, end := range map[string]hosts.End{"its connection is closed": hosts.Cut, "its connection is reset": hosts.Reset} {
		t.Run(name, func(t *testing.T) {
			path := addFile(t, sample.Pattern(size))
			var lift func()
			lift = site.Host.Fault(hosts.Fault{User: "alice", Path: path, After: size / 2, End: end, Then: func() { lift() }})
			defer lift()
			before := site.Host.Counts().Gets
			attached := attach(t, copies(path))
			if got := download(t, attached.Items[0].FileID); !bytes.Equal(got, sample.Pattern(size)) {
				t.Error("the copy is another file")
			}
			if read := site.Host.Counts().Gets - before; read != 2 {
				t.Errorf("the file was opened %d times", read)
			}
		})
	}
}

// replace puts another file in the place of alice's, as a sync client does.
func replace(t *testing.T, path string) {
	file := site.Host.Dir("alice") + path
	if err := os.WriteFile(file+".new", sample.Pattern(8<<20+1), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Error(err)
	}
}

// TestOneBrokenItem shows that what works is posted beside what doesn't.
func TestOneBrokenItem(t *testing.T) {
	path := addFile(t, sample.Pattern(1<<20))
	defer site.Host.Fault(hosts.Fault{User: "alice", Path: path, After: 1000, End: hosts.Cut})()
	attached := attach(t, copies(path, "/Welcome.txt"))
	if problem := attached.Items[0].Error; problem == nil || problem.Code != "host_unavailable" {
		t.Errorf("the broken item is %+v", attached.Items[0])
	}
	if stored := readPost(t, attached.PostID); len(stored.FileIDs) != 1 || stored.FileIDs[0] != attached.Items[1].FileID {
		t.Errorf("the post is %+v", stored)
	}
}

// TestBrokenListing shows that half a listing never looks like a whole one.
func TestBrokenListing(t *testing.T) {
	tests := map[string]struct {
		fault  hosts.Fault
		code   string
		status int
	}{
		"it ends early":            {hosts.Fault{After: 2000, End: hosts.Short}, "host_unavailable", 502},
		"its connection is closed": {hosts.Fault{After: 2000, End: hosts.Cut}, "host_unavailable", 502},
		"it stalls":                {hosts.Fault{After: 2000, End: hosts.Stall}, "timeout", 504},
		"the host is overloaded":   {hosts.Fault{Status: http.StatusServiceUnavailable}, "host_unavailable", 502},
		"the host throttles": {hosts.Fault{Status: http.StatusTooManyRequests,
			Header: http.Header{"Retry-After": {"7"}}}, "rate_limited", 429},
		"the host redirects": {hosts.Fault{Status: http.StatusFound,
			Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, "host_unavailable", 502},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.fault.User, test.fault.Method = "alice", "PROPFIND"
			defer site.Host.Fault(test.fault)()
			_, err := site.Plugin(site.User).List(t.Context(), in(sample.ManyFolder))
			wantProblem(t, err, test.code, test.status)
		})
	}
}
