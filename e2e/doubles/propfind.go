package doubles

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
)

// value is what an entry tells of a property. Absent is none.
type value struct {
	there  bool
	markup string
}

var (
	absent = value{}
	null   = value{there: true, markup: "\x00"} // an element that closes itself
)

func markup(xml string) value { return value{there: true, markup: xml} }

func text(plain string) value { return markup(escapeXML(plain)) }

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeXML(plain string) string { return xmlEscapes.Replace(plain) }

// endless is Depth: infinity; nothing lies deeper.
const endless = 1 << 20

// depths are the values that Depth can have (RFC 4918 10.2).
var depths = map[string]int{"0": 0, "1": 1, "infinity": endless}

// propfind is a request of that name (RFC 4918 9.1).
type propfind struct {
	all   bool
	names []xml.Name
}

func readPropfind(body io.Reader) (propfind, error) {
	var asked struct {
		XMLName xml.Name  `xml:"DAV: propfind"`
		All     *struct{} `xml:"DAV: allprop"`
		Prop    *struct {
			Names []struct {
				XMLName xml.Name
			} `xml:",any"`
		} `xml:"DAV: prop"`
	}
	err := xml.NewDecoder(body).Decode(&asked)
	switch {
	case errors.Is(err, io.EOF):
		return propfind{all: true}, nil
	case err != nil:
		return propfind{}, err
	case asked.Prop == nil:
		return propfind{all: true}, nil
	}
	var read propfind
	for _, name := range asked.Prop.Names {
		read.names = append(read.names, name.XMLName)
	}
	return read, nil
}

// isMinimal tells whether the client wants nothing of what there isn't (RFC 8144 2.1).
func isMinimal(r *http.Request) bool { return r.Header.Get("Prefer") == "return=minimal" }
