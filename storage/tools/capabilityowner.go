package tools

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/toolplan"
)

// CapabilityFences are written with each capability whose owner's limit is checked, so that
// two written at once do not both count the same others.
var CapabilityFences = document.Kind[document.Fence]{
	Name:    "capabilityfence",
	ID:      func(f document.Fence) string { return f.Owner },
	Expires: func(f document.Fence) time.Time { return f.ExpiresAt },
	Version: func(f *document.Fence) *int64 { return &f.Version },
}

// SaveCapabilityIf is SaveCapability if allow returns nil. It calls allow with all
// capabilities that the owner has at that moment, including the one that is replaced, and
// perhaps more than once; it returns allow's error. Without an owner allow is not called.
func (s *Store) SaveCapabilityIf(ctx context.Context, c Capability, tools []toolplan.Tool, allow func(owned []Capability) error, events ...Delivery) (Capability, error) {
	packed, err := packTools(c.Member, tools)
	if err != nil {
		return c, err
	}
	c.ToolCount = len(tools)
	version, err := s.changeWith(ctx, c.Member, events, func() (docs []driver.Doc, err error) {
		if docs, c, err = s.capabilityDocs(ctx, c, packed); err != nil {
			return nil, err
		}
		more, err := s.claim(ctx, c)
		if err == nil && c.Version == 0 {
			var list []driver.Doc
			list, err = s.withoutAccess(ctx, c.Member)
			more = append(more, list...)
		}
		if err == nil && (c.PinnedAt.IsZero() || c.PinsOff) { // what was held was held beside other tools
			var held []driver.Doc
			held, err = s.withoutHeld(ctx, c.Member)
			more = append(more, held...)
		}
		if err != nil || allow == nil || c.Owner == "" {
			return slices.Concat(docs, more), err
		}
		stands, err := s.fenceOf(ctx, c.Owner, allow)
		return slices.Concat(docs, more, []driver.Doc{stands}), err
	})
	if err == nil {
		c.Version = version
	}
	return c, err
}

// fenceOf calls allow for a capability's owner, and returns the document that makes the
// write fail if the owner has written another one since.
func (s *Store) fenceOf(ctx context.Context, owner string, allow func(owned []Capability) error) (driver.Doc, error) {
	stands, err := CapabilityFences.Get(ctx, s.docs, owner)
	if err != nil && !errors.Is(err, document.ErrNotFound) {
		return driver.Doc{}, err
	}
	if stands, err = stands.Of(owner); err != nil {
		return driver.Doc{}, err
	}
	owned, err := Capabilities.All(ctx, s.docs, driver.Is("owner="+owner))
	if err == nil {
		err = allow(owned)
	}
	if err != nil {
		return driver.Doc{}, err
	}
	return CapabilityFences.Doc(s.docs, stands)
}

// changeWith is change with documents that are computed anew on each conflict. In each
// round some other writer has succeeded, so this ends.
func (s *Store) changeWith(ctx context.Context, member string, events []Delivery, docs func() ([]driver.Doc, error)) (int64, error) {
	for {
		all, err := docs()
		if err != nil {
			return 0, err
		}
		version, err := s.change(ctx, member, events, all...)
		if in := (*driver.PutError)(nil); !errors.As(err, &in) ||
			!slices.Contains([]string{memberNames.Name, CapabilityFences.Name, accessLists.Name, heldTools.Name},
				in.Kind) {
			return version, err
		}
	}
}

// capabilityDocs returns the documents of a capability and its tools, and the capability as
// it is written.
func (s *Store) capabilityDocs(ctx context.Context, c Capability, packed []byte) ([]driver.Doc, Capability, error) {
	var err error
	if c.OwnedSince, err = s.ownedSince(ctx, c); err != nil {
		return nil, c, err
	}
	c.UpdatedAt = time.Now().UTC()
	if c.Version == 0 {
		c.CreatedAt = c.UpdatedAt
	}
	one, err := Capabilities.Doc(s.docs, c)
	if err != nil {
		return nil, c, err
	}
	beside := toolset{Member: c.Member}
	if c.Version != 0 { // for its unknown fields
		if beside, err = toolsets.Get(ctx, s.docs, c.Member); errors.Is(err, document.ErrNotFound) {
			beside, err = toolset{Member: c.Member}, nil
		}
		if err != nil {
			return nil, c, err
		}
	}
	beside.Packed, beside.Version = packed, c.Version
	other, err := toolsets.Doc(s.docs, beside)
	return []driver.Doc{one, other}, c, err
}
