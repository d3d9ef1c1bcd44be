package local

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// So many failures at an account in a time delay every further attempt at it in a browser that it does not know,
// by a time that each failure doubles, from DelayLeast to DelayMost (decision 56).
const (
	DelayAfter  = 10
	DelayWithin = 5 * time.Minute
	DelayLeast  = time.Second
	DelayMost   = time.Minute
)

// Delays counts failed attempts by account, whatever addresses they come from. It delays unknown
// browsers and locks nobody out: browsers that are known to the account are not delayed. Attempts
// in flight count as failures, so guesses made in parallel are no more than guesses made in turn;
// once there is a delay, one attempt at a time is let through.
//
// It is in memory, runs no goroutine and holds a bounded number of accounts. Beyond that, those
// with the fewest failures are dropped first, so that no two accounts are counted together.
type Delays struct {
	capacity int
	start    time.Time

	mu       sync.Mutex // never held while a password is checked
	accounts map[[32]byte]*list.Element
	byWeight [DelayAfter + 1]list.List // of *record; in each list the one that has been there longest is first
	swept    time.Duration
}

// record holds the failures of one account. Times are since Delays.start.
type record struct {
	key      [32]byte
	weight   int             // the list that it is in
	failed   []time.Duration // the latest, as many as matter
	inFlight int             // attempts in unknown browsers
	delay    time.Duration   // 0: there is none yet
	until    time.Duration
}

// NewDelays makes Delays.
func NewDelays() *Delays {
	return &Delays{capacity: capacity, start: time.Now(), accounts: map[[32]byte]*list.Element{}}
}

// Begin begins an attempt at an account in an unknown browser. An account is delayed after so many failures. If wait
// is 0 the caller must call End; else it must not check the credentials.
func (d *Delays) Begin(account [32]byte, after int) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	s := d.of(account, now)
	s.forget(now)
	if n := len(s.failed); s.delay == 0 && n >= after { // those were counted while nobody judged by them here
		s.delay, s.until = DelayLeast, s.failed[n-1]+DelayLeast
	}
	switch {
	case after == NoLimit:
	case now < s.until:
		return s.until - now
	case s.delay > 0 && s.inFlight > 0, s.delay == 0 && len(s.failed)+s.inFlight >= after:
		return DelayLeast // about how long the others are in flight
	}
	s.inFlight++
	d.weigh(s)
	return 0
}

// End ends an attempt that Begin has let through.
func (d *Delays) End(account [32]byte, failed bool, after int) { d.settle(account, 1, failed, after) }

// FailKnown counts a failure in a known browser, which is not delayed.
func (d *Delays) FailKnown(account [32]byte, after int) { d.settle(account, 0, true, after) }

// Wait returns how long attempts at an account in unknown browsers have to wait, and counts nothing.
func (d *Delays) Wait(account [32]byte) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.accounts[account]
	if !ok {
		return 0
	}
	return max(0, e.Value.(*record).until-time.Since(d.start))
}

// Clear forgets the failures of an account and ends its delay. It reports whether there were any. Attempts
// in flight go on.
func (d *Delays) Clear(account [32]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.accounts[account]
	if !ok {
		return false
	}
	s := e.Value.(*record)
	s.forget(time.Since(d.start))
	had := len(s.failed) > 0
	s.failed, s.delay, s.until = nil, 0, 0
	if s.idle() {
		d.drop(s)
	} else {
		d.weigh(s)
	}
	return had
}

// settle ends so many attempts in flight; they may have been forgotten meanwhile.
func (d *Delays) settle(account [32]byte, landed int, failed bool, after int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	s := d.of(account, now)
	s.inFlight = max(0, s.inFlight-landed)
	if s.forget(now); failed {
		s.fail(now, after)
	}
	if s.idle() {
		d.drop(s)
		return
	}
	d.weigh(s)
}

func (s *record) fail(now time.Duration, after int) {
	s.failed = append(s.failed, now)
	s.failed = s.failed[max(0, len(s.failed)-DelayAfter):]
	if after != NoLimit && (s.delay > 0 || len(s.failed) >= after) {
		s.delay = min(max(DelayLeast, 2*s.delay), DelayMost)
		s.until = now + s.delay
	}
}

// forget drops the failures that are too long ago to count; without any there is no delay.
func (s *record) forget(now time.Duration) {
	s.failed = slices.DeleteFunc(s.failed, func(at time.Duration) bool { return now-at >= DelayWithin })
	if len(s.failed) == 0 {
		s.delay = 0
	}
}

func (s *record) idle() bool { return len(s.failed) == 0 && s.inFlight == 0 }

// of returns the record of an account; for a new one it drops another if there are too many.
func (d *Delays) of(key [32]byte, now time.Duration) *record {
	if e, ok := d.accounts[key]; ok {
		return e.Value.(*record)
	}
	d.sweep(now)
	for i := 0; len(d.accounts) >= d.capacity; {
		if e := d.byWeight[i].Front(); e != nil {
			d.drop(e.Value.(*record))
		} else {
			i++
		}
	}
	s := &record{key: key}
	d.accounts[key] = d.byWeight[0].PushBack(s)
	return s
}

// weigh puts an account into the list that it belongs to.
func (d *Delays) weigh(s *record) {
	weight := min(len(s.failed)+s.inFlight, DelayAfter)
	if s.delay > 0 {
		weight = DelayAfter
	}
	if weight == s.weight {
		return
	}
	d.byWeight[s.weight].Remove(d.accounts[s.key])
	s.weight = weight
	d.accounts[s.key] = d.byWeight[weight].PushBack(s)
}

func (d *Delays) drop(s *record) {
	d.byWeight[s.weight].Remove(d.accounts[s.key])
	delete(d.accounts, s.key)
}

// sweep drops the accounts that count for nothing any more, at most once a minute: the walk
// is long when there are many.
func (d *Delays) sweep(now time.Duration) {
	if now-d.swept < sweepEvery {
		return
	}
	d.swept = now
	for _, e := range d.accounts {
		s := e.Value.(*record)
		if s.forget(now); s.idle() {
			d.drop(s)
		}
	}
}
