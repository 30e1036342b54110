package stack

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// supervise runs a command in this shell's process group and ends the whole group once the command
// ends, or once standard input closes: when the harness stops it, and when the harness dies, by
// whatever signal. The command first gets the signal $0 and 15 seconds.
const supervise = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(
	read -r _ <&3
	kill -s "$0" "$child" 2>/dev/null
	for _ in $(seq 150); do
		kill -0 "$child" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL 0
) &
exec 3<&-
wait "$child"
kill -KILL 0
`

// command is a program to keep running.
type command struct {
	// Name of the log file in Dir, without ".log".
	Name string
	Args []string
	// Env is added to the environment of the harness.
	Env []string
	// Dir is the working folder.
	Dir string
	// StopSignal asks for an orderly end, by its name without SIG; empty means TERM.
	StopSignal string
	// As is the user to run as; nil means the user of the harness.
	As *syscall.Credential
}

// process is a running command with everything that it has started.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	log   string
	done  chan struct{}
}

// start starts a command that runs until Stop. It takes no context, whose end would kill the shell that
// supervises and leave what it supervises.
func start(c command) (*process, error) {
	p := &process{log: filepath.Join(c.Dir, c.Name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	signal := c.StopSignal
	if signal == "" {
		signal = "TERM"
	}
	p.cmd = exec.Command("sh", append([]string{"-c", supervise, signal}, c.Args...)...) //nolint:noctx // see above
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.As}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	go func() {
		_ = p.cmd.Wait() // the group ends by SIGKILL, always
		close(p.done)
	}()
	return p, nil
}

// Stop ends the process group and waits for it.
func (p *process) Stop() {
	_ = p.stdin.Close()
	<-p.done
}

// ended describes a process that should be running and is not.
func (p *process) ended() error {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return fmt.Errorf("%s ended; the last lines of %s:\n%s",
		p.cmd.Args[4], p.log, strings.Join(lines[max(0, len(lines)-20):], "\n"))
}
