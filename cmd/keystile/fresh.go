package main

import (
	"net"
	"net/http"
	"sync"
)

// fresh knows the connections that no byte has come over yet. Browsers open some in
// advance, and Shutdown would wait five seconds for them.
type fresh struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// watch makes a server's shutdown close what is fresh.
func watch(s *http.Server) *http.Server {
	f := fresh{conns: map[net.Conn]bool{}}
	s.ConnState = f.note
	s.RegisterOnShutdown(f.close)
	return s
}

func (f *fresh) note(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.conns, c); state == http.StateNew {
		f.conns[c] = true
	}
}

func (f *fresh) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.Close()
	}
}
