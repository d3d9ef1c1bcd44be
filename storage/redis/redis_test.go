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

	"github.com/redis/rueidis"
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

// raw is a client of the server that is not under test.
func raw(t testing.TB) rueidis.Client {
	t.Helper()
	o, err := rueidis.ParseURL(server(t))
	if err != nil {
		t.Fatal(err)
	}
	o.DisableCache = true
	c, err := rueidis.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

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
	t.Cleanup(c.Close)
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
