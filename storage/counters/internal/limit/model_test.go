package limit

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// model is the limiter as one would write it down: every event in a list, every answer by
// looking at all of them. Of what networks are charged it knows the bounds: the latest window
// counts, and nothing that is older by more than an eighth.
type model struct {
	window   time.Duration
	clocks   map[*shard]time.Duration
	own      map[string][]mark
	networks map[netip.Prefix][]mark
	latest   time.Duration // of all networks
	serial   int
}

type mark struct {
	key    string
	at     time.Duration
	serial int
}

// allow answers like Limiter.Allow for a key that has a window of its own.
func (m *model) allow(key string, limit int, asked, now time.Duration) (v Verdict, serial int) {
	switch {
	case limit == Unlimited:
		return Verdict{OK: true, Limit: Unlimited, Remaining: Unlimited}, 0
	case limit <= 0:
		return Verdict{Reset: m.window, RetryAfter: m.window}, 0
	}
	events := slices.DeleteFunc(m.own[key], func(e mark) bool { return e.at <= now-m.window })
	v = Verdict{Limit: limit, OK: len(events) < limit}
	if v.OK {
		m.serial++
		serial = m.serial
		events = append(events, mark{key, now, serial})
		v.Remaining = limit - len(events)
	}
	m.own[key] = events
	for i := range events { // the first whose leaving lets Remaining grow
		if left := len(events) - i - 1; limit-left > v.Remaining {
			v.Reset = events[i].at + m.window - asked
			break
		}
	}
	if !v.OK {
		v.RetryAfter = v.Reset
	}
	return v, serial
}

// check says what is wrong with the answer to a key that is counted by its network, "" if
// nothing is.
func (m *model) check(key string, limit int, asked time.Duration, v Verdict) (wrong string, serial int) {
	m.latest = max(m.latest, asked)
	longest := (m.window + 7) / 8 * 9
	of := networkOf(key)
	events := slices.DeleteFunc(m.networks[of], func(e mark) bool { return e.at <= m.latest-longest })
	surely := 0
	for _, e := range events {
		if e.at > m.latest-m.window {
			surely++
		}
	}
	switch {
	case v.OK && surely >= 4*limit:
		wrong = "admitted over the limit"
	case !v.OK && len(events) < 4*limit:
		wrong = "refused below the limit"
	case v.Reset <= 0 || v.Reset > m.latest-asked+longest:
		wrong = "told to wait for no window's length"
	case v.OK != (v.RetryAfter == 0) || !v.OK && v.RetryAfter != v.Reset:
		wrong = "told two times"
	case v.Limit != limit || v.Remaining < 0 || v.Remaining > min(limit-1, 4*limit-surely-1) && v.OK:
		wrong = "told what there is not"
	}
	if v.OK {
		m.serial++
		serial = m.serial
		events = append(events, mark{key, m.latest, serial})
	}
	m.networks[of] = events
	return wrong, serial
}

func (m *model) cancel(key string, serial int) {
	gone := func(e mark) bool { return e.serial == serial }
	m.own[key] = slices.DeleteFunc(m.own[key], gone)
	of := networkOf(key)
	m.networks[of] = slices.DeleteFunc(m.networks[of], gone)
}

func networkOf(key string) netip.Prefix {
	wider, _, _ := network.Widen(prefixOf(key))
	return wider
}

// trial asks a Limiter and the model the same and compares.
type trial struct {
	*testing.T
	*Limiter
	model    model
	receipts []receipt
	networks int // how often a network answered
	refused  int
}

type receipt struct {
	Receipt
	key    string
	serial int
}

func newTrial(t *testing.T, c Config) *trial {
	c.Client = clientOf
	l := open(t, c)
	return &trial{T: t, Limiter: l, model: model{
		window: time.Duration(l.window), clocks: map[*shard]time.Duration{}, own: map[string][]mark{},
		networks: map[netip.Prefix][]mark{}, latest: -farthest, // the first time may lie before the start
	}}
}

