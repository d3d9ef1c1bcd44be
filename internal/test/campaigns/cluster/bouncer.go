package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/netns"
	"github.com/keystile/keystile/internal/test/serving"
)

// bouncer is a PgBouncer in transaction mode. It leads to the primary, and is told of a new one as
// operators tell it: by its file and SIGHUP.
type bouncer struct {
	process
	site *site
	dir  string
	host string
	port int
}

func newBouncer(s *site) (*bouncer, error) {
	b := &bouncer{site: s, dir: filepath.Join(s.dir, "pgbouncer")}
	var err error
	if b.space, b.host, err = s.space(); err != nil {
		return b, err
	}
	if b.port, err = port(b.space, b.host); err != nil {
		return b, err
	}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return b, err
	}
	if err := errors.Join(b.lead(), os.WriteFile(filepath.Join(b.dir, "users"), nil, 0o644)); err != nil {
		return b, err
	}
	return b, b.start()
}

func (b *bouncer) address() string { return net.JoinHostPort(b.host, strconv.Itoa(b.port)) }

// lead writes the file that names the primary, and has a running PgBouncer read it.
func (b *bouncer) lead() error {
	host, port, _ := net.SplitHostPort(b.site.pair.now().Address()) // it is one of ours
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=keystile
[pgbouncer]
listen_addr = %s
listen_port = %d
unix_socket_dir =
auth_type = any
auth_file = %s
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 40
server_login_retry = 0.2
server_connect_timeout = 3
query_wait_timeout = 10
`, host, port, b.host, b.port, filepath.Join(b.dir, "users"))
	if err := os.WriteFile(filepath.Join(b.dir, "ini"), []byte(text), 0o644); err != nil {
		return err
	}
	if b.cmd == nil {
		return nil
	}
	return b.cmd.Process.Signal(syscall.SIGHUP)
}

func (b *bouncer) start() error {
	cmd := exec.Command("pgbouncer", filepath.Join(b.dir, "ini"))
	if err := asNobody(cmd); err != nil {
		return err
	}
	return b.run(cmd, b.address())
}

// process is a program of the site that is no keystile and no PostgreSQL.
type process struct {
	space *netns.Space
	cmd   *exec.Cmd
	ended chan struct{}
	said  serving.Head
}

// run starts the program, and waits until it listens.
func (p *process) run(cmd *exec.Cmd, address string) error {
	p.cmd, p.ended = cmd, make(chan struct{})
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	if err := p.space.Do(cmd.Start); err != nil {
		return err
	}
	go func(ended chan struct{}) { defer close(ended); cmd.Wait() }(p.ended)
	for end := time.Now().Add(comeBack); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ends: %v\n%s", cmd.Path, cmd.ProcessState, &p.said)
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not listen: %w\n%s", cmd.Path, err, &p.said)
		}
	}
}

func (p *process) signal(signal syscall.Signal) error { return p.cmd.Process.Signal(signal) }

// close kills the program.
func (p *process) close() {
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Kill()
		<-p.ended
	}
}
