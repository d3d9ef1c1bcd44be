//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// recorder has a tool of the system watch the server of a contender in the rounds that count.
type recorder struct {
	perf, strace string // folders to write to; "": that tool is not asked for

	mu     sync.Mutex
	number int
}

// start attaches the tools that are asked for to the server of a contender. Finish detaches them, and notes how much
// work they have seen.
func (r *recorder) start(k contender) (finish func(sample) error, err error) {
	if r == nil {
		return func(sample) error { return nil }, nil
	}
	r.mu.Lock()
	r.number++
	name := fmt.Sprintf("%03d-%s", r.number, strings.NewReplacer(" ", "-", ",", "").Replace(k.name))
	r.mu.Unlock()
	pid := strconv.Itoa(k.on.cmd.Process.Pid)
	var finishers []func(sample) error
	for _, t := range []struct {
		into, file string
		command    []string
	}{
		{r.perf, name + ".data", []string{"perf", "record", "-q", "-F", "1999", "-e", "cpu-clock", "-g", "-p", pid, "-o"}},
		{r.strace, name + ".strace", []string{"strace", "-c", "-f", "-p", pid, "-o"}},
	} {
		if t.into == "" {
			continue
		}
		done, err := watch(append(t.command, filepath.Join(t.into, t.file)), pid)
		if err != nil {
			return nil, err
		}
		finishers = append(finishers, func(s sample) error {
			line := fmt.Sprintf("%s: %d units of work, %.1f us of the server's processors each\n", t.file, s.n, s.cpu)
			return errors.Join(done(), r.note(filepath.Join(t.into, "units.txt"), line))
		})
	}
	return func(s sample) error {
		var errs []error
		for _, finish := range finishers {
			errs = append(errs, finish(s))
		}
		return errors.Join(errs...)
	}, nil
}

// watch starts a tool, whose last argument is the file that it makes, and waits until it is attached: strace is then
// the tracer of the process, and perf has made its file.
func watch(command []string, pid string) (done func() error, err error) {
	out := command[len(command)-1]
	if err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o700), remove(out)); err != nil {
		return nil, err
	}
	tool := exec.Command(command[0], command[1:]...)
	var said strings.Builder
	tool.Stderr = &said
	if err := tool.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- tool.Wait() }()
	for until := time.Now().Add(patience); !attached(command[0], out, pid); {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%s: %w: %s", command[0], err, said.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(until) {
			return nil, errors.Join(fmt.Errorf("%s does not attach", command[0]), tool.Process.Kill())
		}
	}
	return func() error {
		if err := tool.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		<-ended // after a signal both report one
		_, err := os.Stat(out)
		return err
	}, nil
}

func attached(tool, out, pid string) bool {
	if tool != "strace" {
		_, err := os.Stat(out)
		return err == nil
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(status), "TracerPid:\t0\n")
}

func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// note appends a line to a file.
func (r *recorder) note(file, line string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
