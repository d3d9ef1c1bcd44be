package apps

import (
	"context"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// OrdersOfApps returns a page of the orders of all applications whose client_id lies between first and last,
// both included, by client_id and then the oldest first. It begins at the start or at a next of
// before, and next is "" at the end.
func (s *Store) OrdersOfApps(ctx context.Context, first, last, from string, n int) (page []Order, next string,
	err error) {
	if !driver.ValidName(first) || !driver.ValidName(last) || first > last {
		return nil, "", nil // nothing can be listed there
	}
	span, err := document.PageSpan(driver.Span{From: driver.Is("app=" + first).From, To: driver.Is("app=" + last).To},
		from)
	if err != nil {
		return nil, "", err
	}
	return document.List(ctx, s.docs, Orders, span, n)
}
