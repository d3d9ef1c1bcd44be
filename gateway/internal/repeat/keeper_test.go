package repeat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

const free = 3

func open(t testing.TB, b driver.Backend, key storage.MasterKey) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), b, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newStore(t testing.TB) *storage.Store {
	b := memory.New()
	t.Cleanup(func() { b.Close() })
	return open(t, b, storage.NewMasterKey())
}

func newKeeper(t testing.TB, s Store) *Keeper {
	k := New(s, free)
	t.Cleanup(func() { k.Close(context.Background()) })
	return k
}

// bill counts charges.
type bill struct{ n atomic.Int64 }

func (b *bill) charge() error { b.n.Add(1); return nil }

// try makes n attempts at a call and returns how many were charged.
func try(t testing.TB, k *Keeper, c Call, n int) int64 {
	t.Helper()
	var b bill
	for range n {
		before := b.n.Load()
		if free, err := k.Charge(c, time.Now(), b.charge); err != nil || free != (b.n.Load() == before) {
			t.Fatalf("Charge() = %t, %v, and %d were charged", free, err, b.n.Load()-before)
		}
	}
	return b.n.Load()
}

func call(key string) Call {
	return Call{Account: "app", Product: "ai", Key: key, Method: "POST", Path: "/ai/x"}
}

// window holds what a model knows of a call.
type window struct {
	from     time.Time // when it was charged
	attempts int       // since, that one included
}

// Attempts come one by one and many at a time, on two nodes that are stopped and started, over days.
func TestCallIsChargedOnceHoweverItIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, master := memory.New(), storage.NewMasterKey()
		stores := []*storage.Store{open(t, b, master), open(t, b, master)}
		nodes := []*Keeper{New(stores[0], free), New(stores[1], free)}
		want, known := int64(0), map[Call]*window{}
		var bill bill
		once, repeats := 0, 0
		for round := range 600 {
			time.Sleep(time.Duration(rand.IntN(3))*time.Hour + time.Minute) // never 24 hours to the minute
			if round%20 == 0 {
				i := rand.IntN(2)
				if err := nodes[i].Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				nodes[i] = New(stores[i], free)
			}
			if round%50 == 0 {
				stores[0].Sweep(t.Context(), time.Now())
			}
			now := time.Now()
			var all sync.WaitGroup
			for range 1 + rand.IntN(6) {
				c := Call{
					Account: fmt.Sprint("app", rand.IntN(2)), User: fmt.Sprint("u", rand.IntN(2)), Product: "ai",
					Key:  fmt.Sprint(rand.IntN(3)),
					Path: fmt.Sprint("/", rand.IntN(2)), Query: fmt.Sprint("q=", rand.IntN(2)),
				}
				w := known[c]
				if w == nil || now.Sub(w.from) >= Life {
					w = &window{from: now}
					known[c] = w
					once++
				}
				if w.attempts++; w.attempts == 1 || w.attempts > 1+free {
					want++
				} else {
					repeats++
				}
				k := nodes[rand.IntN(2)]
				all.Go(func() { k.Charge(c, now, bill.charge) })
			}
			all.Wait()
			if got := bill.n.Load(); got != want {
				t.Fatalf("round %d: %d charges, want %d", round, got, want)
			}
		}
		if once < 50 || repeats < 50 {
			t.Errorf("%d calls and %d free repetitions prove little", once, repeats)
		}
		for _, k := range nodes {
			if err := k.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, unknown := k.Stats(); unknown != 0 {
				t.Errorf("%d attempts were charged unknown, want 0", unknown)
			}
		}
		b.Close()
	})
}

