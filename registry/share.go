package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
)

// shareLimit returns what a capability with so many tools is held against in the step that
// stores it; nil for an administrator, whom the shares are not meant for.
func (g *Registry) shareLimit(actor storage.User, c storage.Capability, tools int) func(owned []storage.Capability) error {
	if actor.Role == storage.RoleAdmin {
		return nil
	}
	return func(owned []storage.Capability) error { return g.withinShare(owned, c, tools) }
}

// checkShare says whether the actor may have a capability with so many tools. It is asked before
// work is done for nothing; what counts is asked by the store.
func (g *Registry) checkShare(ctx context.Context, actor storage.User, c storage.Capability, tools int) error {
	allow := g.shareLimit(actor, c, tools)
	if allow == nil || actor.Sub == "" {
		return nil
	}
	owned, err := g.owned(ctx, actor.Sub)
	if err != nil {
		return err
	}
	return allow(owned)
}

// withinShare says whether somebody may have a capability with so many tools beside what they
// have, or in place of one of those. What does not grow may always be replaced: a share
// may have become smaller, and an upstream may list more than it did.
func (g *Registry) withinShare(owned []storage.Capability, c storage.Capability, tools int) error {
	before, others, replaces := 0, 0, false
	for _, o := range owned {
		if o.Member == c.Member {
			before, replaces = toolsOnBus(o), true
		} else {
			others += toolsOnBus(o)
		}
	}
	if !c.Publish {
		tools = 0
	}
	switch {
	case !replaces && len(owned) >= g.c.MaxCapabilities:
		oldest := slices.MinFunc(owned, func(a, b storage.Capability) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
		return limitf("you have %d capabilities, and may have at most %d: remove one first (%q was changed longest ago), or register one of them again", len(owned), g.c.MaxCapabilities, oldest.Member)
	case tools > before && others+tools > g.c.MaxTools:
		return limitf("with this you would have %d tools on the bus, and may have at most %d: leave operations out, or remove a capability%s", others+tools, g.c.MaxTools, largest(owned, c.Member))
	}
	return nil
}

// toolsOnBus counts the tools of a capability that are on the bus, as far as they are known.
func toolsOnBus(c storage.Capability) int {
	if !c.Publish {
		return 0
	}
	return c.ToolCount
}

// maxNamed is how many capabilities a refusal names.
const maxNamed = 3

// largest names those, but for one, that have most tools on the bus.
func largest(owned []storage.Capability, but string) string {
	owned = slices.DeleteFunc(slices.Clone(owned), func(c storage.Capability) bool { return c.Member == but || toolsOnBus(c) == 0 })
	slices.SortFunc(owned, func(a, b storage.Capability) int {
		return cmp.Or(toolsOnBus(b)-toolsOnBus(a), cmp.Compare(a.Member, b.Member))
	})
	var names []string
	for _, c := range owned[:min(len(owned), maxNamed)] {
		names = append(names, fmt.Sprintf("%q (%d)", c.Member, toolsOnBus(c)))
	}
	if len(names) == 0 {
		return ""
	}
	return "; most have " + strings.Join(names, ", ")
}
