package driver

import (
	"context"
	"time"
)

// Clock is implemented by an adapter whose store has a clock of its own, such as that of a database server. The
// processes that share the store then date grants and revocations by that one clock, whatever their own
// clocks say: what one of them ends is ended at all of them. An adapter whose store belongs to one process does not
// implement it, and neither does one of a Shared store whose nodes are known to have the same time.
//
// A Backend that wraps another one passes this on by a method Unwrap() Backend.
type Clock interface {
	// Now returns the time by the clock of the store, read after Now was called and before it returns.
	Now(ctx context.Context) (time.Time, error)
}

// as returns b, or what it wraps, as a T; nil if none of them is one.
func as[T any](b Backend) (none T) {
	for b != nil {
		if found, ok := b.(T); ok {
			return found
		}
		wrapper, ok := b.(interface{ Unwrap() Backend })
		if !ok {
			return none
		}
		b = wrapper.Unwrap()
	}
	return none
}
