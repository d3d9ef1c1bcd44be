package document

import (
	"context"

	"github.com/keystile/keystile/storage/driver"
)

// Owners tells whether there is somebody to whom a record can be given. Package storage has groups for it.
type Owners interface {
	// OwnerDocs returns what is written with a record of a new owner, so that the write fails if the owner ends
	// meanwhile: documents of OwnerKind. An owner that there is not is an ErrInvalid.
	OwnerDocs(ctx context.Context, owner string) ([]driver.Doc, error)
}

// OwnerKind is the kind of the documents that [Owners] return.
const OwnerKind = "group"
