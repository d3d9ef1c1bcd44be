package document

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Due is the index entry of a document that has to be dealt with at a time. It has a fixed width,
// so that byte order is time order.
func Due(at time.Time) string { return DueOn(PlainList, at) }

// PlainList is the list of what is due in a kind that has no other such list.
const PlainList = "due"

func DueOn(list string, at time.Time) string {
	return list + "=" + at.UTC().Format("2006-01-02T15:04:05.000000000")
}

// maxDeferral is longer than any delivery or email is deferred. One that is due even later was
// deferred by a clock that was ahead.
const maxDeferral = 24 * time.Hour

// WaitUntil returns how long something is not due yet at a time; 0: it is due.
func WaitUntil(next, at time.Time) time.Duration {
	if wait := next.Sub(at); wait > 0 && wait <= maxDeferral {
		return wait
	}
	return 0
}

// ListDue returns up to n records that are due by a time, the earliest first, and those that were
// deferred by a clock that was ahead.
func ListDue[T any](ctx context.Context, s *Store, k Kind[T], at time.Time, n int) ([]T, error) {
	return ListDueOn(ctx, s, k, PlainList, at, n)
}

// ListDueOn is ListDue for one of several lists.
func ListDueOn[T any](ctx context.Context, s *Store, k Kind[T], list string, at time.Time, n int) ([]T, error) {
	found, _, err := List(ctx, s, k, driver.Between(list+"=", driver.Is(DueOn(list, at)).To), n)
	if err != nil || len(found) >= n {
		return found, err
	}
	// a colon is behind all digits
	astray, _, err := List(ctx, s, k, driver.Between(DueOn(list, at.Add(maxDeferral)), list+"=:"), n-len(found))
	return append(found, astray...), err
}
