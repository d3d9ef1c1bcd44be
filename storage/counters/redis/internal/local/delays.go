package local

import (
	"slices"
	"sync"
	"time"
)

// Delaying says how failures at an account delay the next attempts: from least, twice as long with each
// failure, up to most. Failures count within a time.
type Delaying struct{ Within, Least, Most time.Duration }

// Delays counts failed attempts by account.
type Delays struct {
	by    Delaying
	keep  int
	start time.Time

	mu       sync.Mutex
	accounts map[[32]byte]*record
	swept    time.Duration
}

// record holds the failures of one account. Times are since Delays.start.
type record struct {
	failed       []time.Duration
	flying       int
	delay, until time.Duration
}

// NewDelays makes Delays, for an account that is delayed after keep failures at most.
func NewDelays(keep int, by Delaying) *Delays {
	return &Delays{by: by, keep: keep, start: time.Now(), accounts: map[[32]byte]*record{}}
}

// Begin begins an attempt, unless it is delayed. An account is delayed after so many failures.
func (d *Delays) Begin(account [32]byte, after int) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	r := d.of(account, now)
	d.forget(r, now)
	if n := len(r.failed); r.delay == 0 && n >= after { // those were counted while nobody judged by them here
		r.delay, r.until = d.by.Least, r.failed[n-1]+d.by.Least
	}
	switch {
	case after == NoLimit:
	case now < r.until:
		return r.until - now
	case r.delay > 0 && r.flying > 0, r.delay == 0 && len(r.failed)+r.flying >= after:
		return d.by.Least
	}
	r.flying++
	return 0
}

// End ends an attempt that Begin has let through.
func (d *Delays) End(account [32]byte, failed bool, after int) { d.settle(account, 1, failed, after) }

// FailKnown counts a failure of an attempt that was never begun.
func (d *Delays) FailKnown(account [32]byte, after int) { d.settle(account, 0, true, after) }

// Wait returns how long the next attempt has to wait, and counts nothing.
func (d *Delays) Wait(account [32]byte) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.accounts[account]
	if !ok {
		return 0
	}
	return max(0, r.until-time.Since(d.start))
}

// Clear forgets the failures of an account and ends its delay, and reports whether there were any.
func (d *Delays) Clear(account [32]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.accounts[account]
	if !ok {
		return false
	}
	d.forget(r, time.Since(d.start))
	had := len(r.failed) > 0
	r.failed, r.delay, r.until = nil, 0, 0
	if r.idle() {
		delete(d.accounts, account)
	}
	return had
}

func (d *Delays) settle(account [32]byte, landed int, failed bool, after int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.start)
	r := d.of(account, now)
	r.flying = max(0, r.flying-landed)
	d.forget(r, now)
	if failed {
		r.failed = append(r.failed, now)
		r.failed = r.failed[max(0, len(r.failed)-d.keep):]
		if after != NoLimit && (r.delay > 0 || len(r.failed) >= after) {
			r.delay = min(max(d.by.Least, 2*r.delay), d.by.Most)
			r.until = now + r.delay
		}
	}
	if r.idle() {
		delete(d.accounts, account)
	}
}

func (r *record) idle() bool { return len(r.failed) == 0 && r.flying == 0 }

// forget drops the failures that are too long ago to count; without any there is no delay.
func (d *Delays) forget(r *record, now time.Duration) {
	r.failed = slices.DeleteFunc(r.failed, func(at time.Duration) bool { return now-at >= d.by.Within })
	if len(r.failed) == 0 {
		r.delay = 0
	}
}

// of finds or makes the record of an account. Where there are too many, one of few failures is dropped.
func (d *Delays) of(account [32]byte, now time.Duration) *record {
	if r, ok := d.accounts[account]; ok {
		return r
	}
	if now-d.swept >= sweepEvery {
		d.swept = now
		for a, r := range d.accounts {
			if d.forget(r, now); r.idle() {
				delete(d.accounts, a)
			}
		}
	}
	if len(d.accounts) >= capacity {
		d.dropLight()
	}
	r := &record{}
	d.accounts[account] = r
	return r
}

// dropLight drops the account with the fewest failures of some.
func (d *Delays) dropLight() {
	var light [32]byte
	least, looked := NoLimit, 0
	for a, r := range d.accounts { // in no order
		if n := len(r.failed) + r.flying; n < least {
			least, light = n, a
		}
		if looked++; looked == 16 {
			break
		}
	}
	delete(d.accounts, light)
}