func TestIdempotencyKeyWithADifferentRequestIsAnotherCall(t *testing.T) {
	k := newKeeper(t, newStore(t))
	one := Call{Account: "app", User: "u", Product: "ai", Tool: "t", Key: "k", Method: "POST", Path: "/x", Query: "a=1",
		Body: [32]byte{1}}
	if got := try(t, k, one, 2); got != 1 {
		t.Fatalf("charged %d times, want 1", got)
	}
	for name, change := range map[string]func(*Call){
		"account": func(c *Call) { c.Account = "app2" }, "user": func(c *Call) { c.User = "" },
		"product": func(c *Call) { c.Product = "mcp" },
		"tool":    func(c *Call) { c.Tool = "" }, "key": func(c *Call) { c.Key = "K" },
		"method": func(c *Call) { c.Method = "GET" },
		"path":   func(c *Call) { c.Path = "/x/" }, "query": func(c *Call) { c.Query = "" },
		"body":                  func(c *Call) { c.Body = [32]byte{2} },
		"headers":               func(c *Call) { c.Headers = [32]byte{2} },
		"texts that join alike": func(c *Call) { c.Method, c.Path = "POST/", "x" },
	} {
		other := one
		change(&other)
		if got := try(t, k, other, 1); got != 1 {
			t.Errorf("with another %s: charged %d times, want 1", name, got)
		}
	}
}

func TestCallIsForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		k := newKeeper(t, s)
		for _, c := range []struct {
			after time.Duration
			want  int64
		}{{0, 1}, {Life - time.Nanosecond, 0}, {time.Nanosecond, 1}, {time.Second, 0}} {
			if time.Sleep(c.after); try(t, k, call("k"), 1) != c.want {
				t.Errorf("%v later: want %d charges", c.after, c.want)
			}
			synctest.Wait() // it is noted
		}
		time.Sleep(Life)
		if n, err := s.Sweep(t.Context(), time.Now()); n == 0 || err != nil {
			t.Errorf("Sweep() = %d, %v; want what is forgotten", n, err)
		}
	})
}

var errFull = errors.New("full")

// A kill between the two, or a charge that fails, leaves the same.
func TestIdempotencyKeyTakenWithoutChargeMakesNothingFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(t, newStore(t))
		if _, err := k.Charge(call("k"), time.Now(), func() error { return errFull }); err != errFull {
			t.Errorf("Charge() = %v, want %v", err, errFull)
		}
		var b bill
		var all sync.WaitGroup
		began := time.Now()
		for range 1 + free {
			all.Go(func() { k.Charge(call("k"), began, b.charge) })
		}
		all.Wait()
		if waited := time.Since(began); b.n.Load() != 1 || waited < stillLimit || waited > patience {
			t.Errorf("%d charges after %v, want 1 after %v", b.n.Load(), waited, stillLimit)
		}
	})
}

// faulty is a store that fails or hangs, or does so with notes alone.
type faulty struct {
	Store
	fail, hang, mute atomic.Bool
	steps            atomic.Int64
}

func (f *faulty) step(ctx context.Context) error {
	f.steps.Add(1)
	if f.hang.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.fail.Load() {
		return storage.ErrUnavailable
	}
	return nil
}

func (f *faulty) KeyedCall(ctx context.Context, id string) (idempotency.Call, error) {
	if err := f.step(ctx); err != nil {
		return idempotency.Call{}, err
	}
	return f.Store.KeyedCall(ctx, id)
}

func (f *faulty) SaveKeyedCalls(ctx context.Context, calls ...idempotency.Call) (int64, error) {
	if f.mute.Load() && calls[0].Charged && calls[0].Repeats == 0 {
		return 0, storage.ErrUnavailable
	}
	if err := f.step(ctx); err != nil {
		return 0, err
	}
	return f.Store.SaveKeyedCalls(ctx, calls...)
}

func TestKillBeforeTheNoteChargesOnceMoreAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		killed := &faulty{Store: s}
		killed.mute.Store(true)
		k := New(killed, free)
		first := try(t, k, call("k"), 1)
		if err := k.Close(t.Context()); err == nil {
			t.Error("Close() = nil, although it is not stored that a call was charged")
		}
		if next := try(t, newKeeper(t, s), call("k"), 1+free); first != 1 || next != 1 {
			t.Errorf("charged %d times before and %d times after, want 1 and 1", first, next)
		}
	})
}

