package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// mostNames is how many members a message names.
const mostNames = 10

// What people read. It is all here, so that it can be translated in one place.
const (
	Description = "Files of the company's file host"
	Hint        = "[command]"

	hintFolder = "[folder]"
	hintWords  = "[words]"
	hintPaths  = "[path] [path…]"
	hintLink   = "[--public] [path] [path…]"
	hintPost   = "[link to a message]"

	helpBrowse     = "Show a folder, and attach from it"
	helpSearch     = "Find files and folders by name"
	helpRecent     = "Show the files that were changed last"
	helpAttach     = "Attach files here; put paths with spaces in quotes"
	helpLink       = "Post links instead of copies; --public for links that open for anybody"
	helpSave       = "In a thread: save the files of its first message at the file host"
	helpRefresh    = "In a thread: see whether its first message's files have newer versions, and bring them in"
	helpConnect    = "Connect your account"
	helpDisconnect = "Disconnect your account"
	helpStatus     = "Show which account is connected"
	helpHelp       = "Show what there is"
	helpFolder     = "Folder"

	labelOpen    = "Open a folder…"
	labelChoose  = "Choose a file…"
	labelNext    = "Next page"
	labelUp      = "Up"
	labelAll     = "All files"
	labelBack    = "Back"
	labelAttach  = "Attach"
	labelLink    = "Link"
	labelPublic  = "Public link"
	labelPost    = "Post the link"
	labelBring   = "Bring in the newer versions"
	labelConnect = "Connect"
	labelCode    = "Enter a code"

	notConfigured   = "The file host is not configured yet."
	askAdmin        = " Ask your system admin."
	quoteSpaces     = " Put a path with spaces in quotes."
	tooSlow         = "That did not end within its time."
	notYourButton   = "This button is not one that was made for you. Type the command yourself."
	oldButton       = "This button is too old. Type the command again."
	sayWhatToSearch = "Type what to look for: `/filehost search words`."
	sayWhatToLink   = "Type what to link: `/filehost link path`."
	sayWhatToSave   = "Type this in the thread of the message whose files you want to save: `/filehost save folder`."
	sayWhichPost    = "Type this in the thread of the message, or with a link to the message: `/filehost refresh link`."
	moreThanShown   = "There is more than all pages show; search for more of the name."
	inTheThread     = "The newer versions are in the thread."
	seeTheDialog    = "See the dialog."
)

func unknownCommand(name string) string {
	return "There is no command " + filehost.Literal(name) + ". `/filehost help` shows what there is."
}

func broken(requestID string) string {
	return "Something went wrong in the plugin; the server's log has the details under the request id " + filehost.Literal(requestID) + "."
}

func retryIn(wait time.Duration) string {
	return fmt.Sprintf(" Try again in %s.", wait)
}

func openQuote(word string) string {
	return "The quotes before " + filehost.Literal(word) + " are not closed."
}

func title(host, text string, view filehost.View, folder *filehost.Entry) string {
	host = filehost.Literal(host)
	switch {
	case text != "":
		return "What " + host + " finds for " + filehost.Literal(text) + ":"
	case view == filehost.Recent:
		return "What was changed last at " + host + ":"
	case folder == nil || folder.Path.IsRoot():
		return "All files at " + host + ":"
	}
	return filehost.Literal(folder.Path.String()) + " at " + host + ":"
}

func nothingHere(found bool) string {
	if found {
		return "Nothing was found."
	}
	return "The folder is empty."
}

func ofTotal(total int) string { return fmt.Sprintf("%d in all.", total) }

func notAttached(name, reason string) string { return filehost.Literal(name) + ": " + reason }

func outcome(link bool, done, failed []string) string {
	did, not := "Attached: ", "Not attached:\n- "
	if link {
		did, not = "Linked: ", "Not linked:\n- "
	}
	var parts []string
	if len(done) > 0 {
		parts = append(parts, did+strings.Join(done, ", ")+".")
	}
	if len(failed) > 0 {
		parts = append(parts, not+strings.Join(failed, "\n- "))
	}
	return strings.Join(parts, "\n")
}

