package command

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// pageSize is how many entries one answer shows.
const pageSize = 20

// maxOption is how much of a name a menu shows, in characters.
const maxOption = 60

func (h *Handler) browse(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	path, err := readPath(unquote(rest))
	if err != nil {
		return filehost.Message{}, err
	}
	return h.list(ctx, c, step{ID: path.ID()})
}

func (h *Handler) search(ctx context.Context, c *call, rest string) (filehost.Message, error) {
	if rest = unquote(rest); rest == "" {
		return filehost.Message{}, filehost.Invalid("words", sayWhatToSearch)
	}
	return h.list(ctx, c, step{Text: rest})
}

func (h *Handler) recent(ctx context.Context, c *call, _ string) (filehost.Message, error) {
	return h.list(ctx, c, step{View: filehost.Recent})
}

// list shows a page of a folder, or of what was found.
func (h *Handler) list(ctx context.Context, c *call, s step) (filehost.Message, error) {
	listing := filehost.Listing{View: s.View, Text: s.Text, Cursor: s.Cursor, Limit: pageSize}
	if s.View == filehost.Recent {
		listing.Sort, listing.Descending = filehost.ByModified, true
	}
	if s.ID != "" {
		ref, err := filehost.ParseRef("id", s.ID)
		if err != nil {
			return filehost.Message{}, err
		}
		listing.Folder, listing.FolderID = ref.Path, ref.HostID
	}
	page, err := c.service.Browse(ctx, c.UserID, listing)
	if err != nil {
		return filehost.Message{}, err
	}
	message := filehost.Message{Text: c.shown(s, page)}
	if err = c.addMenus(&message, page); err != nil {
		return filehost.Message{}, err
	}
	return message, c.addWays(&message, s, page)
}

// shown is a page as text.
func (c *call) shown(s step, page filehost.Page) string {
	var text strings.Builder
	text.WriteString(title(c.service.Host.Name, s.Text, s.View, page.Folder))
	for _, entry := range page.Entries {
		text.WriteString("\n" + line(entry, page.Folder == nil))
	}
	switch {
	case len(page.Entries) == 0:
		text.WriteString("\n" + nothingHere(page.Folder == nil))
	case page.Truncated:
		text.WriteString("\n" + moreThanShown)
	case page.Total != nil && *page.Total > len(page.Entries):
		text.WriteString("\n" + ofTotal(*page.Total))
	}
	return text.String()
}

// addMenus lets the user choose a folder to open, or a file.
func (c *call) addMenus(message *filehost.Message, page filehost.Page) error {
	for _, menu := range []struct {
		kind  filehost.EntryKind
		label string
		do    do
	}{{filehost.Folder, labelOpen, doList}, {filehost.File, labelChoose, doFile}} {
		var options []filehost.DialogOption
		for _, entry := range page.Entries {
			if entry.Kind == menu.kind {
				options = append(options, filehost.DialogOption{Value: entry.ID(), Label: option(entry.Path)})
			}
		}
		if len(options) == 0 {
			continue
		}
		links := page.Capabilities.Links
		button, err := c.button(menu.label, step{Do: menu.do, Menu: true, Internal: links.Internal, Public: links.Public})
		if err != nil {
			return err
		}
		message.Menus = append(message.Menus, filehost.Menu{Button: button, Options: options})
	}
	return nil
}

// addWays adds the buttons that lead on from a page.
func (c *call) addWays(message *filehost.Message, s step, page filehost.Page) error {
	var ways []labelled
	if page.NextCursor != "" {
		ways = append(ways, labelled{labelNext, step{Do: doList, ID: s.ID, View: s.View, Text: s.Text, Cursor: page.NextCursor}})
	}
	switch {
	case page.Folder == nil:
		ways = append(ways, labelled{labelAll, step{Do: doList, ID: filehost.Root.ID()}})
	case !page.Folder.Path.IsRoot():
		ways = append(ways, labelled{labelUp, step{Do: doList, ID: page.Folder.Path.Parent().ID()}})
		if page.Capabilities.Links.Internal {
			ways = append(ways, labelled{labelLink, step{Do: doLink, IDs: []string{page.Folder.ID()}}})
		}
	}
	return c.addButtons(message, ways)
}

// line is an entry in a listing. Of what was found it tells the folder, too.
func line(entry filehost.Entry, found bool) string {
	text := "- " + icon(entry.Kind) + " " + filehost.Literal(entry.Path.Name())
	if entry.Kind == filehost.File {
		text += " · " + filehost.ShownSize(entry.Size)
	}
	if !entry.ModifiedAt.IsZero() {
		text += " · " + entry.ModifiedAt.UTC().Format("2006-01-02")
	}
	if found && !entry.Path.Parent().IsRoot() {
		text += " · " + filehost.Literal(entry.Path.Parent().String())
	}
	return text
}

func icon(kind filehost.EntryKind) string {
	if kind == filehost.Folder {
		return ":file_folder:"
	}
	return ":page_facing_up:"
}

// option is a name in a menu, which shows text as it is.
func option(path filehost.Path) string {
	name := []rune(filehost.StoredName(path.Name()))
	if len(name) > maxOption {
		name = append(name[:maxOption], '…')
	}
	return string(name)
}

// readPath reads a path as people type it: the first slash may be missing.
func readPath(text string) (filehost.Path, error) {
	if !strings.HasPrefix(text, "/") {
		text = "/" + text
	}
	return filehost.ParsePath("path", text)
}

// closing are the quotes that people type, and phones make of them.
var closing = map[rune]rune{'"': '"', '“': '”', '„': '“', '”': '”', '«': '»'}

// unquote takes the quotes off that are around all of a text.
func unquote(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if end, quoted := closing[first]; quoted && len(text) > size && strings.HasSuffix(text, string(end)) {
		return text[size : len(text)-utf8.RuneLen(end)]
	}
	return text
}

// words splits a line at its spaces, but for those in quotes.
func words(text string) ([]string, error) {
	var found []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		first, size := utf8.DecodeRuneInString(text)
		end, quoted := closing[first]
		if !quoted {
			word, rest, _ := strings.Cut(text, " ")
			found, text = append(found, word), rest
			continue
		}
		word, rest, closed := strings.Cut(text[size:], string(end))
		if !closed {
			return nil, filehost.Invalid("path", openQuote(strconv.Quote(word)))
		}
		found, text = append(found, word), rest
	}
	return found, nil
}
