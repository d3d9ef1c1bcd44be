//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a measured server in a process of its own.
type process struct {
	cmd     *exec.Cmd
	address string
	ended   chan struct{}
	behind  []*process // what it hands work on to
}

const patience = 30 * time.Second

// spawn starts a program and waits for its line that says where it listens.
func spawn(message string, env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	var log bytes.Buffer
	p.cmd.Stderr = &log
	out, in, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = in
	if err := errors.Join(p.cmd.Start(), in.Close()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	go func() { defer close(p.ended); p.cmd.Wait() }()
	found := make(chan string, 1)
	go func() {
		defer out.Close()
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), message); ok && len(found) == 0 {
				found <- strings.TrimSpace(address)
			}
		}
	}()
	select {
	case p.address = <-found:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("%s: %v\n%s", program, p.cmd.ProcessState, log.String())
	case <-time.After(patience):
		p.stop()
		return nil, fmt.Errorf("%s does not start", program)
	}
}

// stop ends the process, gently if it listens.
func (p *process) stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// cpu is the processor time that the process and its children have taken, of their own and in the
// kernel.
func (p *process) cpu() (time.Duration, error) {
	pid := p.cmd.Process.Pid
	sum, err := cpuOf(strconv.Itoa(pid))
	children, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		more, err := cpuOf(child)
		if err != nil {
			return 0, err
		}
		sum += more
	}
	return sum, errors.Join(err, err1)
}

func cpuOf(pid string) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat says %q", text)
	}
	own, err1 := strconv.Atoi(fields[11])
	kernel, err2 := strconv.Atoi(fields[12])
	return time.Duration(own+kernel) * (time.Second / ticks), errors.Join(err1, err2)
}

// ticks is USER_HZ, which is 100 on every Linux that Go runs on.
const ticks = 100

// memory is the resident set in megabytes, and the part of it that no file backs.
func (p *process) memory() (resident, anonymous float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	resident, err1 := megabytes(text, "VmRSS:")
	anonymous, err2 := megabytes(text, "RssAnon:")
	return resident, anonymous, errors.Join(err1, err2)
}

// megabytes reads a line of /proc/PID/status.
func megabytes(status []byte, name string) (float64, error) {
	_, rest, _ := strings.Cut(string(status), name)
	var kib float64
	_, err := fmt.Sscanf(rest, "%f kB", &kib)
	return kib * 1024 / 1e6, err
}
