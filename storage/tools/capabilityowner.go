package tools

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

// CapabilityFences are written with each capability whose owner's limit is checked, so that
// two written at once do not both count the same others.
var CapabilityFences = document.Kind[fence.Fence]{
	Name:    "capabilityfence",
	ID:      func(f fence.Fence) string { return f.Owner },
	Expires: func(f fence.Fence) time.Time { return f.ExpiresAt },
	Version: func(f *fence.Fence) *int64 { return &f.Version },
}

// besideIt reports whether a write has failed because of what is written beside a capability, and not because the
// capability itself has changed. In each such round some other writer has succeeded, so to try again ends.
func besideIt(err error) bool {
	return document.LostRace(err, memberNames.Name, CapabilityFences.Name, accessLists.Name, heldTools.Name,
		fence.GroupKind)
}

// fenceOf calls allow for a capability's owner, and returns the document that makes the
// write fail if the owner has written another one since.
func (p Place) fenceOf(ctx context.Context, docs *document.Store, owner string,
	allow func(owned []Capability) error) (driver.Doc, error) {
	stands, owned := p.fence, p.Owned()
	if p.limited != owner {
		var err error
		if stands, err = document.Find(ctx, docs, CapabilityFences, owner); err != nil {
			return driver.Doc{}, err
		}
		if owned, err = document.All(ctx, docs, Capabilities, driver.Is("owner="+owner)); err != nil {
			return driver.Doc{}, err
		}
	}
	stands, err := stands.Of(owner)
	if err == nil {
		err = allow(owned)
	}
	if err != nil {
		return driver.Doc{}, err
	}
	return CapabilityFences.Doc(docs, stands)
}

// changeWith is change with documents that are computed anew on each conflict beside the capability.
func (s *Store) changeWith(ctx context.Context, member string, events []Delivery,
	docs func() ([]driver.Doc, error)) (int64, error) {
	for {
		all, err := docs()
		if err != nil {
			return 0, err
		}
		version, err := s.change(ctx, member, events, all...)
		if !besideIt(err) {
			return version, err
		}
	}
}