// ask makes one request, at a time after the start, and returns the verdict.
func (tr *trial) ask(key string, limit int, asked time.Duration) Verdict {
	tr.Helper()
	k := tr.identify(key)
	s := tr.shardOf(k)
	now := asked
	if latest, seen := tr.model.clocks[s]; seen {
		now = max(now, latest)
	}
	counted := limit != Unlimited && limit > 0
	if counted {
		tr.model.clocks[s] = now
	}
	held := tr.keys.held.Load()
	got := tr.Allow(key, limit, start.Add(asked))
	own := s.find(k) != nil
	if counted && !own {
		if held != tr.keys.max {
			tr.Fatalf("%s is counted by its network while %d of %d keys are held", key, held, tr.keys.max)
		}
		for _, e := range tr.model.own[key] {
			if e.at > now-tr.model.window {
				tr.Fatalf("%s has lost its window, with a live event in it", key)
			}
		}
		tr.networks++
		wrong, serial := tr.model.check(key, limit, asked, got)
		tr.note(got, key, serial)
		if wrong != "" {
			tr.Fatalf("Allow(%s, %d, %v) =\n %+v: %s", key, limit, asked, got, wrong)
		}
		return got
	}
	want, serial := tr.model.allow(key, limit, asked, now)
	tr.note(got, key, serial)
	if want.Receipt = got.Receipt; got != want {
		tr.Fatalf("Allow(%s, %d, %v) =\n %+v, the model says\n %+v", key, limit, asked, got, want)
	}
	return got
}

// note keeps the receipt of what was counted.
func (tr *trial) note(got Verdict, key string, serial int) {
	tr.Helper()
	if serial != 0 {
		tr.keep(receipt{got.Receipt, key, serial})
	}
	if (serial != 0) != (got.Receipt != Receipt{}) {
		tr.Fatalf("Allow(%s) has receipt %v, want one exactly if it was counted", key, got.Receipt)
	}
	if !got.OK {
		tr.refused++
	}
}

// keep remembers the last thousand receipts.
func (tr *trial) keep(r receipt) {
	if len(tr.receipts) < 1000 {
		tr.receipts = append(tr.receipts, r)
		return
	}
	tr.receipts[r.serial%1000] = r
}

// cancel takes one of those requests back, perhaps not for the first time if it is the key's.
func (tr *trial) cancel(i int) {
	if len(tr.receipts) == 0 {
		return
	}
	r := &tr.receipts[i%len(tr.receipts)]
	tr.Cancel(r.Receipt)
	tr.model.cancel(r.key, r.serial)
	if _, ok := r.network(); ok {
		r.Receipt = Receipt{}
	}
}

func TestMillionEventsAgreeWithTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	limits := []int{Unlimited, -2, 0, 1, 1, 2, 3, 3, 5, 8, 20, 60, 60, 200}
	for seed, c := range []struct {
		name         string
		config       Config
		events, keys int
		pace         int64 // about how many events a window sees
		back         bool  // times go back now and then
		full         bool  // networks must come to bear
	}{
		{"room for all", Config{}, 400_000, 300, 1_000, true, false},
		{"room for 20 of 60", Config{MaxKeys: 20}, 300_000, 60, 500, true, true},
		{"room for 1,100 of 3,000", Config{MaxKeys: 1_100}, 200_000, 3_000, 10_000, false, true},
		{"a nanosecond's window", Config{Window: 1, MaxKeys: 5}, 50_000, 10, 10, true, true},
		{"a day's window", Config{Window: maxWindow, MaxKeys: 2}, 50_000, 3, 50, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(uint64(seed), 25))
			tr := newTrial(t, c.config)
			names := make([]string, c.keys)
			for i := range names {
				names[i] = fmt.Sprintf("192.0.%d.%d", i/75, i%75)
			}
			var clock time.Duration
			var last Verdict
			for range c.events {
				if r.IntN(6) == 0 {
					tr.cancel(r.IntN(1000))
					continue
				}
				clock += step(r, int64(tr.model.window), c.pace, last)
				asked := clock
				if c.back && r.IntN(10) == 0 {
					asked -= time.Duration(r.Int64N(int64(tr.model.window)/5 + 2))
				}
				key := names[min(r.IntN(len(names)), r.IntN(len(names)))]
				last = tr.ask(key, limits[r.IntN(len(limits))], asked)
			}
			t.Logf("%d events, %d refused, %d answered by networks, 0 differences", c.events, tr.refused, tr.networks)
			if tr.refused < c.events/100 || (tr.networks > c.events/1000) != c.full {
				t.Errorf("%d refused, %d by networks: the events do not try what they should", tr.refused, tr.networks)
			}
		})
	}
}

// step returns the next move of the time: mostly not or a little, sometimes to the edge of what
// the last verdict told, seldom far.
func step(r *rand.Rand, window, pace int64, last Verdict) time.Duration {
	switch n := r.Int64N(20 * pace); {
	case n == 0:
		return time.Duration(r.Int64N(2 * window))
	case n <= 5:
		return max(0, last.Reset-time.Duration(r.IntN(2)))
	case n < 10*pace:
		return 0
	default:
		return time.Duration(r.Int64N(2*window/pace + 2))
	}
}
