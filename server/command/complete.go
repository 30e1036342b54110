package command

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxSuggestions is how many paths are offered at once.
const maxSuggestions = 20

// Complete offers the paths that what is being typed may become: input is all of it, the command's name included. A
// suggestion is all that is to stand behind the subcommand, as Mattermost replaces it whole.
func (h *Handler) Complete(ctx context.Context, service *filehost.Service, userID, input string) ([]filehost.Suggestion, error) {
	_, rest, _ := strings.Cut(strings.TrimLeft(input, " /"), " ")
	name, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	rest = strings.TrimLeft(rest, " ")
	for _, sub := range subcommands() {
		if sub.name == strings.ToLower(name) && sub.paths != none {
			return complete(ctx, service, userID, typedIn(rest, sub.paths))
		}
	}
	return nil, nil
}

// typed is a path that is being typed.
type typed struct {
	before string // what stands before it and stays
	quote  string // that it begins with; "" = none
	folder string // as typed, up to and with the last slash
	name   string // the beginning of what lies in there
	kinds  paths
}

// typedIn finds the path that is being typed at the end of a line.
func typedIn(line string, kinds paths) typed {
	start := 0
	if kinds == several {
		start = lastWord(line)
	}
	word := line[start:]
	t := typed{before: line[:start], kinds: kinds}
	if first, size := utf8.DecodeRuneInString(word); closing[first] != 0 {
		t.quote, word = word[:size], word[size:]
	}
	slash := strings.LastIndexByte(word, '/') + 1
	t.folder, t.name = word[:slash], word[slash:]
	return t
}

// lastWord is where the last word of a line begins, which may be open still.
func lastWord(line string) int {
	start, end := 0, rune(0)
	for i, r := range line {
		switch {
		case end != 0 && r == end:
			end = 0
		case end == 0 && r == ' ':
			start = i + 1
		case end == 0 && i == start:
			end = closing[r]
		}
	}
	return start
}

func complete(ctx context.Context, service *filehost.Service, userID string, t typed) ([]filehost.Suggestion, error) {
	path, err := readPath(t.folder)
	if err != nil {
		return nil, err
	}
	listing := filehost.Listing{Folder: path, Limit: filehost.MaxPageSize}
	if t.kinds == folder {
		listing.Types = []string{string(filehost.Folder)}
	}
	page, err := service.Browse(ctx, userID, listing)
	if err != nil {
		return nil, err
	}
	var found []filehost.Suggestion
	for _, entry := range page.Entries {
		if text, ok := t.as(entry); ok {
			found = append(found, filehost.Suggestion{Text: text, Help: helpOf(entry)})
		}
		if len(found) == maxSuggestions {
			break
		}
	}
	return found, nil
}

// as is the line with an entry in the place of what was typed. It reports false for an entry that doesn't begin so, or whose
// name can't be typed.
func (t typed) as(entry filehost.Entry) (string, bool) {
	name := entry.Path.Name()
	if !strings.HasPrefix(strings.ToLower(name), strings.ToLower(t.name)) || !typeable(name) {
		return "", false
	}
	quote, where := t.quote, t.folder
	untouched := quote+where+t.name == ""
	if untouched {
		where = "/"
	}
	if quote == "" && t.kinds == several && strings.Contains(where+name, " ") {
		if !untouched {
			return "", false // Mattermost offers only what goes on as it was begun, and that was without quotes
		}
		quote = `"`
	}
	text := t.before + quote + where + name
	if entry.Kind == filehost.Folder {
		return text + "/", true // and goes on
	}
	if quote != "" {
		opened, _ := utf8.DecodeRuneInString(quote)
		text += string(closing[opened])
	}
	return text, true
}

// typeable tells whether a name can stand in a line: the others can be chosen from a menu.
func typeable(name string) bool {
	return filehost.Shown(name, filehost.MaxPathBytes) && !strings.ContainsFunc(name, func(r rune) bool {
		_, opens := closing[r]
		return opens || r == '»' || unicode.IsControl(r)
	})
}

func helpOf(entry filehost.Entry) string {
	if entry.Kind == filehost.Folder {
		return helpFolder
	}
	return filehost.ShownSize(entry.Size)
}
