package redis

import (
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// used returns the bytes that the server has taken for data.
func used(t testing.TB, r plainly) int {
	t.Helper()
	info := r.text("INFO", "memory")
	_, after, _ := strings.Cut(info, "used_memory_dataset:")
	text, _, _ := strings.Cut(after, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ = strings.Cut(info, "used_memory_overhead:")
	text, _, _ = strings.Cut(after, "\r\n")
	more, _ := strconv.Atoi(text)
	return n + more
}

// parallel calls f for 0 to n-1.
func parallel(n int, f func(i int)) {
	const clients = 64
	var group sync.WaitGroup
	for k := range clients {
		group.Go(func() {
			for i := k; i < n; i += clients {
				f(i)
			}
		})
	}
	group.Wait()
}

func TestMillionAddressesTakeLessThan64MB(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	const million = 1_000_000
	for name, address := range map[string]func(i int) netip.Addr{"IPv4": v4, "IPv6, a /48 each": v6} {
		t.Run(name, func(t *testing.T) {
			r := raw(t)
			r.do("FLUSHALL", "SYNC")
			w := newWatch()
			c := open(t, Options{clock: w.now})
			before := used(t, r)
			l, refused := c.Limiter(), atomic.Int32{}
			parallel(million, func(i int) {
				if v, _ := l.HoldAddress(ctx, address(i), 60, w.now()); !v.OK {
					refused.Add(1)
				}
			})
			if n := refused.Load(); n > 0 {
				t.Errorf("%d addresses are refused their only request", n)
			}
			c.wantConnected(t)
			taken := used(t, r) - before
			t.Logf("%.1f MB, %.1f bytes an address", float64(taken)/1e6, float64(taken)/million)
			if taken > 64<<20 {
				t.Errorf("%d bytes, want at most 64 MB", taken)
			}
			own := 0
			for i := range 10_000 {
				l.HoldAddress(ctx, address(i*100), 2, w.now())
				if v, _ := l.HoldAddress(ctx, address(i*100), 2, w.now()); !v.OK {
					own++
				}
			}
			if own < 9_990 {
				t.Errorf("%d of 10,000 addresses have their own count, want all", own)
			}
			r.do("FLUSHALL", "SYNC")
		})
	}
}

func TestRequestTakesTwelveBytes(t *testing.T) {
	c, r := open(t, Options{}), raw(t)
	const n = 5_000
	for range n {
		if v := c.Limiter().Allow(ctx, "ks1", n, time.Now()); !v.OK {
			t.Fatal(v)
		}
	}
	size := r.number("MEMORY", "USAGE", c.o.Prefix+":app:ks1", "SAMPLES", "0")
	t.Logf("%.2f bytes a request", float64(size)/n)
	if size > 12*n {
		t.Errorf("%d requests take %d bytes, want at most 12 each", n, size)
	}
}

// For all requests of strangers a bucket stays a listpack and has a bounded number of fields.
func TestBucketsStaySmall(t *testing.T) {
	w := newWatch()
	c, r := open(t, Options{clock: w.now}), raw(t)
	keys, _ := c.keys()
	bucket := keys.Client(kindOfAddress, "", prefix("10.0.0.0/32")).Bucket
	found := 0
	for i := 0; found < 125; i++ {
		if keys.Client(kindOfAddress, "", netip.PrefixFrom(v4(i), 32)).Bucket != bucket {
			continue
		}
		found++
		for range 8 {
			c.Limiter().HoldAddress(ctx, v4(i), 60, w.now())
		}
	}
	fields, encoding := r.number("HLEN", bucket), r.text("OBJECT", "ENCODING", bucket)
	if fields != 121 || encoding != "listpack" {
		t.Errorf("%d fields as %s, want 120 and a mark as a listpack", fields, encoding)
	}
	c.wantConnected(t)
	// Ended counts make place for others.
	w.pass(counters.Window + time.Millisecond)
	for i, n := 9_000_000, 0; n < 1; i++ {
		if keys.Client(kindOfAddress, "", netip.PrefixFrom(v4(i), 32)).Bucket == bucket {
			n++
			c.Limiter().HoldAddress(ctx, v4(i), 60, w.now())
		}
	}
	c.wantConnected(t)
	if fields = r.number("HLEN", bucket); fields > 2 {
		t.Errorf("%d fields a window later, want the newest and a mark", fields)
	}
}

// Decision 56: among the widest networks, those with the fewest events are forgotten.
func TestWidestNetworksAreBoundedToo(t *testing.T) {
	w := newWatch()
	c, r := open(t, Options{clock: w.now, tags: 1}), raw(t)
	keys, _ := c.keys()
	take := func(i int) bool {
		client := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(i), byte(i >> 8), 1, 1}), 32)
		h, err := c.wider(keys, event{kind: "a", client: client, window: counters.Window}, 2, surroundings(client)[1:], true)
		if err != nil {
			t.Fatal(err)
		}
		return h.v.OK
	}
	for range 32 { // sixteen times as many as one client
		if !take(1) {
			t.Fatal("a /16 makes fewer than it may")
		}
	}
	for i := range 500 {
		take(2 + i)
	}
	if take(1) {
		t.Error("the fullest network was forgotten")
	}
	bucket := keys.Wider("a", "", netip.MustParsePrefix("192.0.2.1/32"))
	if fields := r.number("HLEN", bucket); fields < 100 || fields > 121 {
		t.Errorf("%d networks are held, want 120", fields)
	}
}
