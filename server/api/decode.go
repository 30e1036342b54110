package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxBody is the largest request body, in bytes.
const maxBody = 1 << 20

// decodeBody reads a JSON object into into, whose type is the only authority on the fields there are.
func decodeBody(r *request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return filehost.Invalid("body", "The body must be one JSON object and nothing after it.")
	}
	return bodyError(err)
}

func bodyError(err error) error {
	var (
		tooLarge  *http.MaxBytesError
		wrongType *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &tooLarge):
		return &filehost.Error{Kind: filehost.TooLarge, Field: "body", Limit: maxBody, LimitOwner: filehost.OwnerPlugin, Message: "The request's body is larger than 1 MiB."}
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return filehost.Invalid(wrongType.Field, wrongType.Field+" has the wrong type.")
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name, _ := strconv.Unquote(field)
		return filehost.Invalid(name, "There is no field "+field+".")
	}
	known := filehost.Invalid("body", "The body must be a JSON object.")
	known.Err = err
	return known
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
