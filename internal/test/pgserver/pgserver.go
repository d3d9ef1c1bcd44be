// Package pgserver runs a PostgreSQL server of a test's own, which can be killed and started again.
// Nothing of a PostgreSQL that runs on the machine already is touched.
package pgserver

import (
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

// Server is a PostgreSQL server of a test. It writes as every server does, with fsync.
type Server struct {
	place    Place
	bin, dir string
	who      *syscall.Credential // it refuses to run as root; nil: as whoever runs the test
	cmd      *exec.Cmd           // of the last start
	ended    chan struct{}
}

// Place says where a server is. The zero value is a free port on loopback.
type Place struct {
	Host     string
	Port     int
	Inside   func(start func() error) error // runs what starts a process, for example in a network namespace
	Settings []string                       // name=value
}

// patience is for anything that must happen at all.
const patience = time.Minute

// settings of the server. Those for durability are left at the defaults, and stated.
const settings = `
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
	s, err := Make(Place{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Init(ctx), s.Start(ctx)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// Make makes the folder of a server, which has no data and does not run.
func Make(p Place) (*Server, error) {
	s := &Server{bin: Installed(), place: p}
	if s.bin == "" {
		return nil, errors.New("there is no PostgreSQL on this machine: install it, or leave --storage out")
	}
	if p.Host == "" {
		s.place.Host = "127.0.0.1"
	}
	if p.Inside == nil {
		s.place.Inside = func(start func() error) error { return start() }
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "keystile-postgres-"); err != nil {
		return nil, err
	}
	if s.who, err = User(); err == nil && s.who != nil {
		err = os.Chown(s.dir, int(s.who.Uid), int(s.who.Gid))
	}
	if err == nil && p.Port == 0 {
		s.place.Port, err = freePort()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// User is the user whom the package of PostgreSQL has made, if the test runs as root; else nil.
func User() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user for it: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
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

// Init makes an empty cluster of databases.
func (s *Server) Init(ctx context.Context) error {
	out, err := s.command(ctx, "initdb", "-D", s.data(), "-U", "keystile", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", "--data-checksums").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return errors.Join(s.append("postgresql.conf", settings), s.append("pg_hba.conf", letIn))
}

// letIn lets everybody in who reaches the address that the server listens on.
const letIn = "host all all all trust\nhost replication all all trust\n"

func (s *Server) append(file, text string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), file), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// URL is the address of the server's database.
func (s *Server) URL() string {
	return "postgres://keystile@" + s.Address() + "/postgres?sslmode=disable"
}

// Address is host:port.
func (s *Server) Address() string { return net.JoinHostPort(s.place.Host, strconv.Itoa(s.place.Port)) }

// Conninfo is the address as Follow wants it.
func (s *Server) Conninfo() string { return fmt.Sprintf("host=%s port=%d", s.place.Host, s.place.Port) }

// Start starts the server, and waits until it has recovered and answers.
func (s *Server) Start(ctx context.Context) error {
	log, err := os.OpenFile(s.Log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-c", "listen_addresses=" + s.place.Host, "-c", fmt.Sprintf("port=%d", s.place.Port)}
	for _, setting := range s.place.Settings {
		args = append(args, "-c", setting)
	}
	s.cmd, s.ended = s.command(context.Background(), "postgres", args...), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.place.Inside(s.cmd.Start); err != nil {
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
