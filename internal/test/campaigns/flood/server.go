package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/serving"
)

// server is a keystile in a process of its own.
type server struct {
	*serving.Server
	address string // host:port
	admin   string // host:port of the admin listener
	log     *serving.Head
}

const (
	origin   = serving.Issuer // what the server calls itself
	patience = 30 * time.Second
)

func build(ctx context.Context, dir string) (string, error) { return overlay.Build(ctx, dir) }

// start returns a server that listens.
func start(o options, data string, more ...string) (*server, error) {
	args := append([]string{"serve", "--data", data, "--listen", "0.0.0.0:0", "--base-url", origin, "--log-level", "error",
		"--admin-listen", "127.0.0.1:0"}, more...)
	s, err := serving.Start(exec.Command(o.binary, args...))
	if err != nil {
		return nil, err
	}
	return &server{Server: s, address: "127.0.0.1" + s.Address[strings.LastIndexByte(s.Address, ':'):], admin: s.Admin,
		log: s.Log}, nil
}

func (s *server) kill() { s.Kill() }

// stop ends the server as an operator does.
func (s *server) stop() error {
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.Ended:
	case <-time.After(patience):
		s.kill()
		return fmt.Errorf("the server has not ended %v after SIGTERM", patience)
	}
	if code := s.State().ExitCode(); code != 0 {
		return fmt.Errorf("SIGTERM ends the server with %d\n%s", code, s.log)
	}
	return nil
}

// memory returns the bytes that the process holds, without what is only mapped from files, and what it has
// held at most together with that; in bytes.
func (s *server) memory() (own, most int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
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

// size returns the bytes that a data folder takes, and how many rows its audit trail has; nobody serves it.
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
