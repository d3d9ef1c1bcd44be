// Package link is a way from one program to another that a test can cut, silence, slow down and lead
// somewhere else.
package link

import (
	"net"
	"sync"
	"time"
)

// State says what becomes of what is sent over a Link.
type State int

// States.
const (
	Open   State = iota
	Cut          // connections are closed, and new ones too
	Silent       // nothing arrives, and nobody is told: it waits
	Slow         // everything arrives later
)

// Link passes on what it is sent.
type Link struct {
	listener net.Listener

	mu      sync.Mutex
	to      string
	state   State
	delay   time.Duration
	changed chan struct{} // closed with the next change
	open    map[net.Conn]bool
}

// New makes a link that listens at an address, of which port 0 is any.
func New(at, to string) (*Link, error) {
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, to: to, changed: make(chan struct{}), open: map[net.Conn]bool{}}
	go l.accept()
	return l, nil
}

// Address returns where the link begins.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Close ends the link and its connections.
func (l *Link) Close() error {
	err := l.listener.Close()
	l.Set(Cut, 0)
	return err
}

// Set changes the state; the delay is that of each piece on a slow link.
func (l *Link) Set(s State, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.delay = s, delay
	close(l.changed)
	l.changed = make(chan struct{})
	if s == Cut {
		l.drop()
	}
}

// Lead has the link lead elsewhere. Connections to the old place are closed.
func (l *Link) Lead(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != to {
		l.to = to
		l.drop()
	}
}

// drop closes all connections; the lock is held.
func (l *Link) drop() {
	for c := range l.open {
		if t, is := c.(*net.TCPConn); is {
			t.SetLinger(0)
		}
		c.Close()
	}
	clear(l.open)
}

func (l *Link) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.serve(c)
	}
}

// keep notes a connection, unless the link is cut, or leads elsewhere by now than the connection does.
func (l *Link) keep(c net.Conn, where string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == Cut || l.to != where {
		return false
	}
	l.open[c] = true
	return true
}

func (l *Link) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

func (l *Link) serve(from net.Conn) {
	defer from.Close()
	l.mu.Lock()
	where := l.to
	l.mu.Unlock()
	if !l.keep(from, where) || !l.pass() {
		return
	}
	defer l.forget(from)
	to, err := net.DialTimeout("tcp", where, 5*time.Second)
	if err != nil {
		return
	}
	defer to.Close()
	if !l.keep(to, where) {
		return
	}
	defer l.forget(to)
	var both sync.WaitGroup
	both.Go(func() { l.copy(to, from) })
	both.Go(func() { l.copy(from, to) })
	both.Wait()
}

func (l *Link) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !l.pass() {
				break
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			if t, is := to.(*net.TCPConn); is && l.pass() {
				t.CloseWrite()
			}
			return
		}
	}
	to.Close()
	from.Close()
}

// pass waits until something may arrive; false: it never does.
func (l *Link) pass() bool {
	for {
		l.mu.Lock()
		state, delay, changed := l.state, l.delay, l.changed
		l.mu.Unlock()
		switch state {
		case Open:
			return true
		case Cut:
			return false
		case Slow:
			time.Sleep(delay)
			return true
		}
		<-changed
	}
}
