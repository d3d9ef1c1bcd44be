package driver

import (
	"context"
	"time"
)

// Clock is implemented by an adapter whose store has a clock of its own, such as that of a database server. The
// processes that share the store then date grants and revocations by that one clock, whatever their own
// clocks say: what one of them ends is ended at all of them. An adapter whose store belongs to one process does not
// implement it, and neither does one of a Shared store whose nodes are known to have the same time.
type Clock interface {
	// Now returns the time by the clock of the store, read after Now was called and before it returns.
	Now(ctx context.Context) (time.Time, error)
}
