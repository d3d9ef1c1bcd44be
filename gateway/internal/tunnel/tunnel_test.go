package tunnel

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// end is a connection that can be closed by halves; its peer is another.
type end struct {
	net.Conn
	out  *io.PipeWriter
	in   *io.PipeReader
	shut atomic.Int32
}

func (e *end) Read(p []byte) (int, error)  { return e.in.Read(p) }
func (e *end) Write(p []byte) (int, error) { return e.out.Write(p) }
func (e *end) CloseWrite() error           { return e.out.Close() }
func (e *end) Close() error {
	e.shut.Add(1)
	e.in.CloseWithError(net.ErrClosed)
	return e.out.Close()
}

func ends() (near, far *end) {
	a, b := io.Pipe()
	c, d := io.Pipe()
	return &end{in: a, out: d}, &end{in: c, out: b}
}

// carry copies as httputil.ReverseProxy does, and reports how it ended.
func carry(client, upstream io.ReadWriteCloser) <-chan error {
	over := make(chan error, 2)
	half := func(to, from io.ReadWriteCloser) {
		_, err := io.Copy(to, from)
		if err == nil {
			err = to.(interface{ CloseWrite() error }).CloseWrite()
		}
		over <- err
	}
	go half(client, upstream)
	go half(upstream, client)
	return over
}

const linger = 5 * time.Second

func TestOpenSideMayAnswerForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tunnel := New(linger)
		near, browser := ends()
		service, inner := ends()
		over := carry(tunnel.Client(near, bufio.NewReader(strings.NewReader(""))), tunnel.Upstream(inner))
		go io.WriteString(service, "last")
		go func() { time.Sleep(time.Millisecond); service.CloseWrite() }()
		if text, err := io.ReadAll(browser); string(text) != "last" || err != nil {
			t.Errorf("the client read %q, %v", text, err)
		}
		time.Sleep(linger - time.Second)
		go io.WriteString(browser, "farewell")
		text := make([]byte, 8)
		if _, err := io.ReadFull(service, text); err != nil || string(text) != "farewell" {
			t.Errorf("the service read %q, %v", text, err)
		}
		if synctest.Wait(); near.shut.Load()+inner.shut.Load() != 0 {
			t.Error("it is closed while one side may still answer")
		}
		time.Sleep(time.Second)
		if synctest.Wait(); near.shut.Load() != 1 || inner.shut.Load() != 1 {
			t.Errorf("closed %d and %d times, want once each: its while is over", near.shut.Load(), inner.shut.Load())
		}
		<-over
		<-over
		if tunnel.Sent() != 4 {
			t.Errorf("sent %d, want 4", tunnel.Sent())
		}
	})
}

func TestTunnelReadsEarlyBytesFirst(t *testing.T) {
	tunnel := New(linger)
	near, browser := ends()
	early := bufio.NewReader(strings.NewReader("early "))
	early.Peek(6)
	c := tunnel.Client(near, early)
	go func() { io.WriteString(browser, "late"); browser.CloseWrite() }()
	if text, err := io.ReadAll(c); string(text) != "early late" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	tunnel.Close()
}

func TestClosingAnEndClosesBothAndWhatComesLater(t *testing.T) {
	for name, shut := range map[string]func(c, u io.Closer) error{
		"the client's":  func(c, _ io.Closer) error { return c.Close() },
		"the service's": func(_, u io.Closer) error { return u.Close() },
	} {
		tunnel := New(linger)
		near, _ := ends()
		inner, _ := ends()
		late, _ := ends()
		c, u := tunnel.Client(near, bufio.NewReader(nil)), tunnel.Upstream(inner)
		shut(c, u)
		tunnel.Upstream(late)
		if near.shut.Load() != 1 || inner.shut.Load() != 1 || late.shut.Load() != 1 {
			t.Errorf("%s end: closed %d, %d and %d times, want once each", name, near.shut.Load(), inner.shut.Load(),
				late.shut.Load())
		}
	}
}

// A connection that cannot be closed by halves ends both at once.
func TestEndWithoutHalfCloseReportsIt(t *testing.T) {
	tunnel := New(linger)
	near, _ := net.Pipe()
	if err := tunnel.Client(near, bufio.NewReader(nil)).(*client).CloseWrite(); !errors.Is(err, errWhole) {
		t.Errorf("CloseWrite() = %v", err)
	}
	tunnel.Close()
}
