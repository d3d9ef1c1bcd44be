package mcpbus

import (
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// openedTools holds which tools the scope of a token opens at an address: all, or the union of the rest.
//
// A user who is asked for all tools may allow a bundle, and the client stays at the address of the whole bus:
// so the scope of a bundle opens its tools there too, while a token whose audience is the bundle is good for
// its address alone. The scope of a capability opens no bundle. A scope of a capability or a tool opens nothing
// that came to its owner after the grant: the name meant another owner's then (decision 100).
type openedTools struct {
	all      bool
	readOnly bool     // the tools that change nothing
	bundles  []string // the tools of these bundles; this and the others are sorted
	members  []string // the tools of these capabilities
	tools    []string // these tools, by their names on the bus

	granted time.Time // when the token was; what has another owner since then, members and tools do not mean. Zero: now
}

// openedBy reads a token's scope (decision 53); false if nothing in it opens the address. Only an
// application's own token has the scope app: a user cannot be taken for one by a text. At the
// address of a bundle its own scope opens all that is there, and what opens all tools that change
// nothing opens these; at the address of the whole bus each scope opens what it names.
func (e *address) openedBy(caller storage.Caller) (openedTools, bool) {
	to := openedTools{granted: caller.GrantedAt}
	for name := range strings.FieldsSeq(caller.Scope) {
		if name == scope.Tools || name == scope.App && caller.UserID == "" || e.bundle != "" &&
			name == scope.Bundle(e.bundle) {
			return openedTools{all: true}, true
		}
		to.readOnly = to.readOnly || name == scope.ReadOnlyTools
		if e.bundle == "" {
			to.add(name)
		}
	}
	for _, names := range []*[]string{&to.bundles, &to.members, &to.tools} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	return to, to.readOnly || len(to.bundles)+len(to.members)+len(to.tools) > 0
}

// add adds what a scope of one bundle, capability or tool opens.
func (to *openedTools) add(name string) {
	if bundle, ok := scope.BundleOf(name); ok {
		to.bundles = append(to.bundles, bundle)
	} else if member, ok := scope.MemberOf(name); ok {
		to.members = append(to.members, member)
	} else if member, tool, ok := scope.ToolOf(name); ok {
		to.tools = append(to.tools, member+"__"+tool)
	}
}

// covers reports whether a tool of a snapshot, by index, is within reach.
func (to *openedTools) covers(s *snapshot, i int) bool {
	if to.all {
		return true
	}
	t := s.tools[i]
	_, one := slices.BinarySearch(to.tools, t.name)
	_, whole := slices.BinarySearch(to.members, t.capability.Member)
	return (one || whole) && to.means(t.capability) || to.readOnly && t.stored.ChangesNothing() ||
		slices.ContainsFunc(to.bundles, func(name string) bool { in, there := s.bundles[name]; return there && in.has(i) })
}

// means reports whether a capability that the scope names is that of the owner whom it meant (decision 100).
func (to *openedTools) means(c *storage.Capability) bool {
	return to.granted.IsZero() || !c.Since().After(to.granted)
}

// key identifies the tools of a snapshot that are within reach: those of the same key are the same. It
// names only what exists, so that a token cannot make it long, and is never "".
func (to *openedTools) key(s *snapshot) string {
	var key strings.Builder
	key.WriteByte(' ')
	if to.readOnly {
		key.WriteString(" " + scope.ReadOnlyTools)
	}
	for _, name := range to.bundles {
		if _, there := s.bundles[name]; there {
			key.WriteString(" " + scope.Bundle(name))
		}
	}
	for _, name := range to.members {
		if a := s.access[name]; a != nil && to.means(a.capability) {
			key.WriteString(" " + scope.Member(name))
		}
	}
	for _, name := range to.tools {
		if i, there := s.index[name]; there && to.means(s.tools[i].capability) {
			member, tool, _ := strings.Cut(name, "__")
			key.WriteString(" " + scope.Tool(member, tool))
		}
	}
	return key.String()
}

// within returns the tools that a key of a reach stands for.
func (s *snapshot) within(key string) bits {
	in := newBits(len(s.tools))
	for name := range strings.FieldsSeq(key) {
		if name == scope.ReadOnlyTools {
			in.or(s.readOnly)
		} else if bundle, ok := scope.BundleOf(name); ok {
			in.or(s.bundles[bundle])
		} else if member, ok := scope.MemberOf(name); ok {
			in.set(s.access[member].lo, s.access[member].hi)
		} else if member, tool, ok := scope.ToolOf(name); ok {
			i := s.index[member+"__"+tool]
			in.set(i, i+1)
		}
	}
	return in
}

// maxStepUp bounds the scopes in a challenge, in bytes.
const maxStepUp = 1 << 10

// stepUpScope returns the scope that opens one more tool. It includes what the token opens already: a
// client requests exactly what the challenge names, and would lose the rest (MCP, authorization).
// To a token of whole capabilities it names one more of them; to others, whose user has chosen more
// narrowly, the tool alone.
func (to *openedTools) stepUpScope(t *tool) string {
	more := scope.Tool(t.capability.Member, t.stored.Name)
	if len(to.members) > 0 && len(to.bundles)+len(to.tools) == 0 && !to.readOnly {
		more = scope.Member(t.capability.Member)
	}
	all := more
	for _, name := range to.scopes() {
		if len(all) > maxStepUp {
			return more
		}
		all = name + " " + all
	}
	return all
}

// scopes returns the scopes that a reach was read from.
func (to *openedTools) scopes() (all []string) {
	for _, name := range to.members {
		all = append(all, scope.Member(name))
	}
	if to.readOnly {
		all = append(all, scope.ReadOnlyTools)
	}
	for _, name := range to.bundles {
		all = append(all, scope.Bundle(name))
	}
	for _, name := range to.tools {
		member, tool, _ := strings.Cut(name, "__")
		all = append(all, scope.Tool(member, tool))
	}
	return all
}
