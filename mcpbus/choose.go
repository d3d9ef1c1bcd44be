package mcpbus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// LeftOut says why a published capability is not on the bus, "" if nothing keeps it off.
func (b *Bus) LeftOut(member string) string { return b.snapshot.Load().leftOut[member] }

// choose returns the tools that are on the bus, and why which members are not. Who came
// first stays: neither a name nor a new registration of somebody else pushes anybody out.
// Whoever has the turn may call it.
func (b *Bus) choose() (tools []*tool, leftOut map[string]string) {
	leftOut, owned := map[string]string{}, map[string]int{}
	for _, m := range slices.SortedFunc(maps.Values(b.shelf.members), older) {
		owner, member := m.capability.Owner, m.capability.Member
		switch {
		case owned[owner]+len(m.tools) > b.c.MaxOwnerTools:
			leftOut[member] = fmt.Sprintf("the bus leaves this capability out: with its %d tools its owner would have %d there, and may have at most %d; remove or shorten others, or register it with fewer tools", len(m.tools), owned[owner]+len(m.tools), b.c.MaxOwnerTools)
		case len(tools)+len(m.tools) > b.c.MaxTools:
			leftOut[member] = fmt.Sprintf("the bus leaves this capability out: it has at most %d tools, those that were registered first; register this one with fewer, or ask the operator for room", b.c.MaxTools)
		default:
			owned[owner] += len(m.tools)
			tools = append(tools, m.tools...)
		}
	}
	return tools, leftOut
}

// older orders members by when their names were registered first.
func older(a, b *member) int {
	return cmp.Or(a.capability.CreatedAt.Compare(b.capability.CreatedAt), cmp.Compare(a.capability.Member, b.capability.Member))
}
