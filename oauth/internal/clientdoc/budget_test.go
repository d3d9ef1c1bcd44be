package clientdoc

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Somebody with a million addresses and hosts can make these counts grow, and nothing else.
func TestMillionRequestersAndHostsTakeNoMoreMemoryThanTheTables(t *testing.T) {
	b := NewBudget(counters.NewCounter())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fetched := 0
	const million = 1_000_000
	for i := range million {
		requester := netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
		if b.FetchNew(t.Context(), requester, fmt.Sprintf("a%d.example.net", i), "") == 0 {
			fetched++
			b.Add(t.Context(), requester, "")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d requesters: %d fetches admitted, %.1f MB", million, fetched, float64(grown)/1e6)
	if fetched < fetches.Common.N || grown > 40<<20 {
		t.Errorf("%d fetches and %d bytes; want those of a minute at least, and 40 MiB at most", fetched, grown)
	}
	runtime.KeepAlive(b)
}

func TestListedHostHasABudgetOfItsOwn(t *testing.T) {
	b, from := NewBudget(counters.NewCounter()), netip.MustParseAddr("192.0.2.1")
	for range 2 * newDocuments.Each[1].N {
		b.Add(t.Context(), from, "")
	}
	if wait := b.Add(t.Context(), from, ""); wait <= 0 || wait > 24*time.Hour {
		t.Errorf("Add = %v, want to wait within a day", wait)
	}
	if wait := b.Add(t.Context(), from, "claude.ai"); wait != 0 {
		t.Errorf("Add of a listed host = %v, want no wait", wait)
	}
}

// Requests for missing documents use up the requester's fetches, and nothing else.
func TestClientDocumentNotFoundCostsNoBudget(t *testing.T) {
	b, from := NewBudget(counters.NewCounter()), netip.MustParseAddr("192.0.2.1")
	for range 10 {
		if b.FetchNew(t.Context(), from, "agent.example.net", "") != 0 {
			t.Fatal("one of ten fetches of a minute is refused")
		}
	}
	for range 30 {
		if b.Add(t.Context(), from, "") != 0 {
			t.Fatal("fetches count as documents")
		}
	}
	if wait := b.FetchNew(t.Context(), from, "other.example.net", ""); wait <= 59*time.Minute {
		t.Errorf("FetchNew = %v, want the hour until one may be kept, and not the minute until one may be fetched", wait)
	}
}

// shared counts what is asked of it.
type shared map[string]int

func (s shared) Add(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	s[fmt.Sprint(name, " ", client, " ", limit, " ", window)]++
	return 0
}

func (s shared) Wait(context.Context, string, netip.Prefix, int, time.Duration) time.Duration {
	return 0
}

func TestBudgetsAreSharedWhereThereIsACounter(t *testing.T) {
	s := shared{}
	NewBudget(s).Fetch(t.Context(), netip.MustParseAddr("192.0.2.1"), "claude.ai:8443")
	want := "map[" +
		"client documents in 1m0s 192.0.0.0/16 160 1m0s:1 client documents in 1m0s 192.0.2.0/24 40 1m0s:1 client documents " +
		"in 1m0s 192.0.2.1/32 10 1m0s:1 " +
		"client documents in all invalid Prefix 100 1m0s:1 client documents of claude.ai in all invalid Prefix 30 1m0s:1]"
	if got := fmt.Sprint(map[string]int(s)); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}
