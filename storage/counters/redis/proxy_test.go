package redis

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy stands between Counters and the server, and breaks what a test says.
type proxy struct {
	t        testing.TB
	to, addr string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	drop     bool          // answers are lost
	lost     []byte        // those
	more     *sync.Cond    // lost has grown
	gate     chan struct{} // nil: open; else nothing passes until it is closed
	spoil    *spoiler      // nil: answers pass as they are
}

func newProxy(t testing.TB) *proxy {
	t.Helper()
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, to: u.Host, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	p.more = sync.NewCond(&p.mu)
	p.listen()
	t.Cleanup(func() { p.heal(); p.cut() })
	return p
}

func (p *proxy) url() string { return "redis://" + p.addr }

func (p *proxy) listen() {
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.listener, p.addr = l, l.Addr().String()
	p.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
}

func (p *proxy) serve(c net.Conn) {
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		c.Close()
		return
	}
	p.mu.Lock()
	p.conns[c], p.conns[s] = true, true
	p.mu.Unlock()
	go p.copy(s, c, false)
	p.copy(c, s, true)
}

func (p *proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		gate, drop, spoil := p.gate, p.drop, p.spoil
		p.mu.Unlock()
		if gate != nil {
			<-gate
		}
		if drop && answers {
			p.mu.Lock()
			p.lost = append(p.lost, buf[:n]...)
			p.mu.Unlock()
			p.more.Broadcast()
			continue
		}
		pass, cut := buf[:n], false
		if spoil != nil && answers {
			pass, cut = spoil.pass(pass)
		}
		if _, err := to.Write(pass); err != nil || cut {
			return
		}
	}
}

// cut closes what is open and lets nobody in.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener.Close()
	for c := range p.conns {
		c.Close()
	}
	p.conns = map[net.Conn]bool{}
}

// lose has answers lost.
func (p *proxy) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = true
}

// waitLost waits until the server has sent an answer that is lost.
func (p *proxy) waitLost(answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !bytes.Contains(p.lost, []byte(answer)) {
		p.more.Wait()
	}
}

// hang has nothing pass.
func (p *proxy) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

// inject has answers spoilt on their way.
func (p *proxy) inject(s *spoiler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spoil = s
}

// heal has everything pass again.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate != nil {
		close(p.gate)
	}
	p.gate, p.drop, p.spoil = nil, false, nil
}

// lines is a log that a test waits for.
type lines struct {
	ch  chan string
	mu  sync.Mutex
	all []string
}

func newLines() *lines { return &lines{ch: make(chan string, 1000)} }

func (l *lines) log() *slog.Logger                        { return slog.New(l) }
func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	l.all = append(l.all, r.Message)
	l.mu.Unlock()
	l.ch <- r.Message
	return nil
}

// wait waits for a line with a text.
func (l *lines) wait(t testing.TB, text string) {
	t.Helper()
	end := time.After(30 * time.Second)
	for {
		select {
		case line := <-l.ch:
			if strings.Contains(line, text) {
				return
			}
		case <-end:
			t.Fatalf("no line with %q in %q", text, l.list())
		}
	}
}

func (l *lines) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.all...)
}
