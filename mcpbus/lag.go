package mcpbus

import (
	"sync"
	"sync/atomic"
	"time"
)

// lag holds since when the snapshot lacks what another process has changed. Requests only load
// one pointer.
//
// A bus that cannot read the rules does not start; a running one keeps the rules it has. Where another process
// is known to have changed something, it is read again each second, and a bus that could not for ten answers
// 503: the change may be a rule that denies.
type lag struct {
	since atomic.Pointer[time.Time] // nil: it lacks nothing

	mu         sync.Mutex
	told, read uint64 // changes
}

// maxLag bounds the age of a change that is not in the snapshot. Beyond it the bus answers 503:
// the change may be a rule that denies.
const maxLag = 10 * time.Second

// tell notes a change.
func (b *lag) tell(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == b.read {
		b.since.Store(&now)
	}
	b.told++
}

// begin returns the changes that a reading that begins now will hold.
func (b *lag) begin() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told
}

// done notes that a reading has ended well.
func (b *lag) done(read uint64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.read = read; {
	case b.told == read:
		b.since.Store(nil)
	default:
		b.since.Store(&now)
	}
}

// lacks reports whether the snapshot lacks a change.
func (b *lag) lacks() bool { return b.since.Load() != nil }

// stale reports whether the snapshot must not be believed any more.
func (b *lag) stale() bool {
	since := b.since.Load()
	return since != nil && time.Since(*since) > maxLag
}
