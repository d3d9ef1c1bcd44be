package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is a keystile in a process of its own.
type server struct {
	cmd     *exec.Cmd
	address string // host:port
	admin   string // host:port of the admin listener
	log     *head
	ended   chan struct{}
}

const (
	origin   = "http://127.0.0.1:9" // what the server calls itself; nobody connects to it
	patience = 30 * time.Second
)

func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "keystile")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/keystile/keystile/cmd/keystile")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// start returns a server that listens.
func start(o options, data string, more ...string) (*server, error) {
	args := append([]string{"serve", "--data", data, "--listen", "0.0.0.0:0", "--base-url", origin, "--log-level", "error", "--admin-listen", "127.0.0.1:0"}, more...)
	s := &server{cmd: exec.Command(o.binary, args...), log: &head{}, ended: make(chan struct{})}
	s.cmd.Stderr = s.log
	says, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout = speaks
	if err := errors.Join(s.cmd.Start(), speaks.Close()); err != nil {
		return nil, errors.Join(err, says.Close())
	}
	go func() { defer close(s.ended); s.cmd.Wait() }()
	found := make(chan [2]string, 1)
	go func() {
		defer says.Close()
		lines, public := bufio.NewScanner(says), ""
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
				public = strings.TrimSpace(address)
			}
			if _, address, ok := strings.Cut(lines.Text(), "Admin listener "); ok && len(found) == 0 {
				found <- [2]string{public, strings.TrimSpace(address)}
			}
		}
	}()
	select {
	case at := <-found:
		s.address, s.admin = "127.0.0.1"+at[0][strings.LastIndexByte(at[0], ':'):], strings.TrimPrefix(at[1], "http://")
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("the server does not start: %v\n%s", s.cmd.ProcessState, s.log)
	case <-time.After(patience):
		s.kill()
		return nil, fmt.Errorf("the server has not started after %v\n%s", patience, s.log)
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// stop ends the server as an operator does.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.kill()
		return fmt.Errorf("the server has not ended %v after SIGTERM", patience)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("SIGTERM ends the server with %d\n%s", code, s.log)
	}
	return nil
}

// memory is what the process holds, without what is only mapped from files, and what it has
// held at most together with that; in bytes.
func (s *server) memory() (own, most int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon":
			own = n << 10
		case "VmHWM":
			most = n << 10
		}
	}
	return own, most
}

// watchMemory looks every second until ctx ends, and returns the most that the process held.
func (s *server) watchMemory(ctx context.Context) (most int64) {
	for ctx.Err() == nil {
		own, _ := s.memory()
		most = max(most, own)
		pauseFor(ctx, time.Second)
	}
	return most
}

// size is what a data folder takes, and how many rows its audit trail has; nobody serves it.
func size(ctx context.Context, binary, data string) (bytes int64, rows int, err error) {
	err = filepath.WalkDir(data, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	out, err := exec.CommandContext(ctx, binary, "audit", "export", "--data", data).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("audit export: %w", err)
	}
	return bytes, strings.Count(string(out), "\n"), nil
}

// head keeps the beginning of what a program says.
type head struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len() < 16<<10 {
		h.text.Write(p)
	}
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
