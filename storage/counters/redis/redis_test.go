package redis

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

// server returns the address of the server of the tests, which they own.
func server(t testing.TB) string {
	t.Helper()
	u := os.Getenv("KEYSTILE_TEST_REDIS_URL")
	if u == "" {
		t.Skip(`KEYSTILE_TEST_REDIS_URL is not set: eval "$(.ci/redis start DIR)"`)
	}
	return u
}

// plainly asks a server by a connection of the test's own.
type plainly struct {
	t testing.TB
	c *resp.Conn
}

// raw connects to the server of the tests.
func raw(t testing.TB) plainly {
	t.Helper()
	return rawAt(t, server(t))
}

func rawAt(t testing.TB, address string) plainly {
	t.Helper()
	target, err := resp.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := resp.Dial(ctx, target, target.Addresses[0], time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return plainly{t, c}
}

// do returns what the server answers, which must not be an error.
func (p plainly) do(words ...string) resp.Value {
	p.t.Helper()
	v, err := p.c.Do(soon(), words...)
	if err != nil {
		p.t.Fatal(words, err)
	}
	return v
}

func soon() time.Time { return time.Now().Add(time.Minute) }

func (p plainly) text(words ...string) string { return p.do(words...).Text }
func (p plainly) number(words ...string) int  { return int(p.do(words...).Int) }

// watch is a clock that a test sets.
type watch struct {
	mu sync.Mutex
	at time.Time
}

func newWatch() *watch { return &watch{at: time.Now().Truncate(time.Hour)} }

func (w *watch) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *watch) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// open opens Counters with a prefix that no other test has.
func open(t testing.TB, o Options) *Counters {
	t.Helper()
	return openAt(t, server(t), o)
}

func openAt(t testing.TB, address string, o Options) *Counters {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = "test" + strings.ToLower(rand.Text()[:12])
	}
	if o.Log == nil {
		o.Log = quiet()
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Second // the machine of a test may be busy
	}
	c, err := Open(context.Background(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var ctx = context.Background()

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func v4(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }

func (c *Counters) wantConnected(t testing.TB) {
	t.Helper()
	if s := c.Stats(); !s.Connected || s.Alone > 0 || s.Refused > 0 || s.Failed > 0 || s.Late > 0 {
		t.Fatalf("%+v, want every act answered by the server", s)
	}
}
