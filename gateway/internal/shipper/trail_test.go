package shipper_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// follow runs a follower of the trail until the function it returns is called.
func follow(t *testing.T, store shipper.TrailStore, c stream.Config,
	log *slog.Logger) (f *shipper.Follower, stop func()) {
	t.Helper()
	if err := shipper.Check(&c); err != nil {
		t.Fatal(err)
	}
	f = shipper.FollowTrail(store, c, nil, log)
	return f, run(f)
}

func run(f *shipper.Follower) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { f.Run(ctx) })
	return func() { cancel(); work.Wait() }
}

func TestConsumerGetsTheTrailToTheLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := newOffice(t), &bucket{}
		f, stop := follow(t, o, stream.Config{Target: k, MaxBytes: 2000}, quiet)
		defer stop()
		for range 5 {
			o.write(t, 40)
			o.reopen(t)
			pass(3 * time.Second)
		}
		pass(time.Minute)
		o.same(t, k)
		if s := f.Stats(); s.Behind != 0 || s.Age != 0 || s.Lines != uint64(len(o.all(t))) || s.Err != nil {
			t.Errorf("at the end its state is %+v", s)
		}
		if len(k.keys()) < 10 || k.tries() != len(k.keys()) {
			t.Errorf("%d batches in %d puts: batches end at 2000 bytes, and none comes twice without a reason", len(k.keys()),
				k.tries())
		}
		first := k.keys()[0]
		if want := o.all(t)[0].At.UTC().Format("audit/2006/01/02/15") + "-000000000001-"; !strings.HasPrefix(first, want) {
			t.Errorf("the first batch is %s, want %s...", first, want)
		}
	})
}

func TestLinesWaitForOthersAsLongAsTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := newOffice(t), &bucket{}
		_, stop := follow(t, o, stream.Config{Target: k, MaxAge: time.Minute}, quiet)
		defer stop()
		for range 5 {
			o.write(t, 3)
			pass(10 * time.Second)
		}
		if len(k.keys()) != 0 {
			t.Errorf("after 50 s there is %q", k.keys())
		}
		pass(25 * time.Second)
		if len(k.keys()) != 1 {
			t.Errorf("after 75 s there is %q, want one batch", k.keys())
		}
	})
}

// faulty is a store whose writes of positions fail, before they are done or behind it.
type faulty struct {
	*storage.Store
	fail func() (done bool, err error)
}

func (f *faulty) SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error) {
	done, err := f.fail()
	if err != nil && !done {
		return at, err
	}
	saved, failed := f.Store.SaveStream(ctx, at)
	if err != nil {
		return at, err
	}
	return saved, failed
}

// Calls fail and processes end anywhere, and the target gets the whole trail, in order, with equal
// repetitions.
func TestTrailStreamMissesNothingWhateverFails(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { failAnywhere(t, newDice(seed)) })
		})
	}
}

func failAnywhere(t *testing.T, dice *rand.Rand) {
	o, k := newOffice(t), &bucket{}
	var mu sync.Mutex
	calm := false
	fate := func() (done bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		if calm || dice.IntN(3) > 0 {
			return true, nil
		}
		return dice.IntN(2) == 0, errAway
	}
	k.fail = func(stream.Batch) (bool, error) { return fate() }
	c := stream.Config{Target: k, MaxBytes: 500 + dice.IntN(3000), MaxAge: time.Duration(dice.IntN(2)) * 20 * time.Second}
	for range 12 {
		var stops []func()
		for range 1 + dice.IntN(2) { // one process, or two that do not know of each other
			_, stop := follow(t, &faulty{o.Store, fate}, c, quiet)
			stops = append(stops, stop)
		}
		o.write(t, dice.IntN(30))
		pass(time.Duration(dice.IntN(40_000)) * time.Millisecond)
		for _, stop := range stops {
			stop() // it ends wherever it is: amid a batch, or before the position is kept
		}
		if dice.IntN(3) == 0 {
			o.reopen(t)
		}
	}
	mu.Lock()
	calm = true
	mu.Unlock()
	_, stop := follow(t, o.Store, c, quiet)
	pass(5 * time.Minute)
	stop()
	o.same(t, k)
	if len(k.altered()) > 0 {
		t.Errorf("%q came twice with other bytes", k.altered())
	}
	if k.tries() == len(k.keys()) {
		t.Error("nothing came twice: the test does not try what it should")
	}
}

