package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/nodes"
)

// in runs a test with a clock of its own. Goroutines that outlive it fail it.
func in(t *testing.T, f func(t *testing.T, c *cluster)) {
	synctest.Test(t, func(t *testing.T) { f(t, newCluster(t)) })
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestNodesKnowEachOtherWithinABeat(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		c.want(2, "the second, at once", b)
		pass(beat)
		c.want(2, "a beat later", a, b)
		all := []*process{a, b, c.join("c"), c.join("d"), c.join("e")}
		pass(beat)
		c.want(5, "five", all...)
	})
}

func TestNodeThatLeavesIsGoneWithTheNextBeat(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b, gone := c.join("a"), c.join("b"), c.join("c")
		pass(beat)
		if err := gone.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(beat)
		c.want(2, "after it left", a, b)
		list, err := a.List(t.Context())
		if err != nil || len(list) != 2 {
			t.Errorf("listed: %v, %v", list, err)
		}
	})
}

func TestNodeThatDiedIsGoneAfterThreeBeats(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		pass(10 * beat)
		b.dies()
		pass(2 * beat)
		c.want(2, "after two beats that did not come", a)
		pass(3 * beat)
		c.want(1, "after four", a)
		list, err := a.List(t.Context())
		if err != nil || len(list) != 2 || list[1].Name != "b" || list[1].Live || list[1].Age < 8*time.Second ||
			!list[0].Live || !list[0].Self || list[1].Self {
			t.Errorf("listed: %+v, %v", list, err)
		}
		b.wakes()
		pass(2 * beat)
		c.want(2, "once it beats again, as after a pause", a, b)
	})
}

// The times that a node writes are those of its clock.
func TestClocksOfOtherNodesDoNotMatter(t *testing.T) {
	for _, off := range []time.Duration{-30 * time.Second, 30 * time.Second, -24 * time.Hour} {
		in(t, func(t *testing.T, c *cluster) {
			a, other := c.join("a"), c.process()
			saved := nodes.Beat{ID: "other", Name: "other", Every: beat, Ends: time.Now().Add(off)}
			for range 20 {
				now := time.Now().Add(off)
				saved.At, saved.Ends = now, now.Add(10*time.Minute)
				var err error
				if saved, err = other.store.SaveBeat(t.Context(), saved); err != nil {
					t.Fatal(err)
				}
				pass(beat)
				c.want(2, fmt.Sprintf("while a clock is %s off", off), a)
			}
			pass(4 * beat)
			c.want(1, "when it has ended", a)
		})
	}
}

func TestNodeNumberStaysWhileTheStoreIsAway(t *testing.T) {
	for _, how := range []string{"fails", "hangs", "fails for a short time"} {
		in(t, func(t *testing.T, c *cluster) {
			all := []*process{c.join("a"), c.join("b"), c.join("c")}
			pass(5 * beat)
			release := make(chan struct{})
			for _, p := range all {
				p.link.set(func(l *link) {
					if how == "hangs" {
						l.hang = release
					} else {
						l.fail = errAway
					}
				})
			}
			for range map[bool]int{true: 1, false: 40}[how == "fails for a short time"] {
				pass(30 * time.Second)
				c.want(3, "while the store "+how, all...)
			}
			if _, err := c.process().store.Sweep(t.Context(), time.Now()); err != nil { // if it was long, their beats have ended
				t.Fatal(err)
			}
			close(release)
			for i, p := range all { // they come back one by one, a second apart
				p.link.set(func(l *link) { l.fail, l.hang = nil, nil })
				for range 10 {
					pass(100 * time.Millisecond)
					c.want(3, fmt.Sprintf("when %d are back", i+1), all...)
				}
			}
			for range 20 {
				pass(beat)
				c.want(3, "when all are back", all...)
			}
			for i, p := range all {
				if how != "hangs" && (strings.Count(p.log.String(), "stays as it was") != 1 ||
					strings.Count(p.log.String(), "told again") != 1) {
					t.Errorf("node %d has logged %s", i, p.log)
				}
			}
			all[2].dies()
			pass(5 * beat)
			c.want(2, "when one of them dies afterwards", all[:2]...)
		})
	}
}

// One that died while nobody could see it is noticed afterwards.
func TestNodeThatDiedWhileTheStoreWasAwayIsNoticed(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b, dead := c.join("a"), c.join("b"), c.join("c")
		pass(beat)
		for _, p := range []*process{a, b, dead} {
			p.dies()
		}
		pass(time.Hour)
		if _, err := c.process().store.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		a.wakes()
		b.wakes()
		pass(2 * beat)
		c.want(3, "at first it has its three beats", a, b)
		pass(4 * beat)
		c.want(2, "then it is gone", a, b)
	})
}

// A server whose standby is gone answers reads and lets commits wait.
func TestNodeWhoseWritesFailIsNotTakenForDead(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		pass(beat)
		frozen := &frozen{a.link, make(chan struct{})}
		store, err := storage.Open(t.Context(), frozen, c.key)
		if err != nil {
			t.Fatal(err)
		}
		d, err := nodes.Join(t.Context(), nodes.Config{Store: store, Name: "d", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close(t.Context())
		pass(beat)
		close(frozen.commits)
		a.dies()
		b.dies()
		pass(time.Minute)
		if n := d.Live(); n != 3 {
			t.Errorf("it counts %d, want 3", n)
		}
	})
}

// frozen waits with every write once commits is closed.
type frozen struct {
	*link
	commits chan struct{}
}

func (f *frozen) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	return f.Backend.List(ctx, kind, span, n)
}

func (f *frozen) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	select {
	case <-f.commits:
		<-ctx.Done()
		return 0, ctx.Err()
	default:
		return f.Backend.Put(ctx, docs...)
	}
}

