package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// server is a keystile in a process of its own.
type server struct {
	cmd     *exec.Cmd
	address string
	log     *head
	ended   chan struct{}
}

// origin is what the server calls itself, whatever port it has this time: tokens must
// outlive a restart. Nobody connects to it.
const origin = "http://127.0.0.1:9"

// patience is how long a server may take to start.
const patience = 15 * time.Second

func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "keystile")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/keystile/keystile/cmd/keystile")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// launch starts the program and waits for nothing.
func launch(binary, data string) (*server, io.ReadCloser, error) {
	cmd := exec.Command(binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", origin, "--log-level", "warn", "--limits-per-ip", "1000000000",
		"--lifetimes-code", "24h", "--reuse-leeway-code", "24h", "--reuse-leeway-refresh", "24h")
	s := &server{cmd: cmd, log: &head{}, ended: make(chan struct{})}
	cmd.Stderr = s.log
	says, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout = speaks
	if err := errors.Join(cmd.Start(), speaks.Close()); err != nil {
		return nil, nil, errors.Join(err, says.Close())
	}
	go func() { defer close(s.ended); cmd.Wait() }()
	return s, says, nil
}

// start returns a server that listens.
func start(binary, data string) (*server, error) {
	s, says, err := launch(binary, data)
	if err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer says.Close()
		lines := bufio.NewScanner(says)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
				found <- strings.TrimSpace(address)
			}
		}
	}()
	select {
	case s.address = <-found:
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("the server does not start: %v\n%s", s.cmd.ProcessState, s.log)
	case <-time.After(patience):
		s.kill()
		return nil, fmt.Errorf("the server has not started after %v\n%s", patience, s.log)
	}
}

// kill is SIGKILL: nothing in the process runs afterwards.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
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
