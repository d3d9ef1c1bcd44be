package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// Remove deletes a capability. The error has HTTP status 404 if there is none, 403 if it belongs
// to another user.
func (g *Registry) Remove(ctx context.Context, actor storage.User, member string) error {
	removed, err := retryOnConflict(ctx, func() (storage.Capability, error) {
		c, err := g.c.Store.Capability(ctx, member)
		if err == nil && !mayChange(ctx, actor, c) {
			err = notYours
		}
		var events []storage.Delivery
		if err == nil {
			events, err = webhook.Events(webhook.Removed, c)
		}
		if err == nil {
			err = g.c.Store.DeleteCapability(ctx, c, events...)
		}
		return c, err
	})
	if err != nil {
		return toNotFound(err)
	}
	g.notify(member)
	return g.note(ctx, actor, "remove", removed, storage.Capability{})
}

// note writes what was done to a capability on the audit trail, with what has changed of it. A change is not answered
// before it stands there.
func (g *Registry) note(ctx context.Context, actor storage.User, what string, before, after storage.Capability,
	more ...string) error {
	if g.c.Audit == nil {
		return nil
	}
	err := admin.Recorder{Trail: g.c.Audit}.Note(ctx, admin.ActorOf(ctx, actor), admin.Act{
		Kind: event.Registration, What: "capability " + what, On: cmp.Or(after.Member, before.Member),
		User:    cmp.Or(after.Owner, before.Owner),
		Changes: append(more, admin.CapabilityChanges(before, after)...),
	})
	if err != nil {
		return auditFailed.Because(err)
	}
	return nil
}

// Show returns a capability with its tools; its errors are those of Remove.
func (g *Registry) Show(ctx context.Context, actor storage.User, member string) (Registered, error) {
	p, err := g.c.Store.StoredPlace(ctx, member)
	if err == nil && !maySee(ctx, actor, p.Capability) {
		return Registered{}, notYours // and the tools are not decoded
	}
	if err != nil {
		return Registered{}, toNotFound(err)
	}
	tools, err := g.c.Store.ToolsAt(ctx, p)
	if err != nil {
		return Registered{}, err
	}
	c := p.Capability
	return Registered{Capability: c, Tools: tools, Warning: g.unlisted(c)}.withWarning(g.heldWarning(ctx, c)), nil
}

// unlisted returns why a published capability has no tools on the bus, "" if it has some, or if no Bus
// is configured.
func (g *Registry) unlisted(c storage.Capability) string {
	if g.c.Bus == nil {
		return ""
	}
	return g.c.Bus.WhyUnlisted(c.Member)
}

// List returns the capabilities that a user may see, without their tools and sorted by member: an administrator and
// an auditor see all, other users their own.
func (g *Registry) List(ctx context.Context, actor storage.User) ([]Registered, error) {
	owner := actor.Sub
	if seesAll(actor) {
		owner = ""
	} else if owner == "" {
		return nil, nil // "" would list those of all owners
	}
	return g.listOf(ctx, owner)
}

// listOf is List for an owner; "" for those of all.
func (g *Registry) listOf(ctx context.Context, owner string) ([]Registered, error) {
	all, err := ownedBy(ctx, g.c.Store, owner)
	list := make([]Registered, len(all))
	for i, c := range all {
		list[i] = Registered{Capability: c, Warning: g.unlisted(c)}
	}
	return list, err
}

// ownedBy returns the capabilities of an owner; "" for those of all.
func ownedBy(ctx context.Context, store Store, owner string) (all []storage.Capability, err error) {
	for from := ""; ; {
		page, next, err := store.Capabilities(ctx, owner, from, driver.Page)
		if err != nil {
			return nil, fmt.Errorf("registry: list: %w", err)
		}
		if all = append(all, page...); next == "" {
			return all, nil
		}
		from = next
	}
}

func toNotFound(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return notFound.Because(err)
	}
	return err
}

// reloadTimeout bounds how long a registration waits for the bus.
const reloadTimeout = 5 * time.Second

// notify tells of a capability that was removed, or whose tools were accepted.
func (g *Registry) notify(member string) {
	g.tell(member, func(ctx context.Context) error { return g.c.Bus.Reload(ctx) })
}

// announce tells of a capability that was written. The bus is given the same that it would read, so it does not
// ask the store.
func (g *Registry) announce(p storage.Place, created int64) {
	g.tell(p.Member, func(bounded context.Context) error {
		var tools []toolplan.Tool
		if p.Publish {
			var err error
			if tools, err = g.c.Store.ToolsAt(bounded, p); err != nil {
				return err
			}
		}
		return g.c.Bus.Update(bounded, p.Capability, tools, created)
	})
}

func (g *Registry) tell(member string, bus func(context.Context) error) {
	if g.sender != nil {
		g.sender.Wake()
	}
	if g.c.Bus == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	if err := bus(ctx); err != nil {
		g.c.Log.Warn("the bus has not loaded a registration yet", "member", member, "err", err)
	}
}
