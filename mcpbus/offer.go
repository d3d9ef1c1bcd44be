package mcpbus

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// maxOfferedText bounds a description in an offer, in bytes.
const maxOfferedText = 160

// Offer returns the tools of a scope that a user (a sub) may use through an application, as the bus
// would list them to it. It implements signin.Tools.
func (b *Bus) Offer(ctx context.Context, sub, clientID, wanted string) (access.Offer, error) {
	var o access.Offer
	if b.lag.stale() {
		return o, catalogStale
	}
	x := &exchange{bus: b, address: &b.root, snapshot: b.snapshot.Load(),
		caller: storage.Caller{AppID: clientID, UserID: sub, Scope: wanted}}
	var ok bool
	if x.openedTools, ok = b.root.openedBy(x.caller); !ok {
		return o, nil
	}
	if err := x.loadSubjects(ctx); err != nil {
		return o, err
	}
	tools := x.toolView().tools
	o.Tools, o.ReadOnly = tools.count(), tools.common(x.snapshot.readOnly)
	x.offerMembers(&o, tools)
	for _, bundle := range x.snapshot.labels {
		n := tools.common(x.snapshot.bundles[bundle.Name])
		offered := x.snapshot.opensBundle(&x.who, bundle.Name) && scope.Within(wanted, scope.Bundle(bundle.Name))
		if n > 0 && offered && len(o.Bundles) < access.MaxOfferedBundles {
			o.Bundles = append(o.Bundles, access.OfferedBundle{Name: bundle.Name, Label: offeredText(bundle.Label), Count: n})
		}
	}
	return o, nil
}

// offerMembers adds the capabilities. Each has the same share of the tools that are shown.
func (x *exchange) offerMembers(o *access.Offer, tools bits) {
	s := x.snapshot
	var found []*accessIndex
	for _, a := range s.accesses {
		if i := tools.next(a.lo); i < 0 || i >= a.hi {
			continue
		}
		if found = append(found, a); len(found) > access.MaxOfferedMembers {
			o.Hidden++
		}
	}
	found = found[:min(len(found), access.MaxOfferedMembers)]
	for _, a := range found {
		m := access.OfferedMember{Name: a.capability.Member, Label: offeredText(a.capability.Label)}
		m.Whole = scope.Within(x.caller.Scope, scope.Member(m.Name))
		for i := tools.next(a.lo); 0 <= i && i < a.hi; i = tools.next(i + 1) {
			if m.Count++; len(m.Tools) < access.MaxOfferedTools/len(found) {
				t := s.tools[i].stored
				m.Tools = append(m.Tools, access.OfferedTool{Name: t.Name, Description: offeredText(t.Description),
					ReadOnly: t.ChangesNothing()})
			}
		}
		o.Members = append(o.Members, m)
	}
}

// offeredText returns the first line of a text, without what cannot be seen, cut.
func offeredText(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(toolschema.Lines(text)), "\n")
	line = strings.TrimSpace(line)
	if len(line) <= maxOfferedText {
		return line
	}
	line = line[:maxOfferedText]
	for !utf8.ValidString(line) {
		line = line[:len(line)-1]
	}
	return line + "…"
}
