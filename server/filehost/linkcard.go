package filehost

import (
	"fmt"
	"strings"
	"time"
)

// cardMessage is the message of a post with links: the poster's own words, and a line for each link. It tells the same in
// every client, in email and in exports.
func cardMessage(words string, lines []string) string {
	card := strings.Join(lines, "\n")
	if words == "" || card == "" {
		return words + card
	}
	return words + "\n\n" + card
}

// cardLine tells of one link: what it leads to, at which host, and who can open it.
func (s *Service) cardLine(item PostedItem) string {
	link := item.Link
	name := "[" + linkText(item.Name) + "](" + linkable(link.URL) + ")"
	if !link.RevokedAt.IsZero() {
		name = literal(item.Name)
	}
	return strings.Join([]string{name, kindText(item), literal(s.Host.Name), link.audience()}, " · ")
}

// linkText is literal for the text of a link, which no bracket ends.
func linkText(name string) string {
	return literal(strings.NewReplacer("[", "(", "]", ")", "\\", "/").Replace(name))
}

// audience tells who can open a link, and for how long.
func (l *Linked) audience() string {
	switch {
	case !l.RevokedAt.IsZero():
		return "the link was revoked"
	case !l.Public:
		return "for people who have access there"
	}
	text := "anyone with the link may " + string(l.Permission) + " it"
	if !l.ExpiresAt.IsZero() {
		text += " until " + l.ExpiresAt.UTC().Add(-time.Second).Format("2 Jan 2006") // the last day, where it ends at midnight
	}
	if l.Password {
		text += ", password needed"
	}
	return text
}

// kinds are words for what files hold, by the beginnings of MIME types.
var kinds = []struct{ prefix, word string }{
	{"image/", "image"}, {"video/", "video"}, {"audio/", "audio"}, {"application/pdf", "PDF"}, {"text/", "text"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml", "spreadsheet"}, {"application/vnd.oasis.opendocument.spreadsheet", "spreadsheet"},
	{"application/vnd.openxmlformats-officedocument.presentationml", "presentation"}, {"application/vnd.oasis.opendocument.presentation", "presentation"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml", "document"}, {"application/vnd.oasis.opendocument.text", "document"},
	{"application/zip", "archive"}, {"application/gzip", "archive"}, {"application/x-tar", "archive"},
}

func kindText(item PostedItem) string {
	if item.Kind == Folder {
		return "folder"
	}
	word := "file"
	for _, kind := range kinds {
		if strings.HasPrefix(item.MIMEType, kind.prefix) {
			word = kind.word
			break
		}
	}
	return word + ", " + sizeText(item.Size)
}

// sizeText writes a number of bytes as people read it.
func sizeText(size int64) string {
	if size < 1000 {
		return fmt.Sprintf("%d B", size)
	}
	value, unit := float64(size)/1000, 0
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 999.95 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// Active tells whether the link still leads somewhere, as far as the plugin knows.
func (l *Linked) Active(now time.Time) bool {
	return l.RevokedAt.IsZero() && (l.ExpiresAt.IsZero() || now.Before(l.ExpiresAt))
}
