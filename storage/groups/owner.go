package groups

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// OwnerDocs returns the documents that are written with a record whose owner becomes group:NAME: the group as it is. So
// the write fails if the group is deleted meanwhile, and the group is not deleted without a look at what it was given.
// Any other owner has none; ErrInvalid: there is no such group.
func (s *Store) OwnerDocs(ctx context.Context, owner string) ([]driver.Doc, error) {
	name, is := access.OwningGroup(owner)
	if !is {
		return nil, nil
	}
	g, err := s.Group(ctx, name)
	if errors.Is(err, document.ErrNotFound) {
		return nil, fmt.Errorf("%w: owner: there is no group %q", document.ErrInvalid, name)
	}
	if err != nil {
		return nil, err
	}
	return document.Docs(s.docs, groupKind, g)
}
