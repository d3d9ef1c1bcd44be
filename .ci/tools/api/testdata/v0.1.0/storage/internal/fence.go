package fence // import "github.com/keystile/keystile/storage/internal/fence"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/driver"
import "time"

type Fence struct {
	Owner     string    "json:\"owner\""
	ExpiresAt time.Time "json:\"expires_at,omitzero\""
	Version   int64     "json:\"-\""
	forward.Fields
}

func (Fence) Of(owner string) (Fence, error)

type Groups interface {
	OwnerDocs(ctx context.Context, owner string) ([]driver.Doc, error)
}