// A process is killed between the answer of the target and the keeping of the position: here the
// position cannot be kept any more, and another process takes over.
func TestKillBetweenThePutAndThePositionRepeatsTheSameBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := newOffice(t), &bucket{}
		o.write(t, 20)
		saves := 0
		dies := &faulty{o.Store, func() (bool, error) {
			if saves++; saves > 1 { // the first keeps the end of the batch
				return false, errAway
			}
			return true, nil
		}}
		_, stop := follow(t, dies, stream.Config{Target: k}, quiet)
		pass(500 * time.Millisecond)
		stop()
		if len(k.keys()) != 1 {
			t.Fatalf("before the kill there is %q", k.keys())
		}
		o.write(t, 20) // more records than the batch had
		_, stop = follow(t, o, stream.Config{Target: k, MaxAge: time.Minute}, quiet)
		pass(2 * time.Minute)
		stop()
		o.same(t, k)
		if len(k.altered()) > 0 || k.tries() != 3 || len(k.keys()) != 2 {
			t.Errorf("%d puts made %q, changed %q: want the first batch again as it was, then the others", k.tries(), k.keys(),
				k.altered())
		}
	})
}

// shared is a store that several processes write to.
type shared struct{ driver.Backend }

func (shared) Listen(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }

func TestShippingIsDoneByOneNodeAndTheOtherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		first, second := &bucket{}, &bucket{} // one place, looked at from each node
		a, b := openStore(t, shared{o.backend}, o.key), openStore(t, shared{o.backend}, o.key)
		fa, stopA := follow(t, a, stream.Config{Target: first}, quiet)
		pass(time.Second)
		fb, stopB := follow(t, b, stream.Config{Target: second}, quiet)
		defer stopB()
		for range 20 {
			o.write(t, 5)
			pass(7 * time.Second)
		}
		if first.tries() == 0 || second.tries() != 0 {
			t.Fatalf("the first node shipped %d batches, the second %d: want one of them to ship", first.tries(), second.tries())
		}
		first.failing(func(stream.Batch) (bool, error) { return false, errAway }) // the node loses its network
		o.write(t, 5)
		pass(time.Minute)
		if second.tries() == 0 {
			t.Error("the other node does not take over from one that cannot get there")
		}
		stopA()
		o.write(t, 5)
		pass(time.Minute)
		whole := first.with(second)
		o.same(t, whole)
		if fa.Stats().Failed == 0 || fb.Stats().Behind != 0 {
			t.Errorf("the nodes say %+v and %+v", fa.Stats(), fb.Stats())
		}
	})
}

// slow is a bucket that takes its time.
type slow struct{ *bucket }

func (s slow) Put(ctx context.Context, b stream.Batch) error {
	time.Sleep(time.Second)
	return s.bucket.Put(ctx, b)
}

// Two processes that ship at once, as when one was paused and woke, are no failure of either.
func TestTrailStreamAcceptsThatAnotherWasFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, said := newOffice(t), &bucket{}, &record{}
		for range 2 { // the store is not shared, so both take themselves for alone
			_, stop := follow(t, o, stream.Config{Target: slow{k}}, slog.New(said))
			defer stop()
		}
		for range 10 {
			o.write(t, 10)
			pass(5 * time.Second)
		}
		o.same(t, k)
		if k.tries() == len(k.keys()) {
			t.Error("they never shipped the same: the test does not try what it should")
		}
		if said.count("ERROR") > 0 {
			t.Errorf("the log says %q", said.said)
		}
	})
}

// record is a slog.Handler that keeps the messages.
type record struct {
	mu   sync.Mutex
	said []string
}

func (r *record) Enabled(context.Context, slog.Level) bool { return true }
func (r *record) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *record) WithGroup(string) slog.Handler            { return r }
func (r *record) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, rec.Level.String()+" "+rec.Message)
	return nil
}

func (r *record) count(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.said {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

func TestTargetThatIsAwayIsSaidOnceAndTriedMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, said := newOffice(t), &bucket{}, &record{}
		n := 0
		k.failing(func(stream.Batch) (bool, error) { n++; return false, fmt.Errorf("attempt %d: %w", n, errAway) })
		f, stop := follow(t, o, stream.Config{Target: k, MaxBytes: 1000}, slog.New(said))
		defer stop()
		for range 60 {
			o.write(t, 10)
			pass(time.Minute)
		}
		if got := said.count("records are not shipped"); got != 1 {
			t.Errorf("in an hour it was said %d times", got)
		}
		if k.tries() < 50 || k.tries() > 75 {
			t.Errorf("in an hour it was tried %d times", k.tries())
		}
		s := f.Stats()
		if s.Behind != uint64(len(o.all(t))) || s.Age < 59*time.Minute || s.Age > 61*time.Minute ||
			!errors.Is(s.Err, errAway) || s.Failed != uint64(k.tries()) {
			t.Errorf("it says %+v", s)
		}
		k.failing(nil)
		pass(2 * time.Minute)
		o.same(t, k)
		if s := f.Stats(); s.Behind != 0 || s.Age != 0 || s.Err != nil {
			t.Errorf("at the end it says %+v", s)
		}
		if said.count("records are shipped again") != 1 {
			t.Error("it is not said that it works again")
		}
		k.failing(func(stream.Batch) (bool, error) { return false, errAway })
		o.write(t, 1)
		pass(time.Minute)
		if got := said.count("records are not shipped"); got != 2 {
			t.Errorf("the next failure makes it %d times, want 2", got)
		}
	})
}

