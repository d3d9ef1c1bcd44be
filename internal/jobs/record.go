package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage"
)

// Record repeats a write until it is answered, or until the lease is over: to do the job a second
// time is worse than to wait.
func Record(ctx context.Context, until time.Time, write func(context.Context) error) error {
	for wait := FirstWait; ; wait = min(2*wait, LongWait) {
		answered, cancel := context.WithTimeout(ctx, LongWait)
		err := write(answered)
		cancel()
		if err == nil || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrInvalid) ||
			!time.Now().Add(wait).Before(until) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// UnlessOthers drops the verdicts that mean somebody else has dealt with the job.
func UnlessOthers(err error) error {
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
