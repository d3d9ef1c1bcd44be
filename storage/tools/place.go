package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
	"github.com/keystile/keystile/storage/toolplan"
)

// Place holds what is stored under the name of a capability that is about to be written, and what the write has
// to know of it. It is read once, by [Store.FindPlace] or [Store.StoredPlace]; [Store.SaveAt] fails if it is
// not so any more.
type Place struct {
	Capability            // what is stored. Of Version 0 where nothing is: then only Member counts
	Taken      *NameTaken // why a new capability cannot have the name, or only by its TakenFrom; nil: it is free

	tools   toolset
	name    memberName   // of a place where nothing is
	limited string       // the owner whose fence was read before all was; "": nobody's
	fence   fence.Fence  // of limited
	all     []Capability // every capability, of a place where nothing is
	cleared bool         // no changes of tools are held
}

// Owned returns the capabilities of the owner that FindPlace was given, if nothing is stored there.
func (p Place) Owned() []Capability {
	return slices.DeleteFunc(slices.Clone(p.all), func(c Capability) bool { return c.Owner != p.limited })
}

// FindPlace returns the place of a capability that may be there or not. limited is the owner whose limit of
// capabilities a new one would count for; "" if there is none to check.
func (s *Store) FindPlace(ctx context.Context, member, limited string) (Place, error) {
	held, err := document.Find(ctx, s.docs, memberNames, fold(member))
	if err != nil {
		return Place{}, err
	}
	if held.Member == member && held.KeptFor == "" {
		if p, err := s.StoredPlace(ctx, member); !errors.Is(err, document.ErrNotFound) {
			return p, err
		}
	}
	return s.newPlace(ctx, member, limited, held)
}

// newPlace returns the place of a capability that is probably new: held is the record of its name.
func (s *Store) newPlace(ctx context.Context, member, limited string, held memberName) (p Place, err error) {
	p = Place{Capability: Capability{Member: member}, name: held, limited: limited}
	if limited != "" {
		if p.fence, err = document.Find(ctx, s.docs, CapabilityFences, limited); err != nil { // before what the owner has
			return p, err
		}
	}
	// Capabilities of an older version have no memberName.
	if p.all, err = document.All(ctx, s.docs, Capabilities, driver.Is("all")); err != nil {
		return p, err
	}
	for _, c := range p.all {
		if c.Member == member {
			return s.StoredPlace(ctx, member)
		}
		if p.Taken == nil && fold(c.Member) == fold(member) {
			p.Taken = &NameTaken{By: c}
		}
	}
	if p.Taken == nil && held.keptFor("", time.Now()) {
		p.Taken = held.kept()
	}
	return p, nil
}

// StoredPlace returns the place of a capability that is there, or ErrNotFound.
func (s *Store) StoredPlace(ctx context.Context, member string) (Place, error) {
	for range 10 { // both are written in one step, and read in two
		c, err := document.Get(ctx, s.docs, Capabilities, member)
		if err != nil {
			return Place{Capability: c}, err
		}
		t, err := document.Get(ctx, s.docs, toolsets, member)
		if errors.Is(err, document.ErrNotFound) {
			continue
		}
		if err != nil || t.Version == c.Version {
			return Place{Capability: c, tools: t}, err
		}
	}
	return Place{}, fmt.Errorf("%w: capability %q changes faster than it can be read", document.ErrUnavailable, member)
}

// ToolsAt returns the tools that are stored at a place. It asks the Backend nothing.
func (s *Store) ToolsAt(ctx context.Context, p Place) ([]toolplan.Tool, error) {
	if p.Version == 0 {
		return nil, nil
	}
	tools, err := s.unpack(ctx, p.tools.Packed)
	if err != nil {
		err = fmt.Errorf("%w: the tools of %q are not readable: %w", document.ErrUnavailable, p.Member, err)
	}
	return tools, err
}

