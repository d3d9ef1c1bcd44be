package limit

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// together runs n calls at once.
func together(n int, call func(i int)) {
	var done sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-gate
			call(i)
		})
	}
	close(gate)
	done.Wait()
}

func TestParallelRequestsShareTheLimit(t *testing.T) {
	for _, size := range []int{1, 1_000_000} { // in a full table, and not
		for range 20 {
			l := open(t, Config{MaxKeys: size})
			spend(t, l, "held", 1, 1, time.Now())
			var admitted atomic.Int32
			together(200, func(int) {
				if l.Allow("a", 60, time.Now()).OK {
					admitted.Add(1)
				}
			})
			if n := admitted.Load(); n != 60 {
				t.Fatalf("%d of 200 parallel requests were admitted, want 60", n)
			}
		}
	}
}

func TestParallelKeysNeverTakeMoreThanThereArePlaces(t *testing.T) {
	const size = 1000
	l := open(t, Config{MaxKeys: size})
	together(8, func(i int) {
		for k := range 500 {
			l.Allow(fmt.Sprint(i, " ", k), 1_000_000, start)
		}
	})
	if n := l.keys.held.Load(); n != size {
		t.Errorf("%d keys are held, want %d", n, size)
	}
}

func TestLimitNeverGivesAPlaceTwice(t *testing.T) {
	g := ledger{max: 100_000}
	var given atomic.Int64
	together(8, func(int) {
		for range 50_000 {
			if g.reserve() {
				given.Add(1)
			}
		}
	})
	if n := given.Load(); n != g.max {
		t.Errorf("%d places are given, want %d", n, g.max)
	}
}

// Everything is cancelled, half of it at once and all of it twice by two workers: there is
// room for all keys, and each remembers its own requests.
func TestCancelInParallelLeavesNothingBehind(t *testing.T) {
	l := open(t, Config{MaxKeys: 2000})
	const workers, keys, limit = 8, 2000, 20
	var receipts [workers][]Receipt
	together(workers, func(i int) {
		r := rand.New(rand.NewPCG(uint64(i), 200))
		for range 10_000 {
			v := l.Allow(fmt.Sprint(r.IntN(keys)), limit, start.Add(time.Duration(r.IntN(1000))))
			if v.OK {
				receipts[i] = append(receipts[i], v.Receipt)
			}
			if r.IntN(2) == 0 {
				l.Cancel(v.Receipt)
			}
		}
	})
	together(2*workers, func(i int) {
		for _, r := range receipts[i%workers] {
			l.Cancel(r)
		}
	})
	for i := range keys {
		key := fmt.Sprint(i)
		v := l.Allow(key, limit, start)
		if !v.OK || v.Remaining != limit-1 {
			t.Fatalf("key %d: %+v, want it as new", i, v)
		}
		l.Cancel(v.Receipt)
	}
}
