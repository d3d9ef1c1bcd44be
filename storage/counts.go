package storage

import (
	"context"

	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
)

// Recount counts one by one, page by page, what Counts has ready; it is for comparing the two where
// nothing else writes. Whole says nothing.
func (s *Store) Recount(ctx context.Context) (c Counts, err error) {
	for _, part := range []struct {
		kind, entry string
		n           *int64
	}{
		{people.Users.Name, "all", &c.Users}, {apps.Apps.Name, "all", &c.Apps},
		{apps.Orders.Name, "status=" + OrderPending, &c.OpenOrders},
		{apps.Orders.Name, "status=" + OrderContact, &c.OpenOrders},
	} {
		for span := driver.Is(part.entry); ; {
			docs, next, err := document.Backend(s.documents).List(ctx, part.kind, span, driver.Page)
			if err != nil {
				return c, document.Unavailable("count "+part.kind, err)
			}
			*part.n += int64(len(docs))
			if span.From = next; next == "" {
				break
			}
		}
	}
	return c, nil
}
