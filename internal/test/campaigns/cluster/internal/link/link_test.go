package link

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that sends back what it is sent, behind its name.
func echo(t *testing.T, name string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.WriteString(c, name)
				io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func open(t *testing.T, to string) *Link {
	t.Helper()
	l, err := New("127.0.0.1:0", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func dial(t *testing.T, l *Link) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hears reads one byte.
func hears(c net.Conn) (string, error) {
	one := make([]byte, 1)
	_, err := io.ReadFull(c, one)
	return string(one), err
}

func TestCutLinkEndsConnectionsAndTakesNone(t *testing.T) {
	l := open(t, echo(t, "a"))
	c := dial(t, l)
	if is, err := hears(c); is != "a" {
		t.Fatalf("it says %q, %v", is, err)
	}
	l.Set(Cut, 0)
	if _, err := hears(c); err == nil {
		t.Error("a connection lives on")
	}
	if _, err := hears(dial(t, l)); err == nil {
		t.Error("another one works")
	}
	l.Set(Open, 0)
	if is, err := hears(dial(t, l)); is != "a" {
		t.Errorf("mended, it says %q, %v", is, err)
	}
}

func TestSilentLinkDeliversWhenItIsOpenAgain(t *testing.T) {
	l := open(t, echo(t, "a"))
	c := dial(t, l)
	hears(c)
	l.Set(Silent, 0)
	io.WriteString(c, "x")
	c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := hears(c); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a silent link answers: %v", err)
	}
	c.SetReadDeadline(time.Time{})
	l.Set(Open, 0)
	if is, err := hears(c); is != "x" {
		t.Errorf("open again, it says %q, %v", is, err)
	}
}

func TestLinkThatLeadsElsewhereEndsWhatLedToTheOldPlace(t *testing.T) {
	l := open(t, echo(t, "a"))
	c := dial(t, l)
	hears(c)
	l.Lead(echo(t, "b"))
	if _, err := hears(c); err == nil {
		t.Error("a connection to the old place lives on")
	}
	if is, err := hears(dial(t, l)); is != "b" {
		t.Errorf("it leads to %q, %v", is, err)
	}
}
