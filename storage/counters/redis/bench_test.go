package redis

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// BenchmarkActs compares each act with a PING of the same run, by turns, at so many clients at a time.
func BenchmarkActs(b *testing.B) {
	c := open(b, Options{})
	l, a, d, n := c.Limiter(), c.Addresses(counters.Lock{}), c.Accounts(), c.Counter()
	for _, act := range []struct {
		name string
		do   func(client, i int)
	}{
		{"Allow", func(client, i int) { l.Allow(ctx, fmt.Sprint("ks", client), 60, time.Now()) }},
		{"AllowHigh", func(client, i int) { l.Allow(ctx, fmt.Sprint("kh", client), 1_000_000, time.Now()) }},
		{"HoldIPv4", func(client, i int) { l.HoldAddress(ctx, v4(i), 60, time.Now()) }},
		{"HoldIPv6", func(client, i int) { l.HoldAddress(ctx, v6(i), 60, time.Now()) }},
		{"Attempt", func(client, i int) { a.Begin(ctx, v4(i)) }},
		{"Account", func(client, i int) { d.Begin(ctx, [32]byte{byte(i), byte(i >> 8), byte(i >> 16)}) }},
		{"Add", func(client, i int) { n.Add(ctx, "oauth x", netip.PrefixFrom(v4(i), 32), 30, time.Minute) }},
	} {
		for _, clients := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", act.name, clients), func(b *testing.B) { byTurns(b, clients, act.do) })
		}
	}
}

func v6(i int) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 16), byte(i >> 8), byte(i)})
}

// v6of is the i-th /64 of a /56.
func v6of(i int) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 1, 7, byte(i)})
}

func byTurns(b *testing.B, clients int, do func(client, i int)) {
	ping := raw(b)
	var mu sync.Mutex
	var acts, pings []time.Duration
	var group sync.WaitGroup
	b.ResetTimer()
	for client := range clients {
		group.Go(func() {
			var mine, floor []time.Duration
			for i := range max(1, b.N/clients) {
				began := time.Now()
				ping.do("PING")
				middle := time.Now()
				do(client, client<<18+i)
				mine, floor = append(mine, time.Since(middle)), append(floor, middle.Sub(began))
			}
			mu.Lock()
			defer mu.Unlock()
			acts, pings = append(acts, mine...), append(pings, floor...)
		})
	}
	group.Wait()
	slices.Sort(acts)
	slices.Sort(pings)
	b.ReportMetric(float64(acts[len(acts)/2])/1e3, "p50-us")
	b.ReportMetric(float64(acts[len(acts)*99/100])/1e3, "p99-us")
	b.ReportMetric(float64(pings[len(pings)/2])/1e3, "ping-us")
	b.ReportMetric(float64(acts[len(acts)/2])/float64(pings[len(pings)/2]), "p50/ping")
}
