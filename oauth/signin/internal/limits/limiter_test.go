package limits

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// Decision 56.
func TestMillionAddressesSlowNobodyElseDown(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	rates := NewRates(nil)
	for name, l := range map[string]Limiter{"codes": rates.Tickets.one, "polls": rates.Polls, "mails": rates.ByIP.one} {
		take := func(ip netip.Addr) time.Duration { return l.TakeOf(t.Context(), network.Of(ip)) }
		for i := range 1_000_000 / 3 { // together a million
			take(floodOf(3 * i))
		}
		for i := range 100_000 {
			take(nthOf(i))
		}
		for i := range 200 {
			for n := range l.limit {
				if wait := take(visitorOf(i)); wait != 0 {
					t.Fatalf("%s: %v waits %v after %d of %d", name, visitorOf(i), wait, n, l.limit)
				}
			}
		}
		through := 0
		for range 20 * l.limit {
			if take(floodOf(999_998)) == 0 {
				through++
			}
		}
		if through > 16*l.limit {
			t.Errorf("%s: a stranger among the flood is let by %d times, want at most what a /48 may", name, through)
		}
	}
}

// A code has no network. One that finds no place in a full table is slowed down by itself.
func TestFullTableOfCodesSlowsNoOtherCodeDown(t *testing.T) {
	if testing.Short() {
		t.Skip("counts 100,000 codes")
	}
	l := NewRates(nil).PollsOfCode
	for i := range 100_000 {
		l.Take(t.Context(), fmt.Sprint("code ", i))
	}
	for i := range 200 {
		id := fmt.Sprint("another code ", i)
		for n := range PollsPerCode + 1 {
			if wait := l.Take(t.Context(), id); (wait == 0) != (n < PollsPerCode) {
				t.Fatalf("poll %d of %s waits %v", n+1, id, wait)
			}
		}
	}
}

func TestSiteOfIPv6BeginsNoMoreThanSixteenAddressesMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := func(format string, args ...any) netip.Prefix {
			return network.Of(netip.MustParseAddr(fmt.Sprintf(format, args...)))
		}
		l, through := NewAddressLimiter(3, time.Minute, nil, ""), 0
		count := func(p netip.Prefix) {
			if l.Take(t.Context(), p) == 0 {
				through++
			}
		}
		for i := range 65536 {
			count(client("2001:db8:1:%x::1", i))
		}
		if through != 48 {
			t.Errorf("of a /48 %d get through, want 48", through)
		}
		through = 0
		for i := range 256 {
			count(client("2001:db8:2:%x::1", i))
		}
		if through != 12 {
			t.Errorf("of a /56 %d get through, want 12", through)
		}
		through = 0
		for i := range 250 {
			count(client("203.0.113.%d", i))
		}
		if count(netip.Prefix{}); through != 251 {
			t.Errorf("of a network of IPv4 %d get through, want all 251", through)
		}
		time.Sleep(time.Minute)
		if through = 0; l.Take(t.Context(), client("2001:db8:1:1::1")) != 0 {
			t.Error("a minute later nothing gets through")
		}
	})
}

// nthOf is the i-th address of a /8.
func nthOf(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

// floodOf is the i-th /64 of an attacker who owns a /44.
func floodOf(i int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a0d_beef_0000_0000+uint64(i))
	return netip.AddrFrom16(b)
}

// visitorOf is one of 200 who have nothing to do with the attackers nor with each other.
func visitorOf(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{198, byte(i), 100, 7})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x02, 0x81, byte(i), 1, 2, 3, 4, 5})
}
