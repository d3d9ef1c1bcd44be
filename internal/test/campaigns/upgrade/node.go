package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// node is a binary on a store.
type node struct {
	binary  string
	data    string   // the folder
	storage string   // the address of its storage; "": the folder
	env     []string // such as a clock that is bent
}

// run runs a command on the store to its end, and reads what it prints as JSON.
func (n node) run(ctx context.Context, into any, args ...string) error {
	args = append(args, "--data", n.data)
	if n.storage != "" {
		args = append(args, "--storage-url", n.storage)
	}
	return n.tell(ctx, into, args...)
}

// tell runs a command that is told by its arguments alone where the store is.
func (n node) tell(ctx context.Context, into any, args ...string) error {
	args = append(args, "--json")
	cmd := exec.CommandContext(ctx, n.binary, args...)
	cmd.Env = append(os.Environ(), n.env...)
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s%s", err, out, failed.Stderr)
		}
		return fmt.Errorf("keystile %s %s: %w", args[0], args[1], err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}

// serve starts the binary, has something done, and stops it as an operator does.
func (n node) serve(ctx context.Context, work func(c *serving.Client) error) error {
	args := serving.Args(n.data, "--gateway-products", "ai", "--signup", "invitation")
	if n.storage != "" {
		args = append(args, "--storage-url", n.storage)
	}
	cmd := exec.CommandContext(ctx, n.binary, args...)
	cmd.Env = append(os.Environ(), n.env...)
	s, err := serving.Start(cmd)
	if err != nil {
		return err
	}
	defer s.Kill()
	c, err := serving.NewClient(s.Address, n.data)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := work(c); err != nil {
		return fmt.Errorf("%w\n%s", err, s.Log)
	}
	if err := s.End(syscall.SIGTERM); err != nil {
		return err
	}
	if !s.State().Success() {
		return fmt.Errorf("it ends by %v\n%s", s.State(), s.Log)
	}
	if said := s.Log.String(); said != "" {
		fmt.Println(said)
	}
	return os.RemoveAll(filepath.Join(n.data, "admin.sock"))
}

// eventually tries until something is true.
func eventually(try func() error) (err error) {
	for end := time.Now().Add(serving.Patience / 2); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
