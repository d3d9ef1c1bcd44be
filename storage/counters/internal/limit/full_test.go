package limit

import (
	"fmt"
	"testing"
	"time"
)

// fill makes one request of each of n keys.
func fill(t testing.TB, l *Limiter, n int, at time.Time) {
	t.Helper()
	for i := range n {
		spend(t, l, fmt.Sprint("key ", i), 1, 1, at)
	}
}

// Decisions 25 and 56.
func TestFullTableCountsUnknownAddressesByTheirNetworks(t *testing.T) {
	for _, size := range []int{1, 3, 64, 1000, 20_000} {
		l := open(t, Config{MaxKeys: size, Client: clientOf})
		fill(t, l, size, start)
		if n := l.keys.held.Load(); n != int64(size) {
			t.Fatalf("%d keys are held, want %d", n, size)
		}
		for i := range 240 {
			v := l.Allow(slash64(i), 60, start)
			if left := min(59, 239-i); !v.OK || v.Limit != 60 || v.Remaining != left {
				t.Fatalf("size %d: request %d of a /56: %+v, want %d remaining", size, i, v, left)
			}
		}
		at := start.Add(time.Second)
		if v := wantRefused(t, l, slash64(255), 60, at); v.RetryAfter < 59*time.Second || v.RetryAfter > 67*time.Second ||
			v.Limit != 60 {
			t.Errorf("size %d: %+v, want to retry when a window is over", size, v)
		}
		spend(t, l, slash64(256), 240, 60, at)
		spend(t, l, "192.0.2.1", 240, 60, at)
		wantRefused(t, l, "192.0.2.7", 60, at)
		spend(t, l, "192.0.3.7", 1, 60, at)
		if v := l.Allow(slash64(255), Unlimited, at); !v.OK {
			t.Errorf("size %d: what is unlimited is refused", size)
		}
	}
}

// A key that is no address, such as an application, is refused for nobody else's sake.
func TestFullTableCountsByItselfWhatHasNoNetwork(t *testing.T) {
	l := open(t, Config{MaxKeys: 1})
	fill(t, l, 1, start)
	for i := range 300 {
		key := fmt.Sprint("new ", i)
		spend(t, l, key, 7, 7, start)
		wantRefused(t, l, key, 7, start)
	}
}

func TestNetworkChargeCanBeCancelled(t *testing.T) {
	l := open(t, Config{MaxKeys: 1, Client: clientOf})
	fill(t, l, 1, start)
	r := spend(t, l, "192.0.2.1", 240, 60, start)
	l.Cancel(r[7])
	spend(t, l, "192.0.2.2", 1, 60, start)
	wantRefused(t, l, "192.0.2.3", 60, start)
	later := start.Add(68 * time.Second)
	fill(t, l, 1, later)
	spend(t, l, "192.0.2.1", 239, 60, later)
	for _, r := range r {
		l.Cancel(r) // they have left
	}
	spend(t, l, "192.0.2.1", 1, 60, later)
	wantRefused(t, l, "192.0.2.1", 60, later)
}

func TestLiveWindowIsNeverEvicted(t *testing.T) {
	const size = 500
	l := open(t, Config{MaxKeys: size})
	fill(t, l, size, start)
	at := start.Add(time.Minute - 1)
	for i := range 20_000 {
		l.Allow(fmt.Sprint("new ", i), 1, at)
	}
	for i := range size {
		wantRefused(t, l, fmt.Sprint("key ", i), 1, at)
	}
}

func TestTableRecoversWhenItsKeysExpire(t *testing.T) {
	for _, size := range []int{1, 3, 64, 1000, 20_000} {
		l := open(t, Config{MaxKeys: size})
		fill(t, l, size, start)
		spend(t, l, "stray", 1, 1, start)
		wantRefused(t, l, "stray", 1, start)
		fill(t, l, size, start.Add(time.Minute))
		for i := range size {
			wantRefused(t, l, fmt.Sprint("key ", i), 1, start.Add(2*time.Minute-1))
		}
	}
}

func TestPlaceThatIsFreeInAnotherShardIsFound(t *testing.T) {
	const size = 20_000
	for _, free := range []int{0, 100, 255} {
		l := open(t, Config{MaxKeys: size})
		fill(t, l, size, start)
		at := start.Add(time.Minute)
		for i := range l.shards {
			for j := range l.shards[i].slots { // keys expire in one shard only
				if i != free {
					l.shards[i].slots[j].at = l.offset(at)
				}
			}
		}
		// Four rounds over the shards: a stretch of one can happen to be empty.
		key, asked := keyIn(l, 50), 4*len(l.shards)+1
		spend(t, l, key, asked, 2000, at)
		if l.shards[50].find(l.identify(key)) == nil {
			t.Errorf("a new key has no place, though shard %d holds expired keys", free)
		}
	}
}

// An address that finds a place is exact from then on, and owes its network nothing.
func TestKeyThatFindsAPlaceIsLimitedThere(t *testing.T) {
	l := open(t, Config{MaxKeys: 1, Client: clientOf})
	held := spend(t, l, "held", 1, 1, start)[0]
	spend(t, l, "192.0.2.1", 12, 3, start.Add(time.Second))
	wantRefused(t, l, "192.0.2.1", 3, start.Add(time.Second))
	l.Cancel(held)
	spend(t, l, "192.0.2.1", 3, 3, start.Add(time.Minute))
	if v := wantRefused(t, l, "192.0.2.1", 3, start.Add(61*time.Second)); v.RetryAfter != 59*time.Second {
		t.Errorf("RetryAfter = %v, want 59 s", v.RetryAfter)
	}
	wantRefused(t, l, "192.0.2.2", 3, start.Add(61*time.Second))
}

// keyIn returns a new key of the i-th shard.
func keyIn(l *Limiter, i int) string {
	for n := 0; ; n++ {
		if key := fmt.Sprint("new ", n); l.shardOf(l.identify(key)) == &l.shards[i] {
			return key
		}
	}
}
