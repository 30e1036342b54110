package suite

import (
	"crypto/sha256"
	"io"
	"os"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
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

// TestMemoryIsFlatWhenSaving saves a file of 256 MiB and wants neither the server nor any plugin to have grown by more than
// an eighth of it.
func TestMemoryIsFlatWhenSaving(t *testing.T) {
	const size = int64(256) << 20
	folder, dir := newFolder(t)
	fileID := upload(t, site.User, newChannel(t, site.User), "huge.bin", io.LimitReader(zeros{}, size), size)
	processes, before := serverProcesses(t), map[string]int64{}
	for name, pid := range processes {
		must(t, stack.ResetPeak(pid))
		before[name] = usage(t, pid).Resident
	}
	_, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
	must(t, err)
	for name, pid := range processes {
		grown := usage(t, pid).Peak - before[name]
		t.Logf("%s: %d MiB before, grew by %d MiB at most", name, before[name]>>20, grown>>20)
		if grown > size/8 {
			t.Errorf("%s grew by %d MiB for a file of %d MiB", name, grown>>20, size>>20)
		}
	}
	if info, err := os.Stat(dir + "/huge.bin"); err != nil || info.Size() != size {
		t.Errorf("the host has %v: %v", info, err)
	}
}