func TestTrailStreamReportsWhatWasRemovedUnshipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, said := newOffice(t), &bucket{}, &record{}
		o.write(t, 30)
		pass(time.Hour)
		prune(t, o, time.Now()) // before anything was shipped
		begun := o.all(t)[0].Seq
		_, stop := follow(t, o, stream.Config{Target: k, MaxAge: time.Second}, slog.New(said))
		pass(10 * time.Second)
		stop()
		o.write(t, 30)
		pass(time.Hour)
		prune(t, o, time.Now())
		resumed := o.all(t)[0].Seq
		o.write(t, 30)
		_, stop = follow(t, o, stream.Config{Target: k, MaxAge: time.Second}, slog.New(said))
		defer stop()
		pass(10 * time.Second)
		var gaps []string
		before := uint64(0)
		for _, l := range k.lines(t) {
			switch {
			case l.Stream == "audit.gap":
				gaps = append(gaps, fmt.Sprintf("%d-%d", l.First, l.Last))
				if l.First != before+1 {
					t.Errorf("a gap begins at %d behind %d", l.First, before)
				}
				before = l.Last
			case l.Seq != before+1:
				t.Errorf("Seq %d follows %d without a word", l.Seq, before)
			default:
				before = l.Seq
			}
		}
		if want := []string{fmt.Sprintf("1-%d", begun-1), fmt.Sprintf("%d-%d", begun+1,
			resumed-1)}; fmt.Sprint(gaps) != fmt.Sprint(want) {
			t.Errorf("the stream has the gaps %q, want %q", gaps, want)
		}
		if said.count("INFO the stream of audit records begins behind") != 1 ||
			said.count("ERROR audit records were removed before they were shipped") != 1 {
			t.Errorf("the log says %q", said.said)
		}
	})
}

func prune(t *testing.T, o *office, before time.Time) {
	t.Helper()
	plan, err := audit.PlanPrune(t.Context(), o, audit.Limits{Now: before, Before: before})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := plan.Do(t.Context(), o, before); err != nil || n == 0 {
		t.Fatalf("%d records were removed: %v", n, err)
	}
}

// Foreign bytes in the store are shipped, as one line that passes for no other.
func TestRecordThatIsNoneIsOneLineAllTheSame(t *testing.T) {
	for _, data := range []string{
		"", "{}", "null", "not JSON", "{\"a\":1}\n{\"stream\":\"usage\"}", `{"stream":"usage"}`, `{"a":1,"seq":7}`, `{"\u0069d":"7-x"}`, `{"a":{"id":1},"ID":"x"}`, `{"a":1}x`, "{\"a\":1,\n\"b\":2}",
	} {
		synctest.Test(t, func(t *testing.T) {
			o, k := newOffice(t), &bucket{}
			if err := o.Append(t.Context(), driver.Record{At: time.Now(), Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
			_, stop := follow(t, o, stream.Config{Target: k}, quiet)
			defer stop()
			pass(10 * time.Second)
			all := k.lines(t)
			if len(all) != 2 || all[1].Seq != 2 || all[1].Stream != stream.Audit || !strings.Contains(all[1].text, `"damaged":"`) {
				t.Errorf("%q became %v", data, all)
			}
		})
	}
}

func TestStoreThatWasPutBackIsShippedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, said := newOffice(t), &bucket{}, &record{}
		o.write(t, 3)
		at, err := o.SaveStream(t.Context(), shipping.Position{Name: "audit bucket", Through: 2, Hash: "of another record"})
		if err != nil {
			t.Fatal(err)
		}
		_, stop := follow(t, o, stream.Config{Target: k}, slog.New(said))
		pass(10 * time.Second)
		stop()
		o.same(t, k)
		if said.count("is not the one that was shipped") != 1 {
			t.Errorf("the log says %q", said.said)
		}
		if at, err = o.Stream(t.Context(), at.Name); err != nil {
			t.Fatal(err)
		}
		at.Through += 1000 // as of a store that had more
		if _, err := o.SaveStream(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		o.write(t, 3)
		_, stop = follow(t, o, stream.Config{Target: k}, slog.New(said))
		defer stop()
		pass(10 * time.Second)
		o.same(t, k)
		if said.count("is not the one that was shipped") != 2 {
			t.Errorf("the log says %q", said.said)
		}
	})
}
