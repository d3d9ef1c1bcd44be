package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const (
	interval = time.Minute
	length   = 90 * time.Second
)

// worker asks each minute whether the work is its own.
type worker struct {
	*process
	task *lease.Task
}

func (c *cluster) worker() *worker {
	c.Helper()
	p := c.process()
	return &worker{p, lease.New(p.store, "sweep", length)}
}

func (w *worker) mine(t *testing.T) bool {
	t.Helper()
	mine, err := w.task.Mine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mine
}

func TestTaskIsDoneByOneOfMany(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		var all []*worker
		for range 8 {
			all = append(all, c.worker())
		}
		for minute := range 60 {
			for i, w := range all {
				if w.mine(t) != (i == 0) {
					t.Fatalf("minute %d: worker %d is wrong about whose it is", minute, i)
				}
				pass(interval / 8)
			}
		}
		writes := 0
		for _, w := range all {
			writes += w.link.puts
		}
		if writes > 61 {
			t.Errorf("an hour cost %d writes", writes)
		}
	})
}

func TestWorkOfADeadHolderIsTakenOver(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b, other := c.worker(), c.worker(), c.worker()
		a.mine(t)
		for range 5 {
			pass(interval)
			if !a.mine(t) || b.mine(t) || other.mine(t) {
				t.Fatal("it is not the first one's")
			}
		}
		died := time.Now()
		for !b.mine(t) {
			if time.Since(died) >= 3*interval {
				t.Fatal("nobody takes over")
			}
			pass(interval)
		}
		if after := time.Since(died); after < length {
			t.Errorf("it was taken over %s after it was renewed, which is within the lease", after)
		}
		if other.mine(t) {
			t.Error("two have taken over")
		}
		if a.mine(t) {
			t.Error("the one that was dead, or only paused, still believes it")
		}
		pass(interval)
		if !b.mine(t) || a.mine(t) {
			t.Error("the one that woke took it back")
		}
	})
}

func TestWorkThatIsReleasedIsTakenAtOnce(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.worker(), c.worker()
		if !a.mine(t) || b.mine(t) {
			t.Fatal("it is not the first one's")
		}
		if err := b.task.Release(t.Context()); err != nil { // it is not its own
			t.Fatal(err)
		}
		if b.mine(t) {
			t.Error("who does not hold it has released it")
		}
		if err := a.task.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !b.mine(t) || a.mine(t) {
			t.Error("it is not the second one's")
		}
	})
}

func TestReleaseThatComesTooLateTakesNothingAway(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.worker(), c.worker()
		a.mine(t)
		b.mine(t)
		pass(length)
		if !b.mine(t) {
			t.Fatal("it was not taken over")
		}
		if err := a.task.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.mine(t) || !b.mine(t) {
			t.Error("it is not the second one's any more")
		}
	})
}

func TestAnswerThatWasLostKeepsTheLease(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.worker(), c.worker()
		for range 4 {
			a.link.set(func(l *link) { l.lose = true })
			if _, err := a.task.Mine(t.Context()); err == nil {
				t.Fatal("no answer was lost")
			}
			b.mine(t)
			if !a.mine(t) {
				t.Fatal("its own lease is another one's")
			}
			pass(interval)
		}
		if b.mine(t) {
			t.Error("two hold it")
		}
	})
}

// The lease is as old as the write, however late its answer is.
func TestLateAnswerMakesALeaseNoLonger(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.worker(), c.worker()
		a.link.lag = length - 10*time.Second
		answered := make(chan bool)
		go func() {
			mine, _ := a.task.Mine(t.Context())
			answered <- mine
		}()
		synctest.Wait()
		b.mine(t)
		if !<-answered {
			t.Fatal("it is not its own")
		}
		a.link.lag = 0
		pass(10 * time.Second)
		if !b.mine(t) || a.mine(t) {
			t.Error("two hold it, or the wrong one")
		}
	})
}

func TestTaskIsTakenOverOnlyAfterWatchingIt(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		c.worker().mine(t)
		pass(time.Hour)
		b := c.worker()
		if b.mine(t) {
			t.Error("it is taken over by the clock of a process that has just begun")
		}
		pass(length)
		if !b.mine(t) {
			t.Error("it is not taken over")
		}
	})
}

func TestStoreThatIsAwayIsNobodysWork(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a := c.worker()
		a.mine(t)
		pass(interval)
		a.dies()
		if mine, err := a.task.Mine(t.Context()); mine || err == nil {
			t.Errorf("Mine = %v, %v", mine, err)
		}
		a.wakes()
		if !a.mine(t) {
			t.Error("it is lost")
		}
	})
}

func TestTaskWithoutOthersIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		defer backend.Close()
		store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			task := lease.New(store, "sweep", length)
			if mine, err := task.Mine(t.Context()); !mine || err != nil {
				t.Errorf("Mine = %v, %v", mine, err)
			}
			if err := task.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if _, err := store.Lease(t.Context(), "sweep"); err == nil {
			t.Error("a lease was written")
		}
	})
}

// Workers ask, are paused, die and lose the store at random. A worker that was told that the work is
// its own had it to itself from then until the lease would have ended.
func TestLeaseIsNeverHeldByTwo(t *testing.T) {
	for seed := range uint64(40) {
		in(t, func(t *testing.T, c *cluster) {
			draw := rand.New(rand.NewPCG(seed, 1))
			drawn := func(most time.Duration) time.Duration { return time.Duration(draw.Int64N(int64(most))) }
			var all []*worker
			var asks []time.Time
			for range 4 {
				all, asks = append(all, c.worker()), append(asks, time.Now().Add(drawn(interval)))
			}
			var holder *worker
			var until time.Time // the holder is sure of it
			held, log := 0, new(strings.Builder)
			for range 400 {
				i := slices.Index(asks, slices.MinFunc(asks, time.Time.Compare))
				w := all[i]
				time.Sleep(time.Until(asks[i]))
				asks[i] = time.Now().Add(5*time.Second + drawn(interval))
				switch draw.IntN(20) {
				case 0: // paused
					asks[i] = asks[i].Add(drawn(2 * length))
				case 1:
					w.link.set(func(l *link) { l.lose = true })
				case 2:
					w.dies()
				case 3:
					w.task.Release(t.Context())
					if w == holder {
						holder = nil
					}
				case 4: // another process in its place
					all[i] = c.worker()
					continue
				}
				mine, _ := w.task.Mine(t.Context())
				w.link.set(func(l *link) { l.fail, l.lose = nil, false })
				fmt.Fprintln(log, time.Now().Format("04:05"), i, mine)
				if !mine {
					continue
				}
				if holder != nil && holder != w && time.Now().Before(until) {
					t.Fatalf("seed %d: two hold it:\n%s", seed, log)
				}
				if w != holder {
					held++
				}
				holder, until = w, time.Now().Add(length/3*2)
			}
			if held < 5 {
				t.Errorf("seed %d: it changed hands %d times", seed, held)
			}
		})
	}
}
