package document

import (
	"fmt"
	"time"
)

// FenceLife is longer than any write takes.
const FenceLife = 24 * time.Hour

// Fence is written with each record that its owner makes and of which an owner has a limited number, so that
// two made at once do not both count the same others.
type Fence struct {
	Owner     string    `json:"owner"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // not zero: the owner is erased, and nothing is theirs any more
	Version   int64     `json:"-"`
	carried
}

// Of returns the fence of an owner, and ErrInvalid if the owner is erased.
func (f Fence) Of(owner string) (Fence, error) {
	if !f.ExpiresAt.IsZero() {
		return f, fmt.Errorf("%w: owner: the user is erased: name another one", ErrInvalid)
	}
	f.Owner = owner
	return f, nil
}
