package filehost_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestClocks(t *testing.T) {
	date := func(d time.Duration) string { return noon.Add(d).UTC().Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		header http.Header
		want   string // "" = all is well
	}{
		"the same":                    {http.Header{"Date": {date(0)}}, ""},
		"five minutes ahead":          {http.Header{"Date": {date(5 * time.Minute)}}, ""},
		"five minutes behind":         {http.Header{"Date": {date(-5 * time.Minute)}}, ""},
		"a bit more, ahead":           {http.Header{"Date": {date(5*time.Minute + time.Second)}}, "5 minutes ahead of"},
		"an hour ahead":               {http.Header{"Date": {date(time.Hour)}}, "1 h 0 min ahead of"},
		"an hour behind":              {http.Header{"Date": {date(-time.Hour)}}, "1 h 0 min behind"},
		"a summer":                    {http.Header{"Date": {date(-100 * 24 * time.Hour)}}, "100 days behind"},
		"an answer of an hour ago":    {http.Header{"Date": {date(-time.Hour)}, "Age": {"3600"}}, ""},
		"a clock behind, and a cache": {http.Header{"Date": {date(-2 * time.Hour)}, "Age": {"3600"}}, "1 h 0 min behind"},
		"no date":                     {http.Header{}, ""},
		"no readable date":            {http.Header{"Date": {"yesterday"}}, ""},
		"an age that is no number":    {http.Header{"Date": {date(time.Hour)}, "Age": {"-3600"}}, "1 h 0 min ahead of"},
	} {
		t.Run(name, func(t *testing.T) {
			err := filehost.CheckClock("Files", c.header, noon)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var degraded *filehost.Degraded
			require.ErrorAs(t, err, &degraded)
			assert.Contains(t, degraded.Remedy, "The clock of Files is "+c.want+" that of the Mattermost server's machine")
		})
	}
}
