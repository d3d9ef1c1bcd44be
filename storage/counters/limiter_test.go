package counters

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
)

func bot(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }

// Decision 56: the clients that fill the table are refused, and no others.
func TestMillionMadeUpAddressesRefuseNobodyElse(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	l := newRates()
	now := time.Now()
	allow := func(a netip.Addr) bool { return l.addresses.AllowClient(network.Of(a), 60, now).OK }
	for i := range 1_000_000 {
		allow(flood(i))
	}
	for i := range 100_000 {
		allow(bot(i))
	}
	for i := range 200 {
		for n := range 60 {
			if !allow(visitor(i)) {
				t.Fatalf("request %d of %v is refused", n+1, visitor(i))
			}
		}
		key := fmt.Sprint("ks", i)
		for range 60 {
			if !l.Allow(t.Context(), key, 60, now).OK {
				t.Fatalf("application %d is refused", i)
			}
		}
		if v := l.Allow(t.Context(), key, 60, now); v.OK {
			t.Fatalf("application %d has no exact rate: %+v", i, v)
		}
	}
	for name, more := range map[string]func(i int) netip.Addr{
		"a /56": func(i int) netip.Addr { return flood(1_000_000 + i%48) }, "a /24 of bots": bot,
	} {
		refused := 0
		for i := range 1_000 {
			if !allow(more(i)) {
				refused++
			}
		}
		if refused < 1_000-240 {
			t.Errorf("%s: %d of 1,000 more are refused, want all but 240 at most", name, refused)
		}
	}
	if l.apps == l.addresses {
		t.Error("addresses take the places of applications")
	}
}

// A request that turns out to be an application's is taken off its address.
func TestHeldRequestIsTakenBackWhereItWasCounted(t *testing.T) {
	l := newRates()
	now := time.Now()
	for range 1_000 {
		_, undo := l.HoldAddress(t.Context(), flood(1), 60, now)
		undo()
	}
	if v, _ := l.HoldAddress(t.Context(), flood(1), 60, now); !v.OK || v.Remaining != 59 {
		t.Errorf("%+v, want 59 more", v)
	}
}

// flood is the i-th /64 of an attacker who owns a /44.
func flood(i int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a0d_beef_0000_0000+uint64(i))
	return netip.AddrFrom16(b)
}

// visitor is one of 200 who have nothing to do with the attackers nor with each other.
func visitor(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{198, byte(i), 100, 7})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x02, 0x81, byte(i), 1, 2, 3, 4, 5})
}
