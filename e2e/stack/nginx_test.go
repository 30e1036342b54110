package stack_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func TestNginxListsForThePassword(t *testing.T) {
	nginx, err := stack.StartNginx(t.Context(), "dora", "password", sample.WriteSmall)
	if nginx != nil {
		t.Cleanup(func() {
			if err := nginx.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]int{"wrong": http.StatusUnauthorized, "password": http.StatusMultiStatus} {
		request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", nginx.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("dora", password)
		request.Header.Set("Depth", "1")
		response, err := new(http.Client).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != want || want == http.StatusMultiStatus && !strings.Contains(string(body), "/Welcome.txt") {
			t.Errorf("with the password %q: %s %v %s", password, response.Status, err, body)
		}
		_ = response.Body.Close()
	}
}
