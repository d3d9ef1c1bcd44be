package idempotency

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Call{}.carried}

// Call remembers a call with an Idempotency-Key, so that it is charged once. It holds nothing of the
// call but a hash.
type Call struct {
	ID        string    `json:"id"`                // a hash of whose call it is, of its key, and of what is called
	Charged   bool      `json:"charged,omitempty"` // false: somebody is about to charge it, or was killed before
	Repeats   int       `json:"repeats,omitempty"` // that were not charged
	ExpiresAt time.Time `json:"expires_at"`
	Version   int64     `json:"-"`
	carried
}

// Check returns why a call cannot be stored, nil if it can.
func (c Call) Check() error {
	if c.ExpiresAt.IsZero() {
		return fmt.Errorf("%w: a call is not remembered for ever", driver.ErrInvalid)
	}
	return nil
}
