package conformance

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/remotetest"
)

// table gives the cells of docs/hosts.md by case and column.
func table(t *testing.T) map[string]map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/hosts.md")
	text := string(must(t, raw, err))
	var columns []string
	rows := map[string]map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 3:
		case cells[1] == "Case":
			columns = cells[2:]
		case len(cells) == len(columns)+2 && strings.HasPrefix(cells[1], "`"):
			row := map[string]string{}
			for i, column := range columns {
				row[column] = cells[i+2]
			}
			rows[strings.Trim(cells[1], "`")] = row
		}
	}
	return rows
}

// TestTheTableOfHosts wants a row in docs/hosts.md for each case and a column for each host, and a limit told where there is
// one, and nowhere else.
func TestTheTableOfHosts(t *testing.T) {
	rows := table(t)
	var cases []string
	for _, each := range remotetest.Cases {
		cases = append(cases, each.Name)
	}
	if got := slices.Sorted(maps.Keys(rows)); !slices.Equal(got, slices.Sorted(slices.Values(cases))) {
		t.Errorf("the rows are %q, the cases %q", got, cases)
	}
	for name, row := range rows {
		if got, want := slices.Sorted(maps.Keys(row)), slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
			t.Errorf("the columns of %s are %q, the hosts %q", name, got, want)
		}
		for host, cell := range row {
			if yes := strings.HasPrefix(cell, "yes"); yes == limited(name, kinds[host].limits) || cell == "" {
				t.Errorf("%s on %s is %q", name, host, cell)
			}
		}
	}
}

// limited tells whether a host has limits in a case.
func limited(name string, limits remotetest.Limits) bool {
	tells := slices.Contains(limits.File, filehost.Share)
	switch name {
	case "account", "permissions":
		return !tells
	case "listing", "changed-file":
		return limits.NoETags
	case "ranges":
		return limits.NoParts
	case "file-names", "folder-names":
		return len(limits.RefusedNames)+len(limits.Hidden)+len(limits.Unreadable) > 0 || limits.Composed
	case "save":
		return len(limits.Unsavable) > 0
	case "parts":
		return !limits.Pages
	case "ids":
		return !limits.Capabilities.StableIDs
	case "search":
		return !limits.Capabilities.Search
	case "cache":
		return !limits.Tracks
	case "thumbnails":
		return !limits.Capabilities.Thumbnails
	case "shared":
		return !limits.Capabilities.Shared
	case "spaces":
		return !limits.Capabilities.Spaces
	case "views":
		return !limits.Capabilities.Recent || !limits.Capabilities.Favorites
	case "links", "invitations", "access":
		return !limits.Capabilities.Links.Public
	case "link-limits":
		return !limits.Capabilities.Links.Public || limits.NoFileEdits
	case "forbidden":
		return limits.Foreign != filehost.Forbidden && limits.Forbidden != filehost.Forbidden
	default:
		return false
	}
}
