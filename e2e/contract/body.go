package contract

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// readAll reads a body to its end and closes it; there may be none.
func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(body)
	if closeErr := body.Close(); err == nil {
		err = closeErr
	}
	return content, err
}

// copyOf gives a request like the given one with a body of its own.
func copyOf(request *http.Request, body []byte) *http.Request {
	twin := request.Clone(request.Context())
	if body != nil {
		twin.Body = io.NopCloser(bytes.NewReader(body))
	}
	return twin
}

func decodeJSON(content []byte) (any, error) {
	var value any
	return value, json.Unmarshal(content, &value)
}