func notSaved(number int, reason string) string { return fmt.Sprintf("File %d: %s", number, reason) }

func savedAs(done, failed []string) string {
	text := "Saved: " + strings.Join(done, ", ") + "."
	if len(failed) > 0 {
		text += "\nNot saved:\n- " + strings.Join(failed, "\n- ")
	}
	return text
}

func passwordOf(name, password string) string {
	return "\nThe link to " + filehost.Literal(name) + " asks for this password, which is shown here only: " + filehost.Literal(password)
}

// whoOpens says who could open links to what is named.
func whoOpens(names []string, public bool, audience *filehost.LinkAudience) string {
	what := strings.Join(names, ", ")
	if public {
		text := "Anybody who has the link may see " + what + "."
		if audience.Password {
			text += " It asks for a password, which you are told when it is posted."
		}
		return text
	}
	text := fmt.Sprintf("A link to %s. Of the members of this channel, %d can open it, and %d can't", what, audience.Counts[filehost.Can], audience.Counts[filehost.Cannot])
	var cannot []string
	for _, member := range audience.Members {
		if member.Reach == filehost.Cannot && len(cannot) < mostNames {
			cannot = append(cannot, filehost.Literal(member.Username))
		}
	}
	if len(cannot) > 0 {
		text += ", among them " + strings.Join(cannot, ", ")
	}
	if unknown := audience.Counts[filehost.Unknown]; unknown > 0 {
		text += fmt.Sprintf("; of %d it can't be told", unknown)
	}
	if audience.More {
		text += ". There are more members than were looked at"
	}
	return text + "."
}

func became(item filehost.RefreshedItem, dryRun bool) string {
	name := filehost.Literal(item.Name)
	switch item.State {
	case filehost.Newer:
		text := name + " has a newer version: " + filehost.ShownSize(item.After.Size) + " instead of " + filehost.ShownSize(item.Before.Size) + "."
		if !dryRun && item.Err != nil {
			text += " It could not be brought in:"
		}
		return text
	case filehost.Renamed:
		return name + " is unchanged, and lies at " + filehost.Literal(item.After.Path.String()) + " now."
	case filehost.Gone:
		return name + " is no longer there, or no longer yours to see."
	case filehost.Untold:
		return name + " could not be looked up:"
	default:
		return name + " is unchanged."
	}
}

func connectedAs(host string, connection filehost.Connection) string {
	text := "You are connected to " + filehost.Literal(host)
	if connection.Account != "" {
		text += " as " + filehost.Literal(connection.Account)
	}
	if !connection.Since.IsZero() {
		text += " since " + connection.Since.UTC().Format("2006-01-02")
	}
	if !connection.LastUsed.IsZero() {
		text += ", last used on " + connection.LastUsed.UTC().Format("2006-01-02 15:04 UTC")
	}
	return text + "."
}

func notConnected(host string, connection filehost.Connection) string {
	switch {
	case connection.Pending != nil:
		return "An account of " + filehost.Literal(host) + " waits for you to say whether it is yours."
	case connection.State == filehost.Reconnect:
		return filehost.Literal(host) + " no longer accepts your sign-in. Connect again."
	case connection.Automatic():
		return "You are connected to " + filehost.Literal(host) + " when you first use it; there is nothing to do."
	}
	return "You are not connected to " + filehost.Literal(host) + "."
}

func disconnected(host string) string {
	return "You are disconnected from " + filehost.Literal(host) + "."
}

func helpText(host string) string {
	text := "Files of " + filehost.Literal(host) + " in Mattermost:"
	for _, sub := range subcommands() {
		text += "\n- `/" + strings.TrimSpace(Trigger+" "+sub.name+" "+sub.arguments) + "` " + sub.help
	}
	return text
}
