package clientdoc

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// Somebody with a million addresses and hosts can make these counts grow, and nothing else.
func TestAMillionRequestersAndHostsTakeNoMoreMemoryThanTheTables(t *testing.T) {
	b := NewBudget(nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fetched, fresh := 0, 0
	const million = 1_000_000
	for i := range million {
		requester := netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
		if b.Fetch(context.Background(), requester) == 0 {
			fetched++
		}
		if b.New(context.Background(), "") == 0 {
			fresh++
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d requesters: %d fetches and %d new documents admitted, %.1f MB", million, fetched, fresh, float64(grown)/1e6)
	if fetched < inAll || fetched > 3*inAll || fresh != newADay || grown > 20<<20 {
		t.Errorf("%d fetches, %d new documents, %d bytes; want 100 a minute, 1,000 and 20 MiB at most", fetched, fresh, grown)
	}
	runtime.KeepAlive(b)
}

func TestAListedHostHasABudgetOfItsOwn(t *testing.T) {
	b := NewBudget(nil)
	for range 2 * newADay {
		b.New(t.Context(), "")
	}
	if wait := b.New(t.Context(), ""); wait <= 0 || wait > 24*time.Hour {
		t.Errorf("New = %v, want to wait within a day", wait)
	}
	if wait := b.New(t.Context(), "claude.ai"); wait != 0 {
		t.Errorf("New of a listed host = %v, want no wait", wait)
	}
}

// shared counts what is asked of it.
type shared map[string]int

func (s shared) Add(_ context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
	s[fmt.Sprint(name, " ", client, " ", limit, " ", window)]++
	return 0
}

func TestBudgetsAreSharedWhereThereIsACounter(t *testing.T) {
	s := shared{}
	b := NewBudget(s)
	b.Fetch(t.Context(), netip.MustParseAddr("192.0.2.1"))
	b.New(t.Context(), "claude.ai")
	want := "map[client documents 192.0.2.1/32 10 1m0s:1 client documents in all ::/128 100 1m0s:1 new client documents claude.ai ::/128 1000 24h0m0s:1]"
	if got := fmt.Sprint(map[string]int(s)); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}
