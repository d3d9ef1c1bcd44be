package mcpbus

import (
	"cmp"
	"slices"
	"sort"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// snapshot holds every tool on the bus at one moment, with the rules that say who may use it. It is
// immutable: a request uses the snapshot it began with to its end.
type snapshot struct {
	tools []*tool        // by name
	index map[string]int // by name
	short map[string]int // by the name in lists, of those that have another there
	text  []byte         // the tools as they are listed, with a comma after each
	ends  []int          // in text, after each tool and before its comma

	access      map[string]*accessIndex // by member
	accesses    []*accessIndex          // in the order of the tools
	mentioned   map[access.Subject]bool
	open        bool                    // everybody may use a capability without a list
	openBy      string                  // the value of the setting by which that is so
	strict      bool                    // not everybody may use everything
	tiers       bool                    // a rule mentions a tier
	groups      bool                    // a rule mentions a group
	owners      bool                    // a rule mentions a user or a group, and so their applications
	owning      map[string]bool         // the groups whose managers may use what not everybody may
	bundles     map[string]bits         // by name
	bundleLists map[string]*accessIndex // by name, of those bundles that not everybody may use
	readOnly    bits                    // the tools that change nothing
	labels      []access.Bundle         // the bundles, by name
	everything  *toolView
	views       lru[viewKey, *toolView]
	joined      lru[joinedKey, joinedPage]
}

// newSnapshot sorts and joins tools, whose names are unique.
func newSnapshot(tools []*tool, r *rules) *snapshot {
	slices.SortFunc(tools, func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
	s := &snapshot{tools: tools, index: make(map[string]int, len(tools)), short: map[string]int{},
		ends: make([]int, len(tools))}
	s.views.limit, s.joined.limit = maxViews, maxJoined
	s.readOnly = newBits(len(tools))
	size := 0
	for i, t := range tools {
		size += len(t.json) + 1
		if t.stored.ChangesNothing() {
			s.readOnly.set(i, i+1)
		}
	}
	s.text = make([]byte, 0, size)
	for i, t := range tools {
		if s.index[t.name] = i; t.listed != t.name {
			s.short[t.listed] = i
		}
		s.text = append(s.text, t.json...)
		s.ends[i] = len(s.text)
		s.text = append(s.text, ',')
	}
	s.addRules(r)
	return s
}

// addRules adds the access rules and the bundles. The tools of a capability are adjacent in the
// sorted list, because its name cannot contain "__".
func (s *snapshot) addRules(r *rules) {
	s.access, s.mentioned, s.bundles = map[string]*accessIndex{}, map[access.Subject]bool{}, map[string]bits{}
	s.bundleLists, s.owning = map[string]*accessIndex{}, map[string]bool{}
	s.open, s.openBy, s.strict = r.defaultOpen, r.defaultBy, !r.defaultOpen
	for lo := 0; lo < len(s.tools); {
		member, hi := s.tools[lo].capability.Member, lo+1
		for hi < len(s.tools) && s.tools[hi].capability.Member == member {
			hi++
		}
		a := newAccessIndex(s, lo, hi, r.lists[member], r.defaultOpen)
		for subject := range a.rules {
			s.mention(subject)
		}
		if !a.open {
			if group, is := access.OwningGroup(a.capability.Owner); is {
				s.owning[group] = true
			} else {
				s.mentioned[access.Subject{Kind: access.SubjectUser, Name: a.capability.Owner}] = true
			}
		}
		s.access[member], s.accesses = a, append(s.accesses, a)
		lo = hi
	}
	if s.strict {
		s.mentioned[access.Subject{Kind: access.SubjectRole, Name: storage.RoleAdmin}] = true
	}
	s.everything = &toolView{tools: newBits(len(s.tools)), count: len(s.tools)}
	s.everything.tools.set(0, len(s.tools))
	for _, b := range r.bundles {
		s.bundles[b.Name] = s.bundle(b)
		if len(b.Rules) > 0 {
			a := newBundleIndex(b)
			for subject := range a.rules {
				s.mention(subject)
			}
			s.bundleLists[b.Name] = a
		}
	}
	s.labels = slices.SortedFunc(slices.Values(r.bundles), func(a,
		b access.Bundle) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// mention notes whom a rule is about, and with it what has to be known of a caller.
func (s *snapshot) mention(subject access.Subject) {
	s.mentioned[subject], s.strict = true, true
	s.tiers = s.tiers || subject.Kind == access.SubjectTier
	s.groups = s.groups || subject.Kind == access.SubjectGroup
	s.owners = s.owners || s.groups || subject.Kind == access.SubjectUser
}

// opensBundle reports whether a caller may use a bundle, which is there.
func (s *snapshot) opensBundle(who *toolaccess.Who, name string) bool {
	a := s.bundleLists[name]
	return a == nil || a.allows(who, 0)
}

// bundle returns the tools of a bundle.
//
// It includes no capability that has come to its owner after the bundle was written.
func (s *snapshot) bundle(b access.Bundle) bits {
	in := newBits(len(s.tools))
	for _, name := range b.Tools {
		member, tool, _ := toolplan.SplitName(name)
		a := s.access[member]
		if a == nil || !b.Knew(a.capability.Since()) {
			continue
		}
		if tool == "*" {
			in.set(a.lo, a.hi)
		} else if i, there := s.index[name]; there {
			in.set(i, i+1)
		}
	}
	return in
}

// mentionedOnly returns who without the subjects that no rule mentions, so that callers whom the
// rules treat alike are equal.
func (s *snapshot) mentionedOnly(who toolaccess.Who) toolaccess.Who {
	unless := func(kind, name string) string {
		if s.mentioned[access.Subject{Kind: kind, Name: name}] {
			return name
		}
		return ""
	}
	owner := who.Owner
	if owner != "" && !s.mentioned[who.DeniedAs()] {
		owner = ""
	}
	return toolaccess.Who{
		User: unless(access.SubjectUser, who.User), Role: unless(access.SubjectRole, who.Role),
		App: unless(access.SubjectApp, who.App), Tier: unless(access.SubjectTier, who.Tier),
		Owner: owner, Groups: s.mentionedGroups(who.Groups),
		OwnerGroups: s.mentionedGroups(who.OwnerGroups), Manages: s.owningOnly(who.Manages),
	}
}

// owningOnly returns those groups that own something which not everybody may use.
func (s *snapshot) owningOnly(all []string) (some []string) {
	for _, name := range all {
		if s.owning[name] {
			some = append(some, name)
		}
	}
	return some
}

// mentionedGroups returns those groups that a rule mentions.
func (s *snapshot) mentionedGroups(all []access.Group) (some []access.Group) {
	for _, g := range all {
		if s.mentioned[g.Subject()] {
			some = append(some, g)
		}
	}
	return some
}

// mayUse reports whether a caller may use a tool.
func (s *snapshot) mayUse(who *toolaccess.Who, i int) bool {
	return !s.strict || s.access[s.tools[i].capability.Member].allows(who, i)
}

// after returns the index of the first tool after a name, whether or not a tool has that name.
func (s *snapshot) after(name string) int {
	return sort.Search(len(s.tools), func(i int) bool { return s.tools[i].name > name })
}

// span returns the text of tools from to to, exclusive, joined by commas.
func (s *snapshot) span(from, to int) []byte {
	if from == to {
		return nil
	}
	return s.text[s.start(from):s.ends[to-1]]
}

func (s *snapshot) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1] + 1
}
