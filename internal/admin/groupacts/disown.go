package groupacts

import (
	"cmp"
	"context"
	"errors"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

// disown takes from a group all that it owns, which is nobody's then, and tells its managers of the applications. Its
// accounts, and the names that are kept for it, go too, so that another group of its name has none of them. It
// reads the first page until there is none: what it has taken is on no page any more.
func (a *Acts) disown(ctx context.Context, by admin.Actor, g groups.Group) error {
	owner := access.SubjectGroup + ":" + g.Name
	for {
		apps, _, err := a.c.Store.Apps(ctx, owner, "", driver.Page)
		if err != nil {
			return err
		}
		for _, app := range apps {
			if err := a.disownApp(ctx, by, g, owner, app.ID); err != nil {
				return err
			}
		}
		capabilities, _, err := a.c.Store.Capabilities(ctx, owner, "", driver.Page)
		if err != nil {
			return err
		}
		for _, c := range capabilities {
			if err := a.disownCapability(ctx, by, owner, c.Member); err != nil {
				return err
			}
		}
		if len(apps)+len(capabilities) == 0 {
			return cmp.Or(a.c.Store.DisownAccounts(ctx, owner), a.c.Store.GiveUpNames(ctx, owner))
		}
	}
}

// disownApp takes an application from its owner, with its orders. One that is not theirs any more is left alone.
func (a *Acts) disownApp(ctx context.Context, by admin.Actor, g groups.Group, owner, id string) error {
	var before storage.App
	after, err := storage.RetryOnConflict(ctx, func() (app storage.App, err error) {
		before, err = a.c.Store.App(ctx, id)
		if err != nil || before.Owner != owner {
			return before, err
		}
		return a.c.Store.GiveApp(ctx, before, "")
	})
	if errors.Is(err, storage.ErrNotFound) || err == nil && before.Owner != owner {
		return nil
	}
	if err != nil {
		return err
	}
	a.c.Recorder.Notify(ctx, by, event.Notice{Kind: event.NoticeApp, App: after.Name, Detail: "changed: owner"},
		g.Managers...)
	return a.c.Recorder.Note(ctx, by, admin.Act{What: "app set", On: id, App: id, User: owner,
		Changes: admin.AppChanges(before, after)})
}

// disownCapability takes a capability from its owner. Its tools stay as they are.
func (a *Acts) disownCapability(ctx context.Context, by admin.Actor, owner, member string) error {
	var before storage.Capability
	after, err := storage.RetryOnConflict(ctx, func() (storage.Capability, error) {
		c, tools, err := a.c.Store.Tools(ctx, member)
		if before = c; err != nil || c.Owner != owner {
			return c, err
		}
		c.Owner = ""
		return a.c.Store.SaveCapability(ctx, c, tools)
	})
	if errors.Is(err, storage.ErrNotFound) || err == nil && before.Owner != owner {
		return nil
	}
	if err != nil {
		return err
	}
	return a.c.Recorder.Note(ctx, by, admin.Act{Kind: event.Registration, What: "capability update", On: member,
		User: owner, Changes: admin.CapabilityChanges(before, after)})
}
