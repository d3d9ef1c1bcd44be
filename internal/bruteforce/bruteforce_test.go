package bruteforce

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

var here = netip.MustParseAddr("192.0.2.1")

// guess makes n wrong guesses and says how many were looked at.
func guess(s *Failures, who Guesser, n int) (through int) {
	for range n {
		if s.RetryAfter(context.Background(), who) == "" {
			through++
			s.Count(context.Background(), who)
		}
	}
	return through
}

// Decision 19.
func TestAddressMayGuessThirtyTimesAtEachClientAndSixtyAtUnknownOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(nil, "")
		for _, c := range []struct {
			who  Guesser
			want int
		}{{By(here, "1000"), 30}, {By(here, "1001"), 30}, {By(netip.MustParseAddr("192.0.2.2"), "1000"), 30},
			{Unknown(here), 60}, {By(here, ""), 0}} {
			if n := guess(s, c.who, 100); n != c.want {
				t.Errorf("%+v may guess %d times, want %d", c.who, n, c.want)
			}
		}
		time.Sleep(20 * time.Second)
		if wait := s.RetryAfter(context.Background(), By(here, "1000")); wait != "40" {
			t.Errorf("RetryAfter = %q, want the 40 seconds until the first is a minute old", wait)
		}
		time.Sleep(40 * time.Second)
		if n := guess(s, By(here, "1000"), 100); n != 30 {
			t.Errorf("%d a minute later, want 30", n)
		}
	})
}

func TestUnknownClientsTakeNoPlaceOfKnownOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(nil, "")
		for i := range 100_100 { // more than one table holds
			guess(s, Unknown(flood(i)), 1)
		}
		for i := range 10 {
			if n := guess(s, By(here, fmt.Sprint(i)), 100); n != 30 {
				t.Fatalf("client %d: %d guesses, want 30", i, n)
			}
		}
	})
}

// flood is the i-th /64 of an attacker who owns a /44.
func flood(i int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a0d_beef_0000_0000+uint64(i))
	return netip.AddrFrom16(b)
}

func bot(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }

// server is the address of one of 200 honest applications, each in a network of its own.
func server(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{198, byte(i), 100, 7})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x02, 0x81, byte(i), 1, 2, 3, 4, 5})
}

// Decision 56: whoever fills the tables is stopped, and nobody else.
func TestMillionGuessersStopNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if testing.Short() {
			t.Skip("counts to a million")
		}
		s := New(nil, "")
		for i := range 1_000_000 {
			s.Count(context.Background(), Unknown(flood(i)))
			if i%5 == 0 {
				s.Count(context.Background(), By(flood(i), "1000"))
			}
		}
		for i := range 100_000 {
			s.Count(context.Background(), Unknown(bot(i)))
			s.Count(context.Background(), By(bot(i), "1000"))
		}
		for i := range 200 {
			for _, who := range []Guesser{By(server(i), "1000"), By(server(i), fmt.Sprint("app ", i)), Unknown(server(i))} {
				if n := guess(s, who, 30); n != 30 {
					t.Fatalf("%+v may guess %d times, want 30", who, n)
				}
			}
		}
		for _, who := range []Guesser{By(flood(900_002), "1000"), Unknown(flood(900_000)), By(bot(90_000), "1000"),
			Unknown(bot(90_000))} {
			if n := guess(s, who, 1000); n > 960 {
				t.Errorf("%+v, unknown among the flood, may guess %d times, want at most what its /24, /56 or /48 may", who, n)
			}
			if s.RetryAfter(context.Background(), who) == "" {
				t.Errorf("%+v is never stopped", who)
			}
		}
		time.Sleep(70 * time.Second)
		for _, who := range []Guesser{By(flood(900_002), "1000"), Unknown(bot(90_000))} {
			if n := guess(s, who, 100); n != who.limit() {
				t.Errorf("a minute later %+v may guess %d times, want %d", who, n, who.limit())
			}
		}
	})
}

func TestLongNameIsCutBeforeItIsRemembered(t *testing.T) {
	if got := By(netip.Addr{}, string(make([]byte, 1<<16))); len(got.clientID) != 64 {
		t.Errorf("%d bytes are remembered, want 64", len(got.clientID))
	}
}

// together is a Counter of several processes, which never forgets.
type together map[Guesser]int

func (c together) Add(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	if wait := c.Wait(ctx, name, client, limit, window); wait > 0 {
		return wait
	}
	c[Guesser{client, name}]++
	return 0
}

func (c together) Wait(_ context.Context, name string, client netip.Prefix, limit int, _ time.Duration) time.Duration {
	if c[Guesser{client, name}] >= limit {
		return window
	}
	return 0
}

func TestBruteForceCountIsSharedByProcesses(t *testing.T) {
	shared := together{}
	a, b, elsewhere := New(shared, "oauth"), New(shared, "oauth"), New(shared, "legacy")
	who := By(here, "1000")
	if n := guess(a, who, 20); n != 20 {
		t.Errorf("%d guesses at one process, want 20", n)
	}
	if n := guess(b, who, 100); n != 10 {
		t.Errorf("%d more at another, want 10", n)
	}
	if n := guess(elsewhere, who, 100); n != 30 {
		t.Errorf("%d at other endpoints, want 30", n)
	}
}
