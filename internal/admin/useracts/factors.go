package useracts

import (
	"context"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// ResetFactors removes the second factors of a user (a sub) who has lost them. The trust of their browsers ends, and
// where a factor is required of them the time to add one begins anew.
func (a *Acts) ResetFactors(ctx context.Context, by admin.Actor, sub string) (before, after storage.Factors, err error) {
	if err := may(by); err != nil {
		return before, after, err
	}
	before, after, err = users.ResetFactors(ctx, a.c.Store, sub)
	if err != nil {
		return before, after, err
	}
	a.tell(ctx, by, event.NoticeAccount, "second factors removed", sub)
	return before, after, a.note(ctx, by, "user factors reset", sub, "second factors "+before.Summary()+" -> "+after.Summary())
}
