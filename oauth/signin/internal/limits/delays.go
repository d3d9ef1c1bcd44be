package limits

import (
	"container/list"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// So many failures at one account in a time delay every further attempt at it in a browser
// that has never signed in there, by a time that each failure doubles (decision 56).
const (
	DelayAfter  = 10
	DelayWithin = 5 * time.Minute
	delayLeast  = time.Second
	DelayMost   = time.Minute

	sweepEvery = time.Minute

	delayCapacity = 100_000 // accounts: some 40 MB, and at 10 ms a hash more than can fail in the time
)

// Account names an account, real or not, without keeping what was typed.
type Account [sha256.Size]byte

// AccountOf names the account of something: a user, a username, an address.
func AccountOf(kind, name string) Account { return sha256.Sum256([]byte(kind + "\x00" + name)) }

// Delays counts failed attempts by account, whatever addresses they come from. What it
// answers makes strangers wait, and never locks anybody out: a browser that is known to the
// account does not ask it. Attempts in flight count as failures, so guesses made in parallel
// are no more than guesses made in turn; once there is a delay, one at a time is let through.
//
// It is in memory, runs no goroutine and holds a bounded number of accounts. If there are
// more, those with the fewest failures are forgotten first, so that nobody is counted
// together with somebody else.
type Delays struct {
	capacity int
	start    time.Time

	mu       sync.Mutex // never held while a password is checked
	accounts map[Account]*list.Element
	byWeight [DelayAfter + 1]list.List // of *record; in each list the one that has been there longest is first
	swept    time.Duration
}

// record holds the failures of one account. Times are since Delays.start.
type record struct {
	key      Account
	weight   int             // the list that it is in
	failed   []time.Duration // the latest, as many as matter
	inFlight int             // attempts of strangers
	delay    time.Duration   // 0: there is none yet
	until    time.Duration
}

// NewDelays makes Delays.
func NewDelays() *Delays {
	return &Delays{capacity: delayCapacity, start: time.Now(), accounts: map[Account]*list.Element{}}
}

// Begin asks to let a stranger attempt an account. 0 is yes, and end must follow; else it is
// how long to wait, and the credentials must not be looked at.
func (d *Delays) Begin(key Account) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	s := d.of(key, now)
	switch s.forget(now); {
	case now < s.until:
		return s.until - now
	case s.delay > 0 && s.inFlight > 0, s.delay == 0 && len(s.failed)+s.inFlight >= DelayAfter:
		return delayLeast // about how long the others are in flight
	}
	s.inFlight++
	d.weigh(s)
	return 0
}

// End says how an attempt went that begin let through.
func (d *Delays) End(key Account, failed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	s := d.of(key, now)
	s.inFlight = max(0, s.inFlight-1) // it may have been forgotten meanwhile
	d.settle(s, failed, now)
}

// FailKnown counts a failure in a browser that need not ask.
func (d *Delays) FailKnown(key Account) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	d.settle(d.of(key, now), true, now)
}

func (d *Delays) settle(s *record, failed bool, now time.Duration) {
	if s.forget(now); failed {
		s.fail(now)
	}
	if s.idle() {
		d.drop(s)
		return
	}
	d.weigh(s)
}

func (s *record) fail(now time.Duration) {
	s.failed = append(s.failed, now)
	s.failed = s.failed[max(0, len(s.failed)-DelayAfter):]
	if s.delay > 0 || len(s.failed) >= DelayAfter {
		s.delay = min(max(delayLeast, 2*s.delay), DelayMost)
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

// of finds the record of an account, or makes room for one.
func (d *Delays) of(key Account, now time.Duration) *record {
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
