package stack

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestAWebServerThatCannotStartLeavesNothing wants its folder removed, whichever step fails.
func TestAWebServerThatCannotStartLeavesNothing(t *testing.T) {
	failure := errors.New("failure")
	fail, nothing := func(string) error { return failure }, func(string) error { return nil }
	tests := map[string]webServer{
		"configuration": {configure: func(string, string) error { return failure }, tree: nothing},
		"tree":          {configure: func(string, string) error { return nil }, tree: fail},
	}
	for name, w := range tests {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			w.name, w.program, w.module = "server", "sh", filepath.Join(temp, "module")
			if err := os.WriteFile(w.module, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := w.start(t.Context()); !errors.Is(err, failure) {
				t.Errorf("it failed with %v", err)
			}
			// Only the module, which is ours.
			if left, err := os.ReadDir(temp); err != nil || len(left) != 1 {
				t.Errorf("left are %v: %v", left, err)
			}
		})
	}
}
