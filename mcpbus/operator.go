package mcpbus

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// maxVerdicts bounds how many tools Sees explains at once.
const maxVerdicts = 200

// Open reports whether everybody may use a capability that has no access list.
func (b *Bus) Open() bool { return b.snapshot.Load().open }

// OpenBy returns the value of storage.SettingDefaultAccess that makes Open so: with storage.AccessAuto, which
// is also that of none, Config.DefaultAccess does.
func (b *Bus) OpenBy() string { return b.snapshot.Load().openBy }

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

// Sees explains which tools of the bus somebody may use with a token for all tools, up to 200 of those
// after a name, and returns the name from which to go on, "" at the end. Fields that the Viewer leaves
// empty are read from the store: the role of the user, the tier and the owner of the application.
func (b *Bus) Sees(ctx context.Context, v access.Viewer, after string,
	n int) (all []access.Verdict, next string, err error) {
	who, err := b.viewer(ctx, v)
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

// viewer completes what is known of somebody.
func (b *Bus) viewer(ctx context.Context, v access.Viewer) (who toolaccess.Who, err error) {
	who = toolaccess.Who{User: v.User, Role: v.Role, App: v.App, Tier: v.Tier}
	if who.Role == "" && who.User != "" {
		if who.Role, err = b.roles.of(ctx, who.User); err != nil {
			return who, fmt.Errorf("mcpbus: the role of a user cannot be read: %w", err)
		}
	}
	if who.App == "" {
		return who, nil
	}
	app, err := b.tiers.of(ctx, who.App)
	if err != nil {
		return who, fmt.Errorf("mcpbus: the tier and owner of an application cannot be read: %w", err)
	}
	if who.Tier == "" {
		who.Tier = app.TierAt(time.Now())
	}
	if who.User == "" {
		who.Owner = app.Owner
	}
	return who, nil
}