// SaveAt writes a capability to its place as SaveCapability does, and returns the place as it is then. If anything
// has changed since the place was read, the error wraps ErrConflict or ErrExists: read it anew. Nothing is read that
// the place holds, so a capability that is written twice, once without and once with its tools, is not read between.
//
// Nothing is written if allow returns an error, which is SaveAt's then. It is called with all capabilities that the
// owner has at that moment, including the one that is replaced. Without an owner it is not called.
func (s *Store) SaveAt(ctx context.Context, p Place, c Capability, tools []toolplan.Tool,
	allow func(owned []Capability) error, events ...Delivery) (Place, error) {
	packed, err := packTools(c.Member, tools)
	if err != nil {
		return p, err
	}
	c.ToolCount = len(tools)
	docs, after, err := p.docs(s.docs, c, packed)
	if err != nil {
		return p, err
	}
	more, err := p.beside(ctx, s.docs, c)
	if err != nil {
		return p, err
	}
	if allow != nil && c.Owner != "" {
		stands, err := p.fenceOf(ctx, s.docs, c.Owner, allow)
		if err != nil {
			return p, err
		}
		more = append(more, stands)
	}
	if p.Version == 0 || p.Owner != c.Owner {
		of, err := s.groups.OwnerDocs(ctx, c.Owner)
		if err != nil {
			return p, err
		}
		more = append(more, of...)
	}
	version, err := s.change(ctx, c.Member, events, slices.Concat(docs, more)...)
	if err != nil {
		return p, err
	}
	after.Version, after.tools.Version = version, version
	after.cleared = p.cleared || dropsHeld(c) || p.Version == 0 && p.name.Version == 0
	return after, nil
}

// docs returns the documents of a capability and its tools, and the place as it is when they are written.
func (p Place) docs(docs *document.Store, c Capability, packed []byte) ([]driver.Doc, Place, error) {
	switch {
	case c.Version == 0 && p.Version != 0:
		return nil, p, fmt.Errorf("%w: capability %q", document.ErrExists, c.Member)
	case c.Version != p.Version:
		return nil, p, fmt.Errorf("%w: capability %q", document.ErrConflict, c.Member)
	}
	c.OwnedSince = p.ownedSince(c)
	c.UpdatedAt = time.Now().UTC()
	if c.Version == 0 {
		c.CreatedAt = c.UpdatedAt
	}
	one, err := Capabilities.Doc(docs, c)
	if err != nil {
		return nil, p, err
	}
	beside := p.tools // for its unknown fields
	beside.Member, beside.Packed, beside.Version = c.Member, packed, c.Version
	other, err := toolsets.Doc(docs, beside)
	if err != nil {
		return nil, p, err
	}
	after, err := Capabilities.Record(docs, one) // which keeps no memory of a document alive
	after.TakenFrom = c.TakenFrom
	return []driver.Doc{one, other}, Place{Capability: after, tools: beside}, err
}

// beside returns the documents that are written beside a capability: its name, if it is new, and those by which
// nothing stays of an earlier one, or of other tools.
func (p Place) beside(ctx context.Context, docs *document.Store, c Capability) (all []driver.Doc, err error) {
	before := p.Version != 0
	if !before {
		if all, err = p.claim(docs, c); err != nil {
			return nil, err
		}
		before = p.name.Version != 0 // a name that is new has neither list nor held tools: see nameOf
		if before {
			list, err := withoutAccess(ctx, docs, c.Member)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	// Tools are held of endpoints that list them.
	if before && !p.cleared && dropsHeld(c) && (p.Version == 0 || p.AutoDiscover()) {
		held, err := withoutHeld(ctx, docs, c.Member)
		if err != nil {
			return nil, err
		}
		all = append(all, held...)
	}
	return all, nil
}

// dropsHeld reports whether what is held of a capability was held beside other tools than those that it is written
// with.
func dropsHeld(c Capability) bool { return c.PinnedAt.IsZero() || c.PinsOff }
