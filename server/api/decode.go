package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxBody is the largest request body, in bytes.
const maxBody = 1 << 20

// What an error quotes of the names that the caller made up.
const (
	maxQuoted = 64 // bytes of one name
	maxDepth  = 4  // names of a path; the deepest field of the contract has fewer
)

var (
	errNull = errors.New("null")
	errNUL  = errors.New("NUL")
)

// strict takes the fields of the Go type and no other, spelled as they are, each at most once (RFC 7493 2.3) and none as
// null: two readers of a body must not see two requests in it. No text of the contract holds a NUL, and databases keep none.
var strict = json.JoinOptions(json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(refuseNull), json.UnmarshalFromFunc(readText))))

func refuseNull(decoder *jsontext.Decoder, _ any) error {
	if decoder.PeekKind() == jsontext.KindNull {
		return errNull
	}
	return errors.ErrUnsupported // go on as usual
}

func readText(decoder *jsontext.Decoder, into *string) error {
	if decoder.PeekKind() != jsontext.KindString {
		return errors.ErrUnsupported // as usual
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	if *into = token.String(); strings.ContainsRune(*into, 0) {
		return errNUL
	}
	return nil
}

// decodeBody reads a JSON object (RFC 8259, in UTF-8) into into, whose type is the only authority on the fields there are.
// What such a request asks for stands in its body: it takes no parameters.
func decodeBody(r *request, into any) error {
	if q := newQuery(r, "csrf"); q.err != nil { // Mattermost's own, for forms
		return q.err
	}
	if err := checkMediaType(r.Header); err != nil {
		return err
	}
	return bodyError(json.UnmarshalRead(http.MaxBytesReader(nil, r.Body, maxBody), into, strict))
}

// checkMediaType refuses what isn't declared as JSON. A page of another site can't send that without asking first (Fetch,
// 2.2.2): a second lock beside Mattermost's token.
func checkMediaType(header http.Header) error {
	types := header.Values("Content-Type")
	mediaType, parameters, err := mime.ParseMediaType(strings.Join(types, ","))
	charset, hasCharset := parameters["charset"]
	if err != nil || mediaType != "application/json" || hasCharset && !strings.EqualFold(charset, "utf-8") {
		return filehost.Invalid("Content-Type", "Send the body with Content-Type: application/json, in UTF-8.")
	}
	for _, encoding := range header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			return filehost.Invalid("Content-Encoding", "Send the body as it is, without Content-Encoding.")
		}
	}
	return nil
}

// bodyError words an error of the JSON reader. The reader's own words may quote a password, so they are no cause.
func bodyError(err error) error {
	var (
		tooLarge *http.MaxBytesError
		meaning  *json.SemanticError
		syntax   *jsontext.SyntacticError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooLarge):
		return &filehost.Error{Kind: filehost.TooLarge, Field: "body", Limit: maxBody, LimitOwner: filehost.OwnerPlugin, Message: "The request's body is larger than 1 MiB."}
	case errors.As(err, &meaning):
		return meaningError(meaning)
	case errors.As(err, &syntax):
		return syntaxError(syntax)
	}
	return &filehost.Error{Kind: filehost.InvalidRequest, Field: "body", Message: "The body could not be read to its end.", Err: err}
}

func meaningError(err *json.SemanticError) error {
	switch field := fieldAt(err.JSONPointer); {
	case err.JSONPointer == "":
		return filehost.Invalid("body", "The body must be a JSON object.")
	case errors.Is(err.Err, json.ErrUnknownName):
		field = join(fieldOf(err.JSONPointer.Parent()), quoted(err.JSONPointer.LastToken()))
		return filehost.Invalid(field, "There is no field "+strconv.Quote(field)+".")
	case errors.Is(err.Err, errNull):
		return filehost.Invalid(field, field+" is null; leave it out instead.")
	case errors.Is(err.Err, errNUL):
		return filehost.Invalid(field, field+" holds a NUL character.")
	default:
		return filehost.Invalid(field, field+" has the wrong type.")
	}
}

func syntaxError(err *jsontext.SyntacticError) error {
	field := fieldAt(err.JSONPointer)
	switch {
	case errors.Is(err.Err, jsontext.ErrDuplicateName):
		return filehost.Invalid(field, field+" is given more than once.")
	case errors.Is(err.Err, io.ErrUnexpectedEOF):
		return filehost.Invalid("body", "The body must be one whole JSON object.")
	default:
		return filehost.Invalid(field, "The body is not one JSON object in UTF-8: see byte "+strconv.FormatInt(err.ByteOffset+1, 10)+".")
	}
}

func fieldAt(pointer jsontext.Pointer) string {
	if pointer == "" {
		return "body"
	}
	return fieldOf(pointer)
}

// fieldOf writes a JSON Pointer (RFC 6901) as people write it: items[3].path.
func fieldOf(pointer jsontext.Pointer) (field string) {
	depth := 0
	for token := range pointer.Tokens() {
		if depth++; depth > maxDepth {
			return field + "…"
		}
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			field += "[" + token + "]" // no field is named by a number
			continue
		}
		field = join(field, quoted(token))
	}
	return field
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// quoted cuts a name that the caller made up to a length that can be shown.
func quoted(name string) string {
	if name == "" {
		return `""`
	}
	if len(name) <= maxQuoted {
		return name
	}
	end := maxQuoted
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}

// query reads the parameters of a GET, each at most once unless it is repeatable. The first error sticks.
type query struct {
	values url.Values
	err    error
}

// newQuery parses the query of r, which may hold the named parameters and no other. access_token is Mattermost's own.
func newQuery(r *request, names ...string) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.err = filehost.Invalid("query", "The query can't be parsed; percent-encode its values.")
	}
	for name := range values {
		if name != "access_token" && !slices.Contains(names, name) {
			name = quoted(name)
			q.fail(name, "There is no parameter "+strconv.Quote(name)+".")
		}
	}
	return q
}

func (q *query) fail(field, message string) {
	if q.err == nil {
		q.err = filehost.Invalid(field, message)
	}
}

// one returns a parameter, or fallback when it is absent.
func (q *query) one(name, fallback string) string {
	switch values := q.values[name]; len(values) {
	case 0:
		return fallback
	case 1:
		return values[0]
	default:
		q.fail(name, name+" is given more than once.")
		return fallback
	}
}

// optional returns a parameter that is one of the allowed, or "" when it is absent.
func (q *query) optional(name string, allowed ...string) string {
	if !q.values.Has(name) {
		return ""
	}
	return q.oneOf(name, allowed...)
}

// oneOf returns a parameter that is one of the allowed, of which the first is the default.
func (q *query) oneOf(name string, allowed ...string) string {
	value := q.one(name, allowed[0])
	if !slices.Contains(allowed, value) {
		q.fail(name, name+" must be one of "+strings.Join(allowed, ", ")+".")
	}
	return value
}

// number returns an integer parameter within bounds, or fallback when it is absent.
func (q *query) number(name string, fallback, least, most int) int {
	raw := q.one(name, strconv.Itoa(fallback))
	number, err := strconv.Atoi(raw)
	if err != nil || number < least || number > most {
		q.fail(name, name+" must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most)+".")
	}
	return number
}
