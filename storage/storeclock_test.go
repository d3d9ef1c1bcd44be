package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/nodes"
)

// line leads to a store with a clock of its own, which is that of the bubble.
type line struct {
	driver.Backend
	slow time.Duration // what a question, and an answer, mostly take at most

	mu    sync.Mutex
	drawn *rand.Rand
	away  bool
}

func (l *line) Listen(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }

var errAway = errors.New("the line is cut")

func (l *line) Now(context.Context) (time.Time, error) {
	there, back, away := l.draw()
	if away {
		return time.Time{}, errAway
	}
	time.Sleep(there)
	defer time.Sleep(back)
	return time.Now().Truncate(time.Microsecond), nil
}

// draw returns how long a question and its answer take: sometimes a tenth of a second.
func (l *line) draw() (there, back time.Duration, away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := func() time.Duration {
		if l.drawn.IntN(50) == 0 {
			return time.Duration(l.drawn.Int64N(int64(100 * time.Millisecond)))
		}
		return time.Duration(l.drawn.Int64N(int64(l.slow)))
	}
	return one(), one(), l.away
}

func (l *line) cut(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
}

// machine is one whose clock somebody sets, and whose time runs a little fast or slow.
type machine struct {
	mu     sync.Mutex
	began  time.Time
	offset time.Duration // of its clock
	rate   time.Duration // by which it gains in a second
}

func (m *machine) read() (wall time.Time, ran time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ran = time.Since(m.began)
	return time.Now().Add(m.offset).Round(0), ran + time.Duration(ran.Seconds()*float64(m.rate))
}

func (m *machine) set(offset time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset = offset
}

func startNode(t *testing.T, s driver.Backend, key storage.MasterKey, m *machine) *storage.Store {
	t.Helper()
	m.began = time.Now()
	n, err := storage.OpenOn(t.Context(), s, m.read, key)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// act is something that happened to what a user had granted, and when.
type act struct {
	began, ended time.Time
	at           time.Time // of a grant; of an end, what it ends everything before
}

// history has the acts on one user, application or consent.
type history struct {
	mu           sync.Mutex
	grants, ends []act
}

func (h *history) check(t *testing.T, name string) {
	for _, e := range h.ends {
		for _, g := range h.grants {
			switch {
			case g.ended.Before(e.began) && !g.at.Before(e.at):
				t.Errorf("%s: what was granted until %v (dated %v) outlives what ended it from %v on (before %v)", name, g.ended,
					g.at, e.began, e.at)
				return
			case e.ended.Before(g.began) && g.at.Before(e.at):
				t.Errorf("%s: what was granted from %v on (dated %v) is ended by what had ended by %v (before %v)", name, g.began,
					g.at, e.ended, e.at)
				return
			}
		}
	}
}

// A grant that is made at any node before a session ends is ended by that, and one that is made after it is not,
// whatever the clocks of the nodes say.
func TestSessionEndedAtOneNodeIsEndedAtAll(t *testing.T) {
	acts := 100_000
	if testing.Short() {
		acts = 5_000
	}
	for _, n := range []int{2, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			synctest.Test(t, func(t *testing.T) { interleave(t, n, acts/2/n, seed) })
		})
	}
}

func interleave(t *testing.T, n, acts int, seed uint64) {
	store := memory.New()
	key := storage.NewMasterKey()
	stories := map[string]*history{}
	var about []driver.Revocation
	for i := range 5 {
		for _, r := range []driver.Revocation{
			{Kind: driver.RevokeUser, ID: fmt.Sprint("u", i)}, {Kind: driver.RevokeApp, ID: fmt.Sprint("a", i)},
			{Kind: driver.RevokeConsent, ID: driver.ConsentID("a0", fmt.Sprint("u", i))},
		} {
			about, stories[r.Kind+r.ID] = append(about, r), &history{}
		}
	}
	var work sync.WaitGroup
	for i := range n {
		drawn := rand.New(rand.NewPCG(seed, uint64(i)+1))
		m := &machine{rate: time.Duration(drawn.IntN(400)-200) * time.Microsecond}
		m.set(time.Duration(drawn.IntN(120)-60) * time.Second)
		// One node is near the store and the others further and further away.
		s := &line{Backend: store, slow: time.Duration(1+30*i) * time.Millisecond,
			drawn: rand.New(rand.NewPCG(seed, uint64(i)+100))}
		node := startNode(t, s, key, m)
		beat, beats := nodes.Beat{ID: fmt.Sprint("n", i), Ends: time.Now().Add(1000 * time.Hour)}, 0
		turn := func() {
			node.AskClock(t.Context())
			var err error
			if beat, err = node.SaveBeat(t.Context(), beat); err != nil {
				t.Error(err)
			}
			if _, err := node.Beats(t.Context()); err != nil {
				t.Error(err)
			}
			beats++
		}
		turn()
		work.Go(func() {
			time.Sleep(time.Second) // every node has beaten
			turn()
			next := time.Now()
			for range acts {
				if time.Now().After(next) {
					next = time.Now().Add(2 * time.Second)
					turn()
				}
				switch drawn.IntN(100) {
				case 0:
					m.set(time.Duration(drawn.IntN(120)-60) * time.Second)
				case 1:
					m.set(0)
				case 2:
					s.cut(drawn.IntN(4) == 0)
				case 3:
					time.Sleep(time.Duration(drawn.IntN(5000)) * time.Millisecond)
				case 4:
					node.Revocations(t.Context(), 0, driver.Page)
				}
				r := about[drawn.IntN(len(about))]
				h := stories[r.Kind+r.ID]
				a := act{began: time.Now()}
				ends := drawn.IntN(3) == 0
				if ends {
					dated, err := node.RevokeDated(t.Context(), r)
					if errors.Is(err, errAway) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					a.at = dated[0].Before
				} else {
					a.at = node.Later(time.Now())
				}
				a.ended = time.Now()
				h.mu.Lock()
				if ends {
					h.ends = append(h.ends, a)
				} else {
					h.grants = append(h.grants, a)
				}
				h.mu.Unlock()
				time.Sleep(time.Duration(drawn.IntN(1000)) * time.Microsecond)
			}
		})
	}
	work.Wait()
	grants, ends := 0, 0
	for name, h := range stories {
		h.check(t, name)
		grants, ends = grants+len(h.grants), ends+len(h.ends)
	}
	t.Logf("%d grants and %d ends", grants, ends)
	if grants == 0 || ends == 0 {
		t.Error("nothing was tried")
	}
}

