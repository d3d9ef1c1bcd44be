package window

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

// Entry 25 of the decisions.
func TestInAFullTableNewKeysShareOneWindow(t *testing.T) {
	for _, size := range []int{1, 3, 64, 1000, 20_000} {
		l := open(t, Config{MaxKeys: size})
		fill(t, l, size, start)
		if n := l.keys.held.Load(); n != int64(size) {
			t.Fatalf("%d keys are held, want %d", n, size)
		}
		for i := range 60 {
			if v := l.Allow(fmt.Sprint("new ", i), 60, start); !v.OK || v.Remaining != 59-i {
				t.Fatalf("size %d: new key %d: %+v, want %d remaining", size, i, v, 59-i)
			}
		}
		if v := wantRefused(t, l, "another", 60, start.Add(time.Second)); v.RetryAfter != 59*time.Second {
			t.Errorf("size %d: RetryAfter = %v, want 59 s", size, v.RetryAfter)
		}
		if v := wantRefused(t, l, "another", 58, start.Add(time.Second)); v.RetryAfter != 59*time.Second {
			t.Errorf("size %d: RetryAfter = %v, want 59 s", size, v.RetryAfter)
		}
		if v := l.Allow("another", 62, start.Add(time.Second)); !v.OK || v.Remaining != 1 {
			t.Errorf("size %d: with a limit of 62: %+v, want one more after this", size, v)
		}
		if v := l.Allow("another", Unlimited, start.Add(time.Second)); !v.OK {
			t.Errorf("size %d: what is unlimited is refused", size)
		}
	}
}

func TestALiveWindowIsNeverEvicted(t *testing.T) {
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

func TestTheTableRecoversWhenItsKeysExpire(t *testing.T) {
	for _, size := range []int{1, 3, 64, 1000, 20_000} {
		l := open(t, Config{MaxKeys: size})
		fill(t, l, size, start)
		spend(t, l, "stray", 1, 1, start)
		wantRefused(t, l, "another", 1, start)
		fill(t, l, size, start.Add(time.Minute))
		for i := range size {
			wantRefused(t, l, fmt.Sprint("key ", i), 1, start.Add(2*time.Minute-1))
		}
	}
}

func TestAPlaceThatIsFreeInAnotherShardIsFound(t *testing.T) {
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
		if v := l.Allow(key, 2000, at); v.Remaining != 2000-asked-1 {
			t.Errorf("%+v, want all its requests counted", v)
		}
	}
}

func TestAKeyTakesItsRequestsOutOfTheOverflow(t *testing.T) {
	l := open(t, Config{MaxKeys: 1})
	held := spend(t, l, "held", 1, 1, start)[0]
	r := spend(t, l, "a", 2, 6, start.Add(30*time.Second))
	r = append(r, spend(t, l, "b", 2, 6, start.Add(31*time.Second))...)
	r = append(r, spend(t, l, "a", 2, 6, start.Add(32*time.Second))...)
	wantRefused(t, l, "b", 6, start.Add(33*time.Second))
	l.Cancel(held)
	at := start.Add(33 * time.Second)
	if v := l.Allow("a", 6, at); !v.OK || v.Remaining != 1 || v.Reset != 57*time.Second {
		t.Errorf("with a window of its own: %+v, want the 4 requests before counted", v)
	}
	if v := l.Allow("b", 6, at); !v.OK || v.Remaining != 3 {
		t.Errorf("in the overflow: %+v, want the other key's requests gone from it", v)
	}
	for range 2 {
		l.Cancel(r[1])
		l.Cancel(r[3])
		l.Cancel(r[5])
	}
	if v := l.Allow("a", 6, at); !v.OK || v.Remaining != 2 {
		t.Errorf("after two were cancelled: %+v, want them gone from its own window", v)
	}
	if v := l.Allow("b", 6, at); !v.OK || v.Remaining != 3 {
		t.Errorf("after one was cancelled: %+v, want it gone from the overflow", v)
	}
}

func TestAKeyThatFindsAPlaceIsStillLimited(t *testing.T) {
	l := open(t, Config{MaxKeys: 1})
	held := spend(t, l, "held", 1, 1, start)[0]
	spend(t, l, "a", 3, 3, start.Add(time.Second))
	l.Cancel(held)
	for range 2 {
		if v := wantRefused(t, l, "a", 3, start.Add(time.Minute)); v.RetryAfter != time.Second {
			t.Errorf("RetryAfter = %v, want 1 s", v.RetryAfter)
		}
	}
	spend(t, l, "a", 3, 3, start.Add(61*time.Second))
}

func TestTheOverflowKeepsTheTimeOfAllShards(t *testing.T) {
	l := open(t, Config{MaxKeys: 1000})
	fill(t, l, 1000, start)
	spend(t, l, keyIn(l, 5), 1, 1, start.Add(30*time.Second))
	// Who comes late from another shard comes after that, in the overflow and later.
	spend(t, l, keyIn(l, 6), 1, 2, start.Add(20*time.Second))
	if v := wantRefused(t, l, "another", 1, start.Add(59*time.Second)); v.RetryAfter != 31*time.Second {
		t.Errorf("RetryAfter = %v, want the 31 s until both have left", v.RetryAfter)
	}
}

func TestWhoComesFromTheOverflowKeepsItsTime(t *testing.T) {
	for _, empty := range []bool{false, true} {
		l := open(t, Config{MaxKeys: 1000})
		fill(t, l, 1000, start)
		r := spend(t, l, keyIn(l, 5), 1, 2, start.Add(30*time.Second))
		if empty {
			l.Cancel(r[0])
		}
		l.keys.max++ // a place is free
		key := keyIn(l, 6)
		spend(t, l, key, 1, 1, start.Add(20*time.Second))
		spend(t, l, key, 1, 2, start.Add(25*time.Second))
		if v := wantRefused(t, l, key, 1, start.Add(80*time.Second)); v.RetryAfter != 10*time.Second {
			t.Errorf("RetryAfter = %v, want 10 s: both came after 30 s, though they say 20 and 25", v.RetryAfter)
		}
	}
}

// keyIn returns a new key of the i-th shard.
func keyIn(l *Limiter, i int) string {
	for n := 0; ; n++ {
		if key := fmt.Sprint("new ", n); l.shardOf(l.identify(key)) == &l.shards[i] {
			return key
		}
	}
}
