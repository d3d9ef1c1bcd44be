package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
)

// shareLimit returns the check of the owner's limits that the store runs in the step that writes;
// nil for an administrator, who has no limits, and for a change that adds nothing to what is there.
//
// All capabilities of an owner count, the private ones too; of the tools those that are published and known: tools
// that an upstream lists later are limited by the bus, to the same number. A change that adds nothing is never
// refused, so lowering the limit locks no owner out. The store counts in the step that writes, so concurrent
// registrations cannot exceed the limit together.
func (c *Config) shareLimit(actor storage.User, there, one storage.Capability,
	tools int) func(owned []storage.Capability) error {
	if actor.Role == storage.RoleAdmin || there.Version != 0 && there.Owner == one.Owner &&
		(!one.Publish || tools <= toolsOnBus(there)) {
		return nil
	}
	return func(owned []storage.Capability) error { return c.withinShare(owned, one, tools) }
}

// checkShare refuses early what is beyond the limits of an owner; the check that counts runs in the store.
func (c *Config) checkShare(ctx context.Context, actor storage.User, owner string, one storage.Capability,
	tools int) error {
	allow := c.shareLimit(actor, storage.Capability{}, one, tools)
	if allow == nil || owner == "" {
		return nil
	}
	owned, err := ownedBy(ctx, c.Store, owner)
	if err != nil {
		return err
	}
	return allow(owned)
}

// withinShare returns an error if a capability with so many tools exceeds the limits of an owner
// who has the capabilities in owned. Replacing one without adding tools is always allowed: the
// limit may have been lowered, and an upstream may list more tools than before.
func (c *Config) withinShare(owned []storage.Capability, one storage.Capability, tools int) error {
	before, others, replaces := 0, 0, false
	for _, o := range owned {
		if o.Member == one.Member {
			before, replaces = toolsOnBus(o), true
		} else {
			others += toolsOnBus(o)
		}
	}
	if !one.Publish {
		tools = 0
	}
	switch {
	case !replaces && len(owned) >= c.MaxCapabilities:
		oldest := slices.MinFunc(owned, func(a, b storage.Capability) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
		return limitf("you have %d capabilities, and may have at most %d: remove one first (%q was changed longest ago), or "+
			"register one of them again", len(owned), c.MaxCapabilities, oldest.Member)
	case tools > before && others+tools > c.MaxTools:
		return limitf("with this you would have %d tools on the bus, and may have at most %d: leave operations out, or "+
			"remove a capability%s", others+tools, c.MaxTools, largest(owned, one.Member))
	}
	return nil
}

// toolsOnBus returns how many known tools of a capability are published.
func toolsOnBus(c storage.Capability) int {
	if !c.Publish {
		return 0
	}
	return c.ToolCount
}

// maxNamed bounds the capabilities that a refusal names.
const maxNamed = 3

// largest names the capabilities, except one, that have the most tools on the bus.
func largest(owned []storage.Capability, but string) string {
	owned = slices.DeleteFunc(slices.Clone(owned),
		func(c storage.Capability) bool { return c.Member == but || toolsOnBus(c) == 0 })
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
