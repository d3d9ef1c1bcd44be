package reply

import (
	"sync"
	"time"
)

const crowdEvery = time.Minute

// Crowd sums one kind of refusal by which a server protects itself. It is to be expected under
// a flood, so the log has a line of it in a minute, and not one for each: an attacker must not be
// able to fill it. A Crowd belongs to a Failure and is shared by its copies.
type Crowd struct {
	mu      sync.Mutex
	since   time.Time // of the last line
	refused int       // since then
}

// one counts a refusal. If a line is due it returns how many came since the last one.
func (c *Crowd) one(now time.Time) (refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused++
	if !c.since.IsZero() && now.Sub(c.since) < crowdEvery {
		return 0
	}
	refused = c.refused
	c.since, c.refused = now, 0
	return refused
}
