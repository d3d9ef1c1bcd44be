package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// upstream is the service behind the gateway and the tools. It can be away, and it can be slow.
type upstream struct {
	address string
	server  *http.Server
	away    atomic.Bool
	delay   atomic.Int64 // a time.Duration
}

// pieces are sent by a stream, one after the other.
const pieces = 6

func newUpstream() (*upstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{address: l.Addr().String()}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: time.Minute, IdleTimeout: 5 * time.Second}
	go u.server.Serve(l)
	return u, nil
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if u.away.Load() {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	wait(r.Context(), time.Duration(u.delay.Load()))
	switch {
	case strings.HasSuffix(r.URL.Path, "/stream"):
		for range pieces {
			fmt.Fprintln(w, "a piece")
			http.NewResponseController(w).Flush()
			wait(r.Context(), slowly/pieces)
		}
		return
	case strings.HasSuffix(r.URL.Path, "/slow"):
		wait(r.Context(), slowly)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"asked":%q}`, r.URL.Path)
}

func (u *upstream) close() { u.server.Close() }

// mailServer takes mails, and counts them by their addressees. It can be away.
type mailServer struct {
	listener net.Listener
	away     atomic.Bool

	mu  sync.Mutex
	got map[string]int
}

func newMailServer() (*mailServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mailServer{listener: l, got: map[string]int{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m, nil
}

func (m *mailServer) port() string {
	_, port, _ := net.SplitHostPort(m.listener.Addr().String()) // a listener has one
	return port
}

// serve speaks as much SMTP as a mail takes (RFC 5321).
func (m *mailServer) serve(c net.Conn) {
	defer c.Close()
	if m.away.Load() {
		return
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	lines := bufio.NewScanner(c)
	to := ""
	say := func(text string) { fmt.Fprint(c, text+"\r\n") }
	for say("220 soak"); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), ":")
		switch verb = strings.ToUpper(verb); {
		case strings.HasPrefix(verb, "RCPT"):
			to = strings.Trim(strings.TrimSpace(rest), "<>")
			say("250 ok")
		case strings.HasPrefix(verb, "DATA"):
			for say("354 go on"); lines.Scan() && lines.Text() != "."; {
			}
			m.mu.Lock()
			m.got[to]++
			m.mu.Unlock()
			say("250 taken")
		case strings.HasPrefix(verb, "QUIT"):
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// has reports whether a mail to somebody has come.
func (m *mailServer) has(to string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.got[to] > 0
}

func (m *mailServer) close() { m.listener.Close() }

// counter is the Redis in which all nodes count. It keeps nothing, so a restart empties it.
type counter struct {
	dir, address string
	cmd          *exec.Cmd
	ended        chan struct{}
}

// newCounter starts a Redis; there is none, and no error, where none is installed.
func newCounter(dir string) (*counter, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &counter{dir: filepath.Join(dir, "redis"), address: address}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, err
	}
	if err := c.start(); errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *counter) start() error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if program, err = exec.LookPath("valkey-server"); err != nil {
			return err
		}
	}
	host, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return err
	}
	c.cmd, c.ended = exec.Command(program, "--bind", host, "--port", port, "--dir", c.dir, "--save", "", "--appendonly",
		"no"), make(chan struct{})
	if err := c.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, ended chan struct{}) { defer close(ended); cmd.Wait() }(c.cmd, c.ended)
	return nil
}

func (c *counter) close() {
	c.cmd.Process.Kill()
	<-c.ended
}
