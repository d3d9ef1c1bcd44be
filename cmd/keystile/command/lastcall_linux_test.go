package command

import (
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// The system has made connections that nobody has accepted when the listener ends.
func TestConnectionsThatWaitAreAcceptedBeforeAListenerEnds(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	l := endingWell(at)
	const n = 20
	for range n {
		c, err := net.Dial("tcp", at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	finished := make(chan struct{})
	l.ending.Store(true)
	l.SetDeadline(time.Unix(1, 0)) // as finish does, before anything is accepted
	go func() { l.finish(); close(finished) }()
	for i := range n {
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		var one [1]byte
		if _, err := c.Read(one[:]); err != nil || one[0] != 'x' {
			t.Errorf("connection %d says %q, %v", i, one, err)
		}
		c.Close()
	}
	if _, err := l.Accept(); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("then it says %v", err)
	}
	<-finished
	if _, err := net.Dial("tcp", at.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("who comes later is told %v", err)
	}
}
