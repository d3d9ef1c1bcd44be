package config

import (
	"strings"
	"time"
)

// drainShared lets a node of several go on after a signal to stop if nobody has said for how long: longer than
// balancers take to ask again, as those of the examples do each 500 ms. Without it a connection that the system
// has made already may be closed unanswered.
const drainShared = time.Second

// drain is a duration, 0 for none or, left out, what settleDrain makes of it.
func (c *Config) setDrain(s string) error {
	c.drainUnasked = s == ""
	return unless0(duration(&c.Drain))(s)
}

// settleDrain decides how long a node drains if nobody has said so: where a database has an address of its own,
// other nodes may serve from it behind a balancer.
func (c *Config) settleDrain() {
	if !c.drainUnasked {
		return
	}
	if !strings.Contains(c.StorageURL.Reveal(), "://") {
		c.settled("drain", "0", "default: no other node shares the store")
		return
	}
	c.Drain = drainShared
	c.settled("drain", c.Drain.String(), "default: several nodes can share the store")
}
