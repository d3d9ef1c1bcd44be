package admin

import (
	"context"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// open reports whether everybody may use what has no list.
func (r Target) open(ctx context.Context) (bool, error) {
	value, err := r.Store.Setting(ctx, storage.SettingDefaultAccess)
	if err == nil && (value == "" || value == storage.AccessAuto) {
		var ways access.Ways
		if ways, _, err = r.ways(); err == nil {
			value, err = r.Store.DefaultAccess(ctx, ways)
		}
	}
	return value == storage.AccessEveryone, err
}

// ways returns every way in, and the page that takes invitations.
func (r Target) ways() (access.Ways, string, error) {
	if r.Ways == nil {
		return nil, "", nil
	}
	return r.Ways()
}

// whatSomebodyMayUse lists every tool with what decides about it.
func whatSomebodyMayUse(ctx context.Context, target Target, text string) (output, error) {
	who, err := somebody(ctx, target.Store, text)
	if err != nil {
		return nil, err
	}
	open, err := target.open(ctx)
	if err != nil {
		return nil, err
	}
	all, err := everything(func(from string) ([]storage.Capability, string, error) {
		return target.Store.Capabilities(ctx, "", from, driver.Page)
	})
	said := list{empty: "no tools"}
	for _, c := range all {
		if !c.Publish || err != nil {
			continue
		}
		var tools []toolplan.Tool
		if c, tools, err = target.Store.Tools(ctx, c.Member); err != nil {
			break
		}
		l, e := target.Store.Access(ctx, c.Member)
		err = e
		for _, t := range tools {
			d := toolaccess.Decide(l, open, who, c, t)
			because := d.Because
			if d.Rule != nil {
				because = ruleText(*d.Rule)
			}
			said.rows = append(said.rows, answer{{"tool", c.Member + "__" + t.Name}, {"allowed", d.Allowed},
				{"because", because}})
		}
	}
	return said, err
}

// somebody is a user by username or sub, user:USER or app:CLIENT_ID. Which application a
// user uses is not known here, so rules about applications and tiers say nothing of a user.
func somebody(ctx context.Context, store *storage.Store, text string) (toolaccess.Who, error) {
	if id, ok := strings.CutPrefix(text, access.SubjectApp+":"); ok {
		app, err := appOf(ctx, store, id)
		who := toolaccess.Who{App: app.ID, Tier: app.TierAt(time.Now()), Owner: app.Owner}
		if _, is := access.OwningGroup(app.Owner); err == nil && app.Owner != "" && !is {
			who.OwnerGroups, err = store.GroupsOf(ctx, app.Owner)
		}
		return who, err
	}
	u, err := userOf(ctx, store, strings.TrimPrefix(text, access.SubjectUser+":"))
	if err != nil {
		return toolaccess.Who{}, err
	}
	who := toolaccess.Who{User: u.Sub, Role: u.Role}
	if u.Disabled {
		who.Role = ""
	}
	if who.Groups, err = store.GroupsOf(ctx, u.Sub); err != nil {
		return who, err
	}
	managed, err := everything(func(from string) ([]groups.Group, string, error) {
		return store.GroupsManagedBy(ctx, u.Sub, from, driver.Page)
	})
	for _, g := range managed {
		who.Manages = append(who.Manages, g.Name)
	}
	return who, err
}
