package connections

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
)

// open dials n times and counts what stays open, and what was closed at once.
func (s *site) open(n int, from func(i int) string) (open []*client, closed int) {
	for i := range n {
		if c := s.dial(from(i)); c.isOpen() {
			open = append(open, c)
		} else {
			closed++
		}
	}
	return open, closed
}

func always(from string) func(int) string { return func(int) string { return from } }

func TestConnectionsFromOneAddressAreBounded(t *testing.T) {
	inBubble(t, Config{}, readAll, func(s *site) {
		open, closed := s.open(300, always("192.0.2.1"))
		if len(open) != 256 || closed != 44 || s.limits.Stats().RefusedAddress != 44 {
			t.Errorf("%d are open, %d closed, counted %+v", len(open), closed, s.limits.Stats())
		}
		other := s.dial("192.0.2.2")
		other.send(get)
		other.wantAnswer(200)
		open[0].Close()
		synctest.Wait()
		if again, _ := s.open(2, always("192.0.2.1")); len(again) != 1 {
			t.Errorf("one was closed, and %d more were let in", len(again))
		}
	})
}

func TestAddressIsCountedWhateverItsSpelling(t *testing.T) {
	for _, c := range []struct {
		name string
		from func(i int) string
		want int
	}{
		{"IPv4 in IPv6", func(i int) string { return []string{"192.0.2.1", "::ffff:192.0.2.1"}[i%2] }, 3},
		{"a network of IPv6", func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, 3},
		{"networks of IPv6", func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 10},
		{"a zone", func(i int) string { return fmt.Sprintf("fe80::1%%eth%d", i) }, 3},
		{"IPv4", func(i int) string { return fmt.Sprintf("192.0.2.%d", i) }, 10},
		{"a trusted proxy", always("10.1.2.3"), 10},
		{"a trusted proxy in IPv6", always("::ffff:10.1.2.3"), 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := Config{PerAddress: 3, Trusted: netip.MustParsePrefix("10.0.0.0/8").Contains}
			inBubble(t, conf, readAll, func(s *site) {
				if open, _ := s.open(10, c.from); len(open) != c.want {
					t.Errorf("%d are open, want %d", len(open), c.want)
				}
			})
		})
	}
}

func TestConnectionsAreNotAllTakenByFewAddresses(t *testing.T) {
	inBubble(t, Config{Total: 100, PerAddress: 256}, readAll, func(s *site) {
		many := 0
		for a := range 10 {
			open, _ := s.open(100, always(fmt.Sprintf("192.0.2.%d", a)))
			many += len(open)
		}
		if stats := s.limits.Stats(); stats.Open != many || many >= 100 || stats.RefusedFull != uint64(1000-many) ||
			stats.RefusedAddress != 0 {
			t.Errorf("ten addresses hold %d of 100, counted %+v", many, stats)
		}
		other := s.dial("198.51.100.1")
		other.send(get)
		other.wantAnswer(200)
	})
}

func TestConnectionsAreBoundedInTotal(t *testing.T) {
	trusted := func(netip.Addr) bool { return true }
	inBubble(t, Config{Total: 20, Trusted: trusted}, readAll, func(s *site) {
		open, closed := s.open(50, always("10.0.0.1"))
		if len(open) != 20 || closed != 30 {
			t.Errorf("%d are open, %d closed", len(open), closed)
		}
	})
}

func TestFileDescriptorsAreReservedForTheStore(t *testing.T) {
	for _, files := range []int{1, 64, 256, 1024, 20_000, 1 << 20} {
		public, operators := share(files)
		if left := files - 2*public - operators; public < 1 || operators < 1 || files >= 64 &&
			(left < files/16 && left < 64) {
			t.Errorf("of %d files, %d and %d are connections", files, public, operators)
		}
	}
	if public, operators := Room(); public < 1 || operators < 1 {
		t.Errorf("Room() = %d, %d", public, operators)
	}
}
