package mcpbus

import (
	"iter"
	"slices"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// accessIndex says who may use the tools of one capability: what toolaccess.Decide says, by
// subject and by index in the snapshot, so that a call costs a few lookups and a view is
// made without asking for each tool.
type accessIndex struct {
	capability *storage.Capability
	lo, hi     int  // the capability's tools in the snapshot
	open       bool // everybody may, unless a rule denies it
	rules      map[access.Subject][]rule
	stored     access.List // as it was written
}

// rule is an access rule about tools of the snapshot.
type rule struct {
	deny  bool
	all   bool
	tools []int // else these, ascending
}

func (r *rule) covers(i int) bool {
	if r.all {
		return true
	}
	_, found := slices.BinarySearch(r.tools, i)
	return found
}

// newAccessIndex compiles the rules of the capability whose tools are s.tools[lo:hi].
func newAccessIndex(s *snapshot, lo, hi int, l access.List, open bool) *accessIndex {
	a := &accessIndex{capability: s.tools[lo].capability, lo: lo, hi: hi, open: open && !toolaccess.Allows(l.Rules),
		stored: l}
	var readOnly []int
	for i := lo; i < hi && len(l.Rules) > 0; i++ {
		if s.tools[i].stored.ChangesNothing() {
			readOnly = append(readOnly, i)
		}
	}
	for _, stored := range l.Rules {
		subject, err := access.ParseSubject(stored.Subject)
		if err != nil {
			continue // the store accepts no such subject; it matches nobody
		}
		r := rule{deny: stored.Deny, all: len(stored.Tools) == 0 && !stored.ReadOnly}
		if stored.ReadOnly {
			r.tools = readOnly
		}
		for _, name := range stored.Tools {
			if i, there := s.index[a.capability.Member+"__"+name]; there {
				r.tools = append(r.tools, i)
			}
		}
		if !stored.ReadOnly {
			slices.Sort(r.tools)
		}
		if a.rules == nil {
			a.rules = map[access.Subject][]rule{}
		}
		a.rules[subject] = append(a.rules[subject], r)
	}
	return a
}

// newBundleIndex compiles the rules of a bundle, each of which covers whatever tool is asked for.
func newBundleIndex(b access.Bundle) *accessIndex {
	a := &accessIndex{capability: &storage.Capability{}, open: !toolaccess.Allows(b.Rules), stored: b.Access(),
		rules: map[access.Subject][]rule{}}
	for _, stored := range b.Rules {
		if subject, err := access.ParseSubject(stored.Subject); err == nil {
			a.rules[subject] = append(a.rules[subject], rule{deny: stored.Deny, all: true})
		}
	}
	return a
}

// defaultAllowed reports whether a subject may use the tools that no rule mentions.
func (a *accessIndex) defaultAllowed(who *toolaccess.Who) bool {
	if a.open {
		return true
	}
	allowed, _ := who.Standing(*a.capability)
	return allowed
}

// allows reports whether a subject may use a tool of the capability.
func (a *accessIndex) allows(who *toolaccess.Who, i int) bool {
	allowed := a.defaultAllowed(who)
	if a.rules == nil {
		return allowed
	}
	for _, subject := range who.Subjects() {
		if subject.Kind == "" {
			continue
		}
		for _, r := range a.rules[subject] {
			switch {
			case !r.covers(i):
			case r.deny:
				return false
			default:
				allowed = true
			}
		}
	}
	if owner := who.DeniedAs(); owner.Kind != "" {
		for _, r := range a.rules[owner] {
			if r.deny && r.covers(i) {
				return false
			}
		}
	}
	for r := range a.ofGroups(who) {
		switch {
		case !r.covers(i):
		case r.deny:
			return false
		default:
			allowed = true
		}
	}
	return allowed
}

// ofGroups yields the rules that are about somebody by a group.
func (a *accessIndex) ofGroups(who *toolaccess.Who) iter.Seq[rule] {
	return func(yield func(rule) bool) {
		for n, all := range [2][]access.Group{who.Groups, who.OwnerGroups} {
			for _, g := range all {
				for _, r := range a.rules[g.Subject()] {
					if (r.deny || n == 0 && g.KnownTo(a.stored.UpdatedAt)) && !yield(r) {
						return
					}
				}
			}
		}
	}
}

// mark sets the bits of all tools that a subject may use.
func (a *accessIndex) mark(who *toolaccess.Who, in bits) {
	if a.defaultAllowed(who) {
		in.set(a.lo, a.hi)
	}
	if a.rules == nil {
		return
	}
	for _, deny := range []bool{false, true} { // deny rules come last, and win
		for _, subject := range who.Subjects() {
			for _, r := range a.rules[subject] {
				if r.deny == deny {
					a.apply(r, in)
				}
			}
		}
		for r := range a.ofGroups(who) {
			if r.deny == deny {
				a.apply(r, in)
			}
		}
	}
	for _, r := range a.rules[who.DeniedAs()] {
		if r.deny {
			a.apply(r, in)
		}
	}
}

func (a *accessIndex) apply(r rule, in bits) {
	change := bits.set
	if r.deny {
		change = bits.clear
	}
	if r.all {
		change(in, a.lo, a.hi)
		return
	}
	for _, i := range r.tools {
		change(in, i, i+1)
	}
}
