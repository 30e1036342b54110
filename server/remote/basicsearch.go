package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// basicSearch is a query of that name (RFC 5323 5).
type basicSearch struct {
	properties []property // of what is found
	where      condition
	newest     bool // the newest first; else in no order
	most       int  // rows; a host that is not told gives a hundred
}

// condition is an operator with its operands (RFC 5323 5.5), as XML.
type condition string

func equal(name, literal string) condition { return comparison("eq", name, literal) }

// contains compares names without regard to case. In a pattern % and _ stand for others, unless they are escaped.
func contains(text string) condition {
	return comparison("like", "d:displayname", "%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)+"%")
}

func comparison(operator, name, literal string) condition {
	return condition("<d:" + operator + "><d:prop><" + name + "/></d:prop><d:literal>" + escape(literal) + "</d:literal></d:" + operator + ">")
}

func not(operand condition) condition { return "<d:not>" + operand + "</d:not>" }

func either(operands ...condition) condition { return joined("or", operands) }

func both(operands ...condition) condition { return joined("and", operands) }

func joined(operator string, operands []condition) condition {
	if len(operands) == 1 {
		return operands[0]
	}
	whole := condition("<d:" + operator + ">")
	for _, operand := range operands {
		whole += operand
	}
	return whole + condition("</d:"+operator+">")
}

// errNoXML is the cause of the error for a text that no XML can hold (XML 1.0 2.2). No name at Nextcloud is such a text.
var errNoXML = errors.New("no text of XML")

func isXMLText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
	})
}

// escape is text in XML.
func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a Builder takes everything
	return escaped.String()
}

// search is the request for a query below a folder of the user's. Nextcloud has one address for all searches, and takes the
// scope as it is, not percent-encoded.
func (c *Client) search(ctx context.Context, credential *filehost.Credential, folder filehost.Path, query basicSearch) (propfind, error) {
	tree, err := c.tree(ctx, *credential, folder)
	if err != nil {
		return propfind{}, err
	}
	dav, _ := within([]string{"remote.php", "dav"})
	scope := strings.Join(append(tree.top.Segments()[len(c.below(dav).Segments()):], folder.Segments()...), "/")
	if !isXMLText(scope) {
		return propfind{}, filehost.E(filehost.NotFound, c.host.Name+" has no such file or folder.", errNoXML)
	}
	body := xml.Header + `<d:searchrequest` + namespaces + `><d:basicsearch><d:select>` + propElements(query.properties...) + `</d:select>` +
		`<d:from><d:scope><d:href>/` + escape(scope) + `</d:href><d:depth>infinity</d:depth></d:scope></d:from>` +
		`<d:where>` + string(query.where) + `</d:where>`
	if query.newest {
		body += `<d:orderby><d:order>` + propElements(lastModified) + `<d:descending/></d:order></d:orderby>`
	}
	body += `<d:limit><d:nresults>` + strconv.Itoa(query.most) + `</d:nresults></d:limit></d:basicsearch></d:searchrequest>`
	return propfind{
		method:     "SEARCH",
		body:       []byte(body),
		address:    c.host.Origin() + c.below(dav).Escaped() + "/",
		credential: credential,
		tree:       tree,
		patience:   listPatience,
	}, nil
}
