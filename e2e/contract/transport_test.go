package contract_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
)

const problem = `{"id":"filehost.%[1]s","code":"%[1]s","message":"m","status_code":%[2]d,"request_id":"r"}`

// TestTransport shows that the check finds what it is there to find.
func TestTransport(t *testing.T) {
	const connected = `{"state":"connected","method":"oauth","methods":["oauth"],"automatic":false,"host":{"id":"default","name":"n","kind":"webdav"}}`
	tests := map[string]struct {
		method, path, body string
		status             int
		answer             string
		broken             bool
	}{
		"an answer as described":               {http.MethodGet, "/connection", "", 200, connected, false},
		"a field of a wrong value":             {http.MethodGet, "/connection", "", 200, strings.Replace(connected, "connected", "on", 1), true},
		"a missing field":                      {http.MethodGet, "/connection", "", 200, `{"state":"connected"}`, true},
		"an unknown field where none may be":   {http.MethodGet, "/connection", "", 200, `{"token":"x",` + connected[1:], true},
		"an error as described":                {http.MethodGet, "/files?limit=7", "", 424, fmt.Sprintf(problem, "not_connected", 424), false},
		"an error of an unknown code":          {http.MethodGet, "/files", "", 418, fmt.Sprintf(problem, "teapot", 418), true},
		"an error in another shape":            {http.MethodGet, "/files", "", 400, `{"error":"no"}`, true},
		"a wrong request that is refused":      {http.MethodGet, "/files?limit=0", "", 400, fmt.Sprintf(problem, "invalid_request", 400), false},
		"a wrong request that is taken":        {http.MethodPost, "/connection", `{"user":"u"}`, 200, connected, true},
		"an unknown route that answers":        {http.MethodGet, "/secret", "", 200, `{}`, true},
		"an unknown route that is refused":     {http.MethodGet, "/secret", "", 404, fmt.Sprintf(problem, "not_found", 404), false},
		"an unknown route in another shape":    {http.MethodGet, "/secret", "", 404, `{}`, true},
		"a HEAD of what can be got":            {http.MethodHead, "/health", "", 200, "", false},
		"a HEAD that isn't told what else":     {http.MethodHead, "/health", "", 405, "", true},
		"a HEAD of an unknown route":           {http.MethodHead, "/secret", "", 200, "", true},
		"a wrong method that isn't told which": {http.MethodPut, "/files", "", 405, fmt.Sprintf(problem, "method_not_allowed", 405), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.answer))
			}))
			defer server.Close()
			transport, err := contract.New("../../assets/openapi.yaml", server.URL, server.Client().Transport)
			if err != nil {
				t.Fatal(err)
			}
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.body != "" {
				request.Header.Set("Content-Type", "application/json")
			}
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err == nil {
				defer func() { _ = response.Body.Close() }()
			}
			if broken := err != nil; broken != test.broken {
				t.Errorf("broken = %v (%v), want %v", broken, err, test.broken)
			}
		})
	}
}
