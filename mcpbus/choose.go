package mcpbus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
)

// WhyUnlisted returns why a published capability is not on the bus, or why its upstream has not told its tools, "" if
// neither is so.
func (b *Bus) WhyUnlisted(member string) string { return (*b.leftOut.Load())[member] }

// chooseTools returns the tools that are on the bus. Older capabilities have priority: neither a
// name nor a new registration by another owner pushes them out. A capability is left out as a
// whole, because half a list would look as if tools had been removed, and is logged once.
// The caller must hold the catalog's lock.
func (b *Bus) chooseTools(ctx context.Context) (tools []*tool) {
	leftOut, owned := map[string]string{}, map[string]int{}
	for _, m := range slices.SortedFunc(maps.Values(b.catalog.members), older) {
		owner, member := m.capability.Owner, m.capability.Member
		level := slog.LevelWarn
		switch {
		case owned[owner]+len(m.tools) > b.c.MaxOwnerTools:
			leftOut[member] = fmt.Sprintf("the bus leaves this capability out: with its %d tools its owner would have %d "+
				"there, and may have at most %d; remove or shorten others, or register it with fewer tools", len(m.tools),
				owned[owner]+len(m.tools), b.c.MaxOwnerTools)
		case len(tools)+len(m.tools) > b.c.MaxTools:
			level = slog.LevelError // the operator has to do something
			leftOut[member] = fmt.Sprintf("the bus leaves this capability out: it has at most %d tools, those that were "+
				"registered first; register this one with fewer, or ask the operator for room", b.c.MaxTools)
		default:
			m.tellTrouble(leftOut)
			owned[owner] += len(m.tools)
			tools = append(tools, m.tools...)
			continue
		}
		if b.WhyUnlisted(member) == "" {
			b.c.Log.Log(ctx, level, "mcpbus: a capability is left out", "member", member, "owner", owner, "why", leftOut[member])
		}
	}
	b.leftOut.Store(&leftOut)
	return tools
}

// older orders members by when their names were registered first.
func older(a, b *member) int {
	return cmp.Or(a.capability.CreatedAt.Compare(b.capability.CreatedAt),
		cmp.Compare(a.capability.Member, b.capability.Member))
}
