package lease // import "github.com/keystile/keystile/internal/record/lease"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Lease struct {
	Task    string    "json:\"task\""
	Holder  string    "json:\"holder\""
	At      time.Time "json:\"at\""
	Version int64     "json:\"-\""
	carried
}

type Store interface {
	Lease(ctx context.Context, task string) (Lease, error)
	RemoveLease(ctx context.Context, l Lease) error
	SaveLease(ctx context.Context, l Lease) (Lease, error)
	Shared() bool
}

type carried = forward.Fields
