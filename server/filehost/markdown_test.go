package filehost_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// TestAnAddressOfTheHostsBreaksNoLink: code binds tighter than a link, so that a backtick would let what follows out of it.
func TestAnAddressOfTheHostsBreaksNoLink(t *testing.T) {
	for address, want := range map[string]string{
		"https://cloud.example.com/`@all`":                     "https://cloud.example.com/%60@all%60",
		"https://cloud.example.com/a) [b](https://evil":        "https://cloud.example.com/a%29%20[b]%28https://evil",
		"https://cloud.example.com/\u00a0\"title\"\u3000<b>\\": "https://cloud.example.com/%C2%A0%22title%22%E3%80%80%3Cb%3E%5C",
		"https://cloud.example.com/ä?b=c&d=%20#e":              "https://cloud.example.com/ä?b=c&d=%20#e",
	} {
		w := linkWorld()
		w.remote.Change("/report.pdf", func(e *filehost.Entry) { e.WebURL = address })
		w.attachLinks(t, internal("/report.pdf"))
		assert.Contains(t, w.mattermost.Posts()[0].Message, "[`report.pdf`]("+want+") · text")
	}
}
