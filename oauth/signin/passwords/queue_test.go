package passwords

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

const slowHash = 100 * time.Millisecond

// slow makes every hash take as long, and counts them.
func slow(p *Hasher, n *atomic.Int64) *Hasher {
	p.key = func(_, _ []byte, _, _ uint32, _ uint8, size uint32) []byte {
		n.Add(1)
		time.Sleep(slowHash)
		return make([]byte, size)
	}
	return p
}

// outcome counts the results of many hashes at once.
type outcome struct {
	done, busy, other int
	longest           time.Duration
}

func crowdOf(ctx context.Context, p *Hasher, n int) (o outcome) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			began := time.Now()
			_, err := p.Hash(ctx, "x")
			mu.Lock()
			defer mu.Unlock()
			o.longest = max(o.longest, time.Since(began))
			switch {
			case err == nil:
				o.done++
			case errors.Is(err, ErrBusy):
				o.busy++
			default:
				o.other++
			}
		})
	}
	all.Wait()
	return o
}

func TestPasswordQueueRefusesEarlyWhatItCannotHashSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		p := slow(New(Cost{}), &n)
		slots := runtime.GOMAXPROCS(0)
		for round := range 2 { // in the first one it is not known yet how long a hash takes
			n.Store(0)
			o := crowdOf(t.Context(), p, 900)
			if fit := slots * int(maxWait/slowHash); o.done < fit || o.done > fit+2*slots || o.done+o.busy != 900 {
				t.Errorf("round %d: %d hashed and %d refused of 900, want about %d hashed", round, o.done, o.busy, fit)
			}
			if int(n.Load()) != o.done || o.longest > maxWait+2*slowHash {
				t.Errorf("round %d: %d computed for %d, the longest wait was %v", round, n.Load(), o.done, o.longest)
			}
			if p.queue.running != 0 || p.queue.waiting() != 0 {
				t.Errorf("round %d: %d running and %d waiting are left", round, p.queue.running, p.queue.waiting())
			}
		}
	})
}

func TestRefusalSaysWhenToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		p := slow(New(Cost{}), &n)
		crowdOf(t.Context(), p, 1) // so that it is known how long one takes
		var all sync.WaitGroup
		for range 900 {
			all.Go(func() { p.Hash(t.Context(), "x") })
		}
		synctest.Wait()
		began := time.Now()
		_, err := p.Hash(t.Context(), "x")
		f := reply.FailureOf(err)
		after, _ := strconv.Atoi(f.Header.Get("Retry-After"))
		if f.Status != http.StatusServiceUnavailable || after < 1 || after > 4 || time.Since(began) != 0 ||
			!errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("%v: %d, Retry-After %d, after %v; want 503 at once and a few seconds", err, f.Status, after,
				time.Since(began))
		}
		time.Sleep(time.Duration(after) * time.Second)
		if _, err := p.Hash(t.Context(), "x"); err != nil {
			t.Errorf("after that time: %v", err)
		}
		all.Wait()
	})
}

// everywhere is an address of its own for each i: of IPv6 in one of 40 /32s, and of IPv4, every
// fourth, in one of 250 /16s.
func everywhere(i int) netip.Addr {
	if i%4 == 0 {
		return netip.AddrFrom4([4]byte{50, byte(i % 250), byte(i >> 8), byte(i)})
	}
	return netip.AddrFrom16([16]byte{0x26, 0x20, 0, byte(i % 40), byte(i >> 16), byte(i >> 8), byte(i), 1, 15: 1})
}

// A client that has never signed in here comes from a network of its own while others guess
// from so many addresses that none of them ever guesses twice.
func TestFloodDoesNotRefuseClientsFromOtherNetworks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n, refused atomic.Int64
		p := slow(New(Cost{}), &n)
		crowdOf(t.Context(), p, 1)
		// another one
		hash := fmt.Sprintf(phcForm, 19<<10, 2, 1) + strings.Repeat("A", 22) + "$" + strings.Repeat("A", 42) + "E"
		guess := func(from netip.Addr) error {
			_, _, err := p.Verify(AsUnknownClient(t.Context(), from), hash, "x")
			return err
		}
		n.Store(0)
		var all sync.WaitGroup
		for i := range 20_000 { // 5,000 a second
			if i%5 == 0 {
				time.Sleep(time.Millisecond)
			}
			all.Go(func() {
				if guess(everywhere(i)) != nil {
					refused.Add(1)
				}
			})
			if i%500 == 250 && i > 5000 { // each of them twice, mistaken at first
				honest := netip.AddrFrom16([16]byte{0x2a, 1, 4, byte(i / 1000), 15: 1})
				if i >= 10_000 {
					honest = netip.AddrFrom4([4]byte{203, byte(i / 1000), 113, 9})
				}
				began := time.Now()
				if err := guess(honest); err != nil || time.Since(began) > 3*slowHash {
					t.Errorf("%s after %d guesses: %v after %v, want it hashed next", honest, i, err, time.Since(began))
				}
			}
		}
		all.Wait()
		if n.Load() < 60 || refused.Load() < 15_000 {
			t.Errorf("%d were hashed and %d of the flood refused: it was no flood", n.Load(), refused.Load())
		}
	})
}

func TestKnownBrowsersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		p := slow(New(Cost{}), &n)
		crowdOf(t.Context(), p, 1)
		var all sync.WaitGroup
		for i := range 900 {
			all.Go(func() { p.Hash(AsUnknownClient(t.Context(), everywhere(i)), "x") })
		}
		synctest.Wait()
		began := time.Now()
		if _, err := p.Hash(t.Context(), "x"); err != nil || time.Since(began) > 3*slowHash {
			t.Errorf("%v after %v, want it hashed next", err, time.Since(began))
		}
		all.Wait()
	})
}

func TestCancelledRequestLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		p := slow(New(Cost{}), &n)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan outcome)
		go func() { gone <- crowdOf(ctx, p, 200) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if w := p.queue.waiting(); w != 0 {
			t.Errorf("%d wait still", w)
		}
		o := <-gone
		if slots := runtime.GOMAXPROCS(0); o.done != slots || o.other != 200-slots || int(n.Load()) != slots {
			t.Errorf("%+v and %d computed, want only the %d that had begun", o, n.Load(), slots)
		}
		if o := crowdOf(t.Context(), p, 1); o.done != 1 || o.longest != slowHash {
			t.Errorf("the next: %+v, want it hashed at once", o)
		}
	})
}

// Of many who leave at the moment their turn comes, none takes a place along.
func TestPasswordQueueLosesNoPlaceBetweenATurnAndATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Cost{})
		p.key = func(_, _ []byte, _, _ uint32, _ uint8, size uint32) []byte {
			time.Sleep(maxWait) // every turn comes when the patience of the next ends
			return make([]byte, size)
		}
		for range 20 {
			p.queue.typical = 0
			crowdOf(t.Context(), p, 3*runtime.GOMAXPROCS(0))
			if p.queue.running != 0 || p.queue.waiting() != 0 {
				t.Fatalf("%d running and %d waiting are left", p.queue.running, p.queue.waiting())
			}
		}
	})
}

func (l *queue) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known.Len() + len(l.unknown)
}
