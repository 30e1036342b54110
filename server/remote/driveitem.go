package remote

import (
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// driveItem names an entry of OpenCloud as its Graph API does: the id of the drive that it is in, which is a space, and its
// own. false = the id is not of this form.
func driveItem(hostID string) (drive, item string, ok bool) {
	drive, node, _ := strings.Cut(hostID, "!")
	if drive == "" || node == "" || !filehost.IsHostID(hostID) {
		return "", "", false
	}
	return drive, hostID, true
}
