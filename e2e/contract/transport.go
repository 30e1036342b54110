// Package contract checks every request to the plugin's API, and every answer of it, against the
// OpenAPI document that the project publishes.
package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

func init() {
	for _, image := range []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"} {
		openapi3filter.RegisterBodyDecoder(image, openapi3filter.FileBodyDecoder)
	}
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/yaml", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/health+json", openapi3filter.JSONBodyDecoder)
}

// ErrBroken is what every breach of the contract is.
var ErrBroken = errors.New("the contract is broken")

// Transport sends requests on and fails those that break the contract: a request that the document
// doesn't allow and the API took all the same, an answer that it doesn't describe.
type Transport struct {
	base   string
	next   http.RoundTripper
	router routers.Router
	shape  *openapi3.Schema
}

var _ http.RoundTripper = (*Transport)(nil)

// New reads the document and checks it. Requests below base are held to it; others pass.
func New(document, base string, next http.RoundTripper) (*Transport, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromFile(document)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(loader.Context); err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: base}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	shape := doc.Components.Schemas["Error"]
	if shape == nil {
		return nil, errors.New("the document has no schema Error")
	}
	return &Transport{base: base, next: next, router: router, shape: shape.Value}, nil
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(request.URL.String(), t.base+"/") {
		return t.next.RoundTrip(request)
	}
	body, err := readAll(request.Body)
	if err != nil {
		return nil, err
	}
	sent, checked := copyOf(request, body), copyOf(request, body)
	response, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	answer, err := readAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	if err := t.check(checked, response, answer); err != nil {
		return nil, fmt.Errorf("%w by %s %s -> %d %s: %w",
			ErrBroken, request.Method, request.URL.Path, response.StatusCode, answer, err)
	}
	return response, nil
}

func (t *Transport) check(request *http.Request, response *http.Response, answer []byte) error {
	route, parameters, err := t.router.FindRoute(request)
	if err != nil {
		return t.checkUnrouted(request, response, answer)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: request, Route: route, PathParams: parameters,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true,
			MultiError:            true,
		},
	}
	// Tests send wrong requests on purpose; what is wrong is that one succeeds.
	if err := openapi3filter.ValidateRequest(request.Context(), input); err != nil && response.StatusCode < 400 {
		return fmt.Errorf("request: %w", err)
	}
	result := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Options: input.Options,
	}
	result.SetBodyBytes(answer)
	if err := openapi3filter.ValidateResponse(request.Context(), result); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// checkUnrouted holds the answer to a request that the document doesn't know to the shape of errors.
func (t *Transport) checkUnrouted(request *http.Request, response *http.Response, answer []byte) error {
	if request.Method == http.MethodHead {
		return t.checkHead(request, response)
	}
	switch {
	case response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed:
		return errors.New("a route that the document doesn't know")
	case response.StatusCode == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "":
		return errors.New("405 without Allow")
	}
	value, err := decodeJSON(answer)
	if err != nil {
		return err
	}
	return t.shape.VisitJSON(value, openapi3.EnableJSONSchema2020())
}

// checkHead holds a HEAD to the GET that it stands for. Its answer has no body that could be wrong.
func (t *Transport) checkHead(request *http.Request, response *http.Response) error {
	get := copyOf(request, nil)
	get.Method = http.MethodGet
	if _, _, err := t.router.FindRoute(get); err != nil && response.StatusCode < 400 {
		return errors.New("a route that the document doesn't know")
	}
	if response.StatusCode == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "" {
		return errors.New("405 without Allow")
	}
	return nil
}
