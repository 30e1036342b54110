package suite

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// memory is what a process holds and has held at most, in bytes.
type memory struct{ now, peak int64 }

// TestMemoryIsFlat copies a file of 1 GiB and wants neither the server nor any plugin to have grown
// by more than an eighth of it.
func TestMemoryIsFlat(t *testing.T) {
	const bound = sample.HugeSize / 8
	before := map[int]memory{}
	for pid := range serverProcesses(t) {
		// Writing 5 sets the peak back to what is held now (proc(5)).
		must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0))
		before[pid] = readMemory(t, pid)
	}
	item := attach(t, copies(sample.HugeFile)).Items[0]
	for pid, name := range serverProcesses(t) {
		grown := readMemory(t, pid).peak - before[pid].now
		t.Logf("%s: %d MiB before, grew by %d MiB at most", name, before[pid].now>>20, grown>>20)
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

// serverProcesses gives the programs of the server's process group by process id: the server's own
// and the plugins'.
func serverProcesses(t *testing.T) map[int]string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	processes := map[int]string{}
	for _, stat := range stats {
		content, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended meanwhile
		}
		// The fields after the name, which may hold anything, are state, parent and group.
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		program, err := os.Readlink(filepath.Join(filepath.Dir(stat), "exe"))
		if err != nil || fields[2] != strconv.Itoa(site.Mattermost.Group()) {
			continue
		}
		if strings.HasPrefix(program, site.Mattermost.Program) || strings.Contains(program, "plugins") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			must(t, err)
			processes[pid] = filepath.Base(program)
		}
	}
	if len(processes) != 3 {
		t.Fatalf("the server and two plugins should be running: %v", processes)
	}
	return processes
}

func readMemory(t *testing.T, pid int) memory {
	t.Helper()
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	defer func() { _ = file.Close() }()
	var m memory
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kib int64
		if _, err := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); err == nil {
			m.peak = kib << 10
		}
		if _, err := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kib); err == nil {
			m.now = kib << 10
		}
	}
	if m.now == 0 || m.peak == 0 {
		t.Fatalf("process %d tells no memory", pid)
	}
	return m
}