func TestNotesThatTheStoreRefusedAreStoredLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{Store: newStore(t)}
		f.mute.Store(true)
		k := newKeeper(t, f)
		for i := range 3 * notesStep {
			try(t, k, call(fmt.Sprint(i)), 1)
		}
		synctest.Wait() // all were refused
		f.mute.Store(false)
		time.Sleep(notesPause)
		synctest.Wait()
		began := time.Now()
		for i := range 3 * notesStep {
			if try(t, k, call(fmt.Sprint(i)), 1) != 0 {
				t.Fatalf("call %d was charged again", i)
			}
		}
		if time.Since(began) > 0 {
			t.Error("a repetition waited, although the charge was noted")
		}
	})
}

func TestCloseStoresWhatWasChargedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		for node := range 20 {
			k := New(s, free)
			synctest.Wait()
			for i := range notesStep + 1 {
				try(t, k, call(fmt.Sprint(node, i)), 1)
			}
			if err := k.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range notesStep + 1 {
				id := call(fmt.Sprint(node, i))
				if c, err := s.KeyedCall(t.Context(), id.id()); err != nil || !c.Charged {
					t.Fatalf("node %d: call %d is %+v, %v", node, i, c, err)
				}
			}
		}
	})
}

// One that another process has taken over meanwhile must not keep the others from being noted.
func TestNoteThatIsTooLateHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		f := &faulty{Store: s}
		f.mute.Store(true)
		slow := newKeeper(t, f)
		try(t, slow, call("a"), 1)
		try(t, slow, call("b"), 1)
		if try(t, newKeeper(t, s), call("a"), 1) != 1 {
			t.Fatal("the call was not taken over")
		}
		synctest.Wait()
		f.mute.Store(false)
		time.Sleep(notesPause)
		synctest.Wait()
		began := time.Now()
		if try(t, slow, call("b"), 1) != 0 || time.Since(began) > 0 {
			t.Error("the other call was not noted")
		}
	})
}

func TestStoreThatIsAwayChargesEveryAttemptAndIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{Store: newStore(t)}
		k := newKeeper(t, f)
		f.fail.Store(true)
		if got := try(t, k, call("k"), 5); got != 5 || f.steps.Load() != 1 {
			t.Errorf("%d charges and %d steps, want 5 and 1", got, f.steps.Load())
		}
		time.Sleep(stepLimit)
		f.fail.Store(false)
		f.hang.Store(true)
		began := time.Now()
		if got := try(t, k, call("k"), 5); got != 5 || time.Since(began) != stepLimit {
			t.Errorf("%d charges after %v, want 5 after %v", got, time.Since(began), stepLimit)
		}
		if _, unknown := k.Stats(); unknown != 10 {
			t.Errorf("%d unknown, want 10", unknown)
		}
		time.Sleep(stepLimit)
		f.hang.Store(false)
		if got := try(t, k, call("k"), 2); got != 1 {
			t.Errorf("%d charges with the store back, want 1", got)
		}
	})
}

func TestFullMemoryChargesAndKeepsWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		k := newKeeper(t, s)
		k.accounts.Put("app", newBudget(2, time.Now()))
		if got := try(t, k, call("a"), 2) + try(t, k, call("b"), 2); got != 2 {
			t.Errorf("%d charges of two calls, want 2", got)
		}
		if got := try(t, k, call("c"), 3); got != 3 {
			t.Errorf("beyond the budget: %d charges, want 3", got)
		}
		if got := try(t, k, call("a"), 1); got != 0 {
			t.Errorf("what is remembered: %d charges, want 0", got)
		}
		if _, err := s.KeyedCall(t.Context(),
			(&Call{Account: "app", Product: "ai", Key: "c", Method: "POST", Path: "/ai/x"}).id()); !errors.Is(err,
			storage.ErrNotFound) {
			t.Errorf("KeyedCall() = %v, want nothing stored beyond the budget", err)
		}
		other := call("c")
		other.Account = "other"
		if got := try(t, k, other, 2); got != 1 {
			t.Errorf("of another account: %d charges, want 1", got)
		}
		time.Sleep(Life / 2)
		if got := try(t, k, call("c"), 2); got != 1 {
			t.Errorf("half a day later: %d charges, want 1", got)
		}
		k.all = newBudget(0, time.Now())
		other.Key = "d"
		if got := try(t, k, other, 2); got != 2 {
			t.Errorf("beyond the budget of all: %d charges, want 2", got)
		}
	})
}
