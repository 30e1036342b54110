package stack

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// home lets tests name files by paths below "/" on a host that has a user's own files in a folder at the top: what is sent
// to the plugin gets that folder in front, and what comes back loses it.
type home struct {
	base   string        // of the plugin's API
	folder func() string // "" = the host has the user's files at the top
	next   http.RoundTripper
}

var _ http.RoundTripper = home{}

// pathField is a field of a request's body that names a file or folder.
var pathField = regexp.MustCompile(`("(?:path|folder)"\s*:\s*")(/)`)

// RoundTrip implements http.RoundTripper.
func (h home) RoundTrip(request *http.Request) (*http.Response, error) {
	folder := h.folder()
	if folder == "" || !strings.HasPrefix(request.URL.String(), h.base+"/") {
		return h.next.RoundTrip(request)
	}
	sent := request.Clone(request.Context())
	sent.URL.RawQuery = h.query(sent.URL, folder)
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		body = pathField.ReplaceAll(body, []byte("${1}/"+folder+"/"))
		sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	response, err := h.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	answer = []byte(strings.NewReplacer(`/`+folder+`/`, `/`, `"/`+folder+`"`, `"/"`).Replace(string(answer)))
	response.Body = io.NopCloser(bytes.NewReader(answer))
	if response.ContentLength >= 0 && request.Method != http.MethodHead {
		response.ContentLength = int64(len(answer))
		response.Header.Set("Content-Length", strconv.Itoa(len(answer)))
	}
	return response, nil
}

// query puts the folder in front of the path that is asked for, as it is spelled; the top folder is asked for by default.
func (h home) query(address *url.URL, folder string) string {
	var parameters []string
	named := !strings.HasSuffix(address.Path, "/files")
	for parameter := range strings.SplitSeq(address.RawQuery, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		named = named || name == "path" || name == "id"
		if plain, err := url.QueryUnescape(value); err == nil && name == "path" && strings.HasPrefix(plain, "/") {
			parameter = "path=%2F" + url.QueryEscape(folder) + value
		}
		if parameter != "" {
			parameters = append(parameters, parameter)
		}
	}
	if !named {
		parameters = append(parameters, "path=%2F"+url.QueryEscape(folder))
	}
	return strings.Join(parameters, "&")
}