func TestBeatThatWasLostOrWhoseAnswerWasIsWrittenAnew(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		pass(beat)
		a.link.set(func(l *link) { l.lose = true })
		pass(3 * beat)
		c.want(2, "after an answer that was lost", a, b)
		mine, err := a.store.Beat(t.Context(), a.ID())
		if err == nil {
			err = a.store.RemoveBeat(t.Context(), mine)
		}
		if err != nil {
			t.Fatal(err)
		}
		pass(2 * beat)
		c.want(2, "after the store has lost a beat", a, b)
		a.link.set(func(l *link) { l.lose = true })
		pass(beat)
		a.Close(t.Context())
		if _, err := b.store.Beat(t.Context(), a.ID()); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after Close its beat is there: %v", err)
		}
	})
}

// All nodes together write no more than fifty do.
func TestHeartbeatSlowsDownWithManyNodes(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		var all []*process
		for i := range 200 {
			all = append(all, c.join(fmt.Sprint(i)))
		}
		pass(20 * time.Second)
		writes := 0
		for _, p := range all {
			p.link.set(func(l *link) { l.puts = 0 })
		}
		for range 16 {
			pass(time.Second)
			c.want(200, "two hundred", all[0], all[100], all[199])
		}
		for _, p := range all {
			p.link.set(func(l *link) { writes += l.puts })
		}
		if writes < 16*20 || writes > 16*26 {
			t.Errorf("200 nodes wrote %d times in 16 s, want about 25 a second", writes)
		}
		for _, p := range all[50:] {
			p.dies()
		}
		pass(45 * time.Second)
		c.want(50, "when most have died", all[:5]...)
	})
}

func TestStoreOfOneProcessIsNotWrittenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		defer backend.Close()
		store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		n, err := nodes.Join(t.Context(), nodes.Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		list, err := n.List(t.Context())
		if err != nil || n.Live() != 1 || len(list) != 1 || !list[0].Self || !list[0].Live || list[0].Name == "" {
			t.Errorf("it counts %d and lists %+v, %v", n.Live(), list, err)
		}
		if stored, err := store.Beats(t.Context()); err != nil || len(stored) > 0 {
			t.Errorf("it has written %+v, %v", stored, err)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestJoiningAStoreThatIsAwayIsAnError(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		p := c.process()
		p.dies()
		if _, err := nodes.Join(t.Context(), nodes.Config{Store: p.store}); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Join = %v", err)
		}
		if _, err := nodes.Join(t.Context(), nodes.Config{}); err == nil {
			t.Error("without a Store it joins")
		}
	})
}

// No goroutine outlives Close, or the bubble would not end.
func TestCloseEndsWhileTheStoreHangs(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a := c.join("a")
		pass(beat)
		release := make(chan struct{})
		defer close(release)
		a.link.set(func(l *link) { l.hang = release })
		pass(beat)
		began := time.Now()
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("Close took %s", took)
		}
		if err := a.Close(t.Context()); err != nil { // again
			t.Error(err)
		}
		if !strings.Contains(a.log.String(), "could not be told") {
			t.Errorf("it has logged %s", a.log)
		}
	})
}

func TestTextsOfAnyKindAreNames(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		for _, name := range []string{"", strings.Repeat("ä", 500), "\xff\xfe", "a\x1fb"} {
			a := c.join(name)
			list, err := a.List(t.Context())
			i := slices.IndexFunc(list, func(i nodes.Info) bool { return i.Self })
			if err != nil || i < 0 || len(list[i].Name) > 256 || list[i].Name == "" && name == "" {
				t.Errorf("%q: %+v, %v", name, list, err)
			}
			a.Close(t.Context())
		}
	})
}

// A mere observer learns by watching which nodes live: no clock is compared.
func TestLookFindsOutWhichNodesLive(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		pass(beat)
		looker := c.process()
		look := func() (names string, took time.Duration) {
			began := time.Now()
			list, err := nodes.Look(t.Context(), looker.store)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range list {
				names += fmt.Sprintf("%s %t %t ", i.Name, i.Live, i.Self)
			}
			return names, time.Since(began)
		}
		if names, took := look(); names != "a true false b true false " || took > beat+time.Second {
			t.Errorf("it finds %s in %s", names, took)
		}
		b.dies()
		if names, took := look(); names != "a true false b false false " || took > 4*beat {
			t.Errorf("with one dead it finds %s in %s", names, took)
		}
		a.Close(t.Context())
		if names, _ := look(); names != "b false false " {
			t.Errorf("after one has left it finds %s", names)
		}
		if writes := looker.link.puts; writes > 0 {
			t.Errorf("looking made %d writes", writes)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := nodes.Look(ctx, looker.store); err == nil {
			t.Error("it looks on when nobody waits")
		}
		looker.dies()
		if _, err := nodes.Look(t.Context(), looker.store); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("without the store: %v", err)
		}
	})
}

// An index of PostgreSQL holds when a beat ends.
func TestEndOfABeatMovesSeldomAndIsNeverNear(t *testing.T) {
	in(t, func(t *testing.T, c *cluster) {
		a := c.join("a")
		ends := map[time.Time]bool{}
		for range 1800 {
			stored, err := a.store.Beat(t.Context(), a.ID())
			if err != nil {
				t.Fatal(err)
			}
			if left := time.Until(stored.Ends); left < 4*time.Minute || left > 10*time.Minute {
				t.Fatalf("it ends in %s", left)
			}
			ends[stored.Ends] = true
			pass(beat)
		}
		if len(ends) > 13 {
			t.Errorf("in an hour it moved %d times", len(ends))
		}
	})
}
