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

var heldTools = document.Kind[toolplan.Held]{
	Name:    "heldtools",
	ID:      func(h toolplan.Held) string { return h.Member },
	Version: func(h *toolplan.Held) *int64 { return &h.Version },
}

// Held returns what is held of a capability. Where nothing ever was, it has the Member alone.
func (s *Store) Held(ctx context.Context, member string) (toolplan.Held, error) {
	h, err := document.Get(ctx, s.docs, heldTools, member)
	if errors.Is(err, document.ErrNotFound) {
		return toolplan.Held{Member: member}, nil
	}
	for packed, tools := range map[*[]byte]*[]toolplan.Tool{&h.Packed: &h.Tools, &h.Were: &h.Before} {
		if err != nil || len(*packed) == 0 {
			continue
		}
		if *tools, err = s.unpack(ctx, *packed); err != nil {
			err = document.Unreadable(driver.Doc{Kind: heldTools.Name, ID: member}, err)
		}
	}
	return h, err
}

// SaveHeld writes what is held, and queues the events of that as SaveCapability does. ErrConflict or ErrExists say
// that somebody else has written it meanwhile.
func (s *Store) SaveHeld(ctx context.Context, h toolplan.Held, events ...Delivery) (toolplan.Held, error) {
	doc, err := s.heldDoc(h)
	if err != nil {
		return h, err
	}
	name, err := s.nameOf(ctx, h.Member)
	if err != nil {
		return h, err
	}
	version, err := s.change(ctx, h.Member, events, append(name, doc)...)
	if err == nil {
		h.Version = version
	}
	return h, err
}

func (s *Store) heldDoc(h toolplan.Held) (driver.Doc, error) {
	for packed, tools := range map[*[]byte][]toolplan.Tool{&h.Packed: h.Tools, &h.Were: h.Before} {
		*packed = nil
		if len(tools) == 0 {
			continue
		}
		var err error
		if *packed, err = packTools(h.Member, tools); err != nil {
			return driver.Doc{}, err
		}
	}
	return heldTools.Doc(s.docs, h)
}

// SaveAccepted writes a capability with the tools that its owner has accepted, and what is still held then, in one
// step. It queues the events of that as SaveCapability does. ErrConflict says that the capability, or what
// is held of it, has changed meanwhile.
func (s *Store) SaveAccepted(ctx context.Context, c Capability, tools []toolplan.Tool, h toolplan.Held,
	events ...Delivery) (Capability, error) {
	packed, err := packTools(c.Member, tools)
	if err != nil {
		return c, err
	}
	c.ToolCount, c.PinnedAt = len(tools), time.Now().UTC()
	p, err := s.placeFor(ctx, c)
	if err != nil {
		return c, err
	}
	docs, after, err := p.docs(s.docs, c, packed)
	if err != nil {
		return c, err
	}
	c = after.Capability
	beside, err := s.heldDoc(h)
	if err != nil {
		return c, err
	}
	version, err := s.change(ctx, c.Member, events, slices.Concat(docs, []driver.Doc{beside})...)
	if err == nil {
		c.Version = version
	}
	return c, err
}

// withoutHeld returns the document that removes what is held of a capability, if anything is.
func withoutHeld(ctx context.Context, docs *document.Store, member string) ([]driver.Doc, error) {
	h, err := document.Get(ctx, docs, heldTools, member)
	switch {
	case errors.Is(err, document.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []driver.Doc{{Kind: heldTools.Name, ID: member, Version: h.Version, Deleted: true}}, nil
}
