// Package fence has what is written with the records of an owner, who is a user (a sub) or group:NAME, so that two
// writes at once do not pass each other.
package fence

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Life is longer than any write takes.
const Life = 24 * time.Hour

// Fence is written with each record that its owner makes and of which an owner has a limited number, so that
// two made at once do not both count the same others.
type Fence struct {
	Owner     string    `json:"owner"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // not zero: the owner is erased, and nothing is theirs any more
	Version   int64     `json:"-"`
	forward.Fields
}

// Of returns the fence of an owner, and ErrInvalid if the owner is erased.
func (f Fence) Of(owner string) (Fence, error) {
	if !f.ExpiresAt.IsZero() {
		return f, fmt.Errorf("%w: owner: the user is erased: name another one", document.ErrInvalid)
	}
	f.Owner = owner
	return f, nil
}

// Groups tells whether there is a group that a record can be given to.
type Groups interface {
	// OwnerDocs returns the documents that are written with a record of a new owner, so that the write fails if that is
	// a group which ends meanwhile: they are of GroupKind. A user has none; a group that there is not is an ErrInvalid.
	OwnerDocs(ctx context.Context, owner string) ([]driver.Doc, error)
}

// GroupKind is the kind of the documents of groups.
const GroupKind = "group"
