// Package pgserver runs a PostgreSQL server of a test's own, which can be killed and started again.
// Nothing of a PostgreSQL that runs on the machine already is touched.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// Server is a PostgreSQL server on loopback. It writes as every server does, with fsync.
type Server struct {
	bin, dir string
	port     int
	who      *syscall.Credential // it refuses to run as root; nil: as whoever runs the test
	cmd      *exec.Cmd           // of the last start
	ended    chan struct{}
}

// patience is for anything that must happen at all.
const patience = time.Minute

// settings of the server. What makes it durable is left at the defaults, and said.
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 150
shared_buffers = '64MB'
fsync = on
synchronous_commit = on
full_page_writes = on
`

// Installed returns the folder of the newest PostgreSQL on the machine, "" if there is none.
func Installed() string {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is good
	slices.SortFunc(all, func(a, b string) int { return version(a) - version(b) })
	if len(all) > 0 {
		return filepath.Dir(all[len(all)-1])
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // what is no number is old
	return n
}

// New makes a server in a folder of its own, and starts it.
func New(ctx context.Context) (*Server, error) {
	s := &Server{bin: Installed()}
	if s.bin == "" {
		return nil, errors.New("there is no PostgreSQL on this machine: install it, or leave --storage out")
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "keystile-crash-postgres-"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		err = s.giveAway()
	}
	if err == nil {
		s.port, err = freePort()
	}
	if err == nil {
		err = s.init(ctx)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// giveAway gives the folder to the user whom the package of PostgreSQL has made.
func (s *Server) giveAway() error {
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root, and there is no user for it: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, int(uid), int(gid))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who, Setpgid: true} // an interrupt is for the test alone
	return cmd
}

func (s *Server) init(ctx context.Context) error {
	out, err := s.command(ctx, "initdb", "-D", s.data(), "-U", "keystile", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%sport = %d\n", settings, s.port)
	return errors.Join(err, f.Close())
}

// URL is the address of the server's database.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://keystile@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Start starts the server, and waits until it has recovered and answers.
func (s *Server) Start(ctx context.Context) error {
	log, err := os.OpenFile(s.Log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd, s.ended = s.command(context.Background(), "postgres", "-D", s.data()), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, ended chan struct{}) { defer close(ended); cmd.Wait() }(s.cmd, s.ended)
	return s.Await(ctx)
}

// Log is the path of what the server says.
func (s *Server) Log() string { return filepath.Join(s.dir, "log") }

// Await waits until the server answers.
func (s *Server) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := database.Open(ctx, s.URL())
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-s.ended:
			said, _ := os.ReadFile(s.Log()) // what cannot be read is not shown
			return fmt.Errorf("PostgreSQL ends: %v\n%s", s.cmd.ProcessState, said[max(0, len(said)-4000):])
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Settle waits until no statement runs that began before a time. The database carries on with one
// whose client is gone.
func (s *Server) Settle(ctx context.Context, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := database.Open(ctx, s.URL())
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	for open := 1; open > 0; time.Sleep(5 * time.Millisecond) {
		err := c.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND xact_start < $1`, before).Scan(&open)
		if err != nil {
			return fmt.Errorf("look for statements whose client is gone: %w", err)
		}
	}
	return nil
}

// Kill sends SIGKILL to the postmaster and to every process that it has begun, and waits until the
// last of them is gone: PostgreSQL does not start while one is there.
func (s *Server) Kill() error {
	s.cmd.Process.Signal(syscall.SIGSTOP) // it begins no more of them; one that has ended has none
	children := s.children()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	for _, pid := range children {
		syscall.Kill(pid, syscall.SIGKILL) // one that is gone already does not matter
	}
	return gone(children)
}

// KillOne sends SIGKILL to one process that serves a connection, if there is one; pick chooses among
// n. The postmaster then ends all others and recovers by itself, and KillOne waits for that.
func (s *Server) KillOne(ctx context.Context, pick func(n int) int) error {
	children := s.children()
	var serving []int
	for _, pid := range children {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte("127.0.0.1(")) {
			serving = append(serving, pid)
		}
	}
	if len(serving) == 0 || syscall.Kill(serving[pick(len(serving))], syscall.SIGKILL) != nil {
		return nil
	}
	return errors.Join(gone(children), s.Await(ctx))
}

// Close ends the server and removes its folder.
func (s *Server) Close() error {
	return errors.Join(s.Kill(), os.RemoveAll(s.dir))
}
