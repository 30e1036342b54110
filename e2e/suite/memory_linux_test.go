package suite

import (
	"crypto/sha256"
	"io"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestMemoryIsFlat copies a file of 1 GiB and wants neither the server nor any plugin to have grown
// by more than an eighth of it.
func TestMemoryIsFlat(t *testing.T) {
	const bound = sample.HugeSize / 8
	processes, before := serverProcesses(t), map[string]int64{}
	for name, pid := range processes {
		must(t, stack.ResetPeak(pid))
		before[name] = usage(t, pid).Resident
	}
	item := attach(t, copies(sample.HugeFile)).Items[0]
	for name, pid := range processes {
		grown := usage(t, pid).Peak - before[name]
		t.Logf("%s: %d MiB before, grew by %d MiB at most", name, before[name]>>20, grown>>20)
		if grown > bound {
			t.Errorf("%s grew by %d MiB for a file of %d MiB", name, grown>>20, sample.HugeSize>>20)
		}
	}
	want, got := sha256.New(), sha256.New()
	_, err := io.CopyN(want, zeros{}, sample.HugeSize)
	must(t, err)
	body := openFile(t, item.FileID)
	defer func() { _ = body.Close() }()
	size, err := io.Copy(got, body)
	must(t, err)
	if size != sample.HugeSize || string(got.Sum(nil)) != string(want.Sum(nil)) {
		t.Errorf("%d bytes came back, with SHA-256 %x", size, got.Sum(nil))
	}
}

// zeros is what a sparse file holds.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// serverProcesses gives the process ids of the server and of both plugins.
func serverProcesses(t *testing.T) map[string]int {
	t.Helper()
	processes, err := site.Mattermost.Processes()
	must(t, err)
	if len(processes) != 3 {
		t.Fatalf("the server and two plugins should be running: %v", processes)
	}
	return processes
}

func usage(t *testing.T, pid int) stack.Usage {
	t.Helper()
	used, err := stack.UsageOf(pid)
	must(t, err)
	return used
}
