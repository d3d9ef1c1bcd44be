package command

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// lastCall is a listener that ends without a connection being lost that was made already: the system
// resets those that nobody has accepted when it is closed, and a balancer may have written a request to
// one, which it does not send again if it is a POST.
type lastCall struct {
	*net.TCPListener
	ending atomic.Bool
	ended  chan struct{} // closed when it is
	late   []net.Conn    // accepted in the last moment; used by Accept alone
	over   bool
}

// endingWell returns a listener with a last call; nil if it is not one of TCP.
func endingWell(l net.Listener) *lastCall {
	tcp, is := l.(*net.TCPListener)
	if !is {
		return nil
	}
	return &lastCall{TCPListener: tcp, ended: make(chan struct{})}
}

// Accept returns the next connection, and http.ErrServerClosed when there is none and finish was called.
// It is called by one goroutine, as http.Server does.
func (l *lastCall) Accept() (net.Conn, error) {
	if !l.over {
		c, err := l.TCPListener.Accept()
		if err == nil || !l.ending.Load() {
			return c, err
		}
		l.late, l.over = acceptAndClose(l.TCPListener), true
	}
	if len(l.late) == 0 {
		l.Close()
		close(l.ended)
		return nil, http.ErrServerClosed
	}
	c := l.late[0]
	l.late = l.late[1:]
	return c, nil
}

// finish closes the listener. It returns when all that came before that is accepted.
func (l *lastCall) finish() {
	l.ending.Store(true)
	l.SetDeadline(time.Now())
	select {
	case <-l.ended:
	case <-time.After(time.Second): // no server accepts from it
	}
}
