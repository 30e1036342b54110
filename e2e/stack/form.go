package stack

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxPageBytes is how much of a page is read.
const maxPageBytes = 64 << 10

// signInForm is what a host's page asks for: fields by their names, and where the answers go.
type signInForm struct {
	// found tells whether the page has a form at all.
	found              bool
	action             string
	hidden             url.Values
	username, password string
	// links are where the page's links lead.
	links []string
	// text is what the page says.
	text string
}

// readForm finds the form of a sign-in page.
func readForm(page []byte) (signInForm, error) {
	form, err := readPage(page)
	if err == nil && (form.username == "" || form.password == "") {
		err = errors.New("the page asks for no user name and password")
	}
	return form, err
}

// readPage finds the form and the links of a page.
func readPage(page []byte) (signInForm, error) {
	document, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return signInForm{}, err
	}
	form := signInForm{hidden: url.Values{}}
	var text strings.Builder
	for node := range document.Descendants() {
		attributes := map[string]string{}
		for _, attribute := range node.Attr {
			attributes[attribute.Key] = attribute.Val
		}
		switch {
		case node.Type == html.TextNode:
			text.WriteString(node.Data)
		case node.DataAtom == atom.Form:
			form.found, form.action = true, attributes["action"]
		case node.DataAtom == atom.A:
			form.links = append(form.links, attributes["href"])
		case node.DataAtom == atom.Input:
			form.input(attributes)
		}
	}
	form.text = strings.Join(strings.Fields(text.String()), " ")
	return form, nil
}

func (f *signInForm) input(attributes map[string]string) {
	switch attributes["type"] {
	case "hidden":
		f.hidden.Add(attributes["name"], attributes["value"])
	case "password":
		f.password = attributes["name"]
	default:
		f.username = attributes["name"]
	}
}

// fill gives the form as user sends it.
func (f signInForm) fill(user string) url.Values { return f.fillWith(user, HostPassword(user)) }

func (f signInForm) fillWith(name, password string) url.Values {
	filled := url.Values{}
	for field, values := range f.hidden {
		filled[field] = values
	}
	if f.password != "" {
		filled.Set(f.username, name)
		filled.Set(f.password, password)
	}
	return filled
}