// A machine's clock may be some seconds from the store's. Then codes and sessions end at the wrong time there: the node
// is not ready, and from a minute on it grants nothing. It says so once, and goes on by itself.
func TestNodeWhoseClockIsFarFromTheStoresSaysSo(t *testing.T) {
	for _, sign := range []time.Duration{1, -1} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{Backend: memory.New(), slow: time.Millisecond, drawn: rand.New(rand.NewPCG(1, 2))}
			m := &machine{}
			n := startNode(t, l, storage.NewMasterKey(), m)
			ctx, end := context.WithCancel(t.Context())
			var said []error
			var mu sync.Mutex
			var sweeping sync.WaitGroup
			sweeping.Go(func() {
				n.SweepEvery(ctx, time.Minute, func(err error) { mu.Lock(); defer mu.Unlock(); said = append(said, err) })
			})
			grant := func() error {
				return n.Issue(t.Context(), driver.Token{Key: driver.Key{0: byte(rand.IntN(256)), 9: byte(rand.IntN(256))},
					Grant: "g", ExpiresAt: time.Now().Add(time.Hour)})
			}
			for _, c := range []struct {
				apart         time.Duration
				ready, grants bool
			}{{0, true, true}, {4 * time.Second, true, true}, {6 * time.Second, false, true}, {59 * time.Second, false, true},
				{61 * time.Second, false, false}, {400 * 24 * time.Hour, false, false}, {0, true, true}} {
				m.set(sign * c.apart)
				if err := n.Ready(t.Context()); (err == nil) != c.ready || err != nil && !errors.Is(err, storage.ErrClock) {
					t.Errorf("%v apart: ready: %v", sign*c.apart, err)
				}
				if err := n.ClockErr(); (err == nil) != c.ready {
					t.Errorf("%v apart: the clock: %v", sign*c.apart, err)
				}
				if err := grant(); (err == nil) != c.grants || err != nil && !errors.Is(err, storage.ErrUnavailable) {
					t.Errorf("%v apart: a grant: %v", sign*c.apart, err)
				}
				if err := n.MayGrant(); (err == nil) != c.grants {
					t.Errorf("%v apart: it may grant: %v", sign*c.apart, err)
				}
				time.Sleep(10 * time.Second)
			}
			end()
			sweeping.Wait()
			if len(said) != 1 || !errors.Is(said[0], storage.ErrClock) {
				t.Errorf("it says %v", said)
			}
		})
	}
}

// A time that a caller says is by the clock of the machine, as everything is that a host writes down.
func TestTimeOfTheMachineIsBroughtToTheStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{Backend: memory.New(), slow: time.Millisecond, drawn: rand.New(rand.NewPCG(1, 2))}
		m := &machine{}
		n := startNode(t, l, storage.NewMasterKey(), m)
		m.set(-50 * time.Second)
		granted := n.Later(time.Now())
		wall, _ := m.read()
		dated, err := n.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u",
			Before: wall.Add(time.Minute), Until: wall.Add(time.Hour)})
		if err != nil || !granted.Before(dated[0].Before) {
			t.Fatalf("what was granted at %v is not ended: %v, %v", granted, dated, err)
		}
		for what, off := range map[string]time.Duration{"Before": dated[0].Before.Sub(time.Now().Add(time.Minute)),
			"Until": dated[0].Until.Sub(time.Now().Add(time.Hour))} {
			if off.Abs() > time.Second {
				t.Errorf("%s is %v off", what, off)
			}
		}
		if err := n.RestoreRevocations(t.Context(), dated...); err != nil {
			t.Fatal(err)
		}
		if all, err := n.Revocations(t.Context(), 0, 9); err != nil || len(all) != 1 ||
			!all[0].Before.Equal(dated[0].Before) || !all[0].Until.Equal(dated[0].Until) {
			t.Errorf("what is stored again has changed: %v, %v", all, err)
		}
	})
}
