package mcpbus

import (
	"context"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// maxVerdicts bounds how many tools Explain explains at once.
const maxVerdicts = 200

// OpenToAll reports whether everybody may use a capability that has no access list.
func (b *Bus) OpenToAll() bool { return b.snapshot.Load().open }

// OpenedBySetting returns the value of storage.SettingDefaultAccess that makes OpenToAll so: with storage.AccessAuto,
// which is also that of none, Config.DefaultAccess does.
func (b *Bus) OpenedBySetting() string { return b.snapshot.Load().openBy }

// Unlisted names tools that everybody may use only because no access list says otherwise, the first n by name, and
// counts them all.
func (b *Bus) Unlisted(n int) (names []string, count int) {
	s := b.snapshot.Load()
	for _, a := range s.accesses {
		if !a.open {
			continue
		}
		for i := a.lo; i < a.hi; i++ {
			if !a.allows(&toolaccess.Who{}, i) { // a rule denies it to everyone
				continue
			}
			if count++; len(names) < n {
				names = append(names, s.tools[i].name)
			}
		}
	}
	return names, count
}

// Explain says which tools of the bus a user or an application may use with a token for all tools, up to 200 of those
// after a name, and returns the name from which to go on, "" at the end. Fields that the Viewer leaves
// empty are read from the store: the role of the user, the tier and the owner of the application.
func (b *Bus) Explain(ctx context.Context, v access.Viewer, after string,
	n int) (all []access.Verdict, next string, err error) {
	who, err := b.complete(ctx, toolaccess.Who{User: v.User, Role: v.Role, App: v.App, Tier: v.Tier},
		wants{role: true, app: v.App != "", groups: true, managed: true})
	if err != nil {
		return nil, "", err
	}
	s := b.snapshot.Load()
	from := s.after(after)
	to := min(len(s.tools), from+min(max(n, 1), maxVerdicts))
	caller := storage.Caller{AppID: who.App, UserID: who.User, Scope: "tools", Audience: b.c.BaseURL}
	for i := from; i < to; i++ {
		t := s.tools[i]
		a := s.access[t.capability.Member]
		d := toolaccess.Decide(a.stored, s.open, who, *t.capability, t.stored)
		verdict := access.Verdict{Tool: t.name, Allowed: d.Allowed, Rule: d.Rule, Because: d.Because}
		if d.Allowed && b.c.Visible != nil && !b.c.Visible(caller, *t.capability, t.stored) {
			verdict = access.Verdict{Tool: t.name, Because: "the service hides it from them"}
		}
		all = append(all, verdict)
	}
	if to < len(s.tools) && to > from {
		next = s.tools[to-1].name
	}
	return all, next, nil
}
