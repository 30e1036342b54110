package stack

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ServerProgram is the name of the Mattermost server among Processes.
const ServerProgram = "mattermost"

// tick is the unit in which Linux counts the time of processes (USER_HZ of proc(5)).
const tick = 10 * time.Millisecond

// Usage is what a process has used so far, and holds.
type Usage struct {
	Resident, Peak int64         // memory in bytes: now, and at most since ResetPeak
	CPU            time.Duration // in user and kernel mode
}

// Processes gives the process ids of the server, as ServerProgram, and of its plugins by their ids. It needs Linux.
func (m *Mattermost) Processes() (map[string]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	own, err := filepath.EvalSymlinks(m.Program) // as /proc tells it
	if err != nil {
		return nil, err
	}
	processes := map[string]int{}
	for _, stat := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil {
			return nil, err
		}
		fields, err := statFields(pid)
		if err != nil {
			continue // it has ended meanwhile
		}
		program, err := os.Readlink(filepath.Join(filepath.Dir(stat), "exe"))
		if err != nil || fields[2] != strconv.Itoa(m.Group()) {
			continue
		}
		_, below, isPlugin := strings.Cut(program, "/plugins/")
		id, _, _ := strings.Cut(below, "/")
		switch {
		case isPlugin:
			processes[id] = pid
		case strings.HasPrefix(program, own):
			processes[ServerProgram] = pid
		}
	}
	return processes, nil
}

// statFields gives the fields of proc(5)'s stat that follow the program's name, which may hold anything: the first is
// the state, the third the process group.
func statFields(pid int) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:])), nil
}

// ResetPeak sets the peak of a process back to what it holds now.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// UsageOf reads the usage of a process.
func UsageOf(pid int) (Usage, error) {
	fields, err := statFields(pid)
	if err != nil {
		return Usage{}, err
	}
	var usage Usage
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return Usage{}, err
		}
		usage.CPU += time.Duration(ticks) * tick
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var kib int64
		if _, err := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); err == nil {
			usage.Peak = kib << 10
		}
		if _, err := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kib); err == nil {
			usage.Resident = kib << 10
		}
	}
	if usage.Peak == 0 || usage.Resident == 0 {
		return Usage{}, fmt.Errorf("process %d tells no memory", pid)
	}
	return usage, lines.Err()
}
