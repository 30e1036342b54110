package filehost_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestAnOriginIsTheSameHoweverItsURLIsWritten(t *testing.T) {
	for address, want := range map[string]string{
		"https://cloud.example.com/sub":        "https://cloud.example.com",
		"HTTPS://Cloud.Example.COM:443/":       "https://cloud.example.com",
		"http://cloud.example.com:80":          "http://cloud.example.com",
		"http://cloud.example.com:443":         "http://cloud.example.com:443",
		"https://cloud.example.com:8443/a?b":   "https://cloud.example.com:8443",
		"https://user:secret@cloud.example.de": "https://cloud.example.de",
		"https://[2606:2800::1]:443/":          "https://[2606:2800::1]",
		"https://[2606:2800::A]:8443/":         "https://[2606:2800::a]:8443",
	} {
		parsed, err := url.Parse(address)
		require.NoError(t, err)
		assert.Equal(t, want, filehost.OriginOf(parsed), address)
		assert.Equal(t, want, filehost.Host{BaseURL: parsed}.Origin(), address)
	}
}
