package stack

import (
	"bytes"
	"errors"
	"net/url"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxPageBytes is how much of a page is read.
const maxPageBytes = 64 << 10

// signInForm is what a host's sign-in page asks for, by the names of its fields.
type signInForm struct {
	hidden             url.Values
	username, password string
}

// readForm finds the form of a sign-in page.
func readForm(page []byte) (signInForm, error) {
	document, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return signInForm{}, err
	}
	form := signInForm{hidden: url.Values{}}
	for node := range document.Descendants() {
		if node.DataAtom != atom.Input {
			continue
		}
		input := map[string]string{}
		for _, attribute := range node.Attr {
			input[attribute.Key] = attribute.Val
		}
		switch input["type"] {
		case "hidden":
			form.hidden.Add(input["name"], input["value"])
		case "password":
			form.password = input["name"]
		default:
			form.username = input["name"]
		}
	}
	if form.username == "" || form.password == "" {
		return signInForm{}, errors.New("the page asks for no user name and password")
	}
	return form, nil
}

// fill gives the form as user sends it.
func (f signInForm) fill(user string) url.Values {
	filled := url.Values{f.username: {user}, f.password: {HostPassword(user)}}
	for name, values := range f.hidden {
		filled[name] = values
	}
	return filled
}
