package command

import (
	"net"
	"net/http"
	"sync"
)

// fresh knows the connections that no byte has come over yet. Browsers open some in
// advance, and Shutdown would wait five seconds for them.
type fresh struct{ conns sync.Map } // net.Conn: struct{}

// watch makes a server's shutdown close what is fresh.
func watch(s *http.Server) *http.Server {
	f := new(fresh)
	s.ConnState = f.note
	s.RegisterOnShutdown(f.close)
	return s
}

// note runs twice for every request, so what it does to a connection in use must be cheap.
func (f *fresh) note(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		f.conns.Store(c, struct{}{})
	case http.StateActive, http.StateClosed, http.StateHijacked:
		f.conns.Delete(c)
	}
}

func (f *fresh) close() {
	for c := range f.conns.Range {
		c.(net.Conn).Close()
	}
}
