// Package groupacts holds the acts of administration on groups of users and on their members. Administrators with a
// fresh sign-in, or the operator, make, change and delete groups. The managers of a group add and remove its members,
// whatever their role is, and do nothing else to it; an auditor changes nothing, as everywhere.
//
// See package admin for what an act is. Users are named by sub.
package groupacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store keeps groups, their members, and who is in them by connectors; *storage.Store does.
type Store interface {
	Group(ctx context.Context, name string) (groups.Group, error)
	SaveGroup(ctx context.Context, g groups.Group) (groups.Group, error)
	DeleteGroup(ctx context.Context, g groups.Group) error
	AddMember(ctx context.Context, group, sub string) (added bool, err error)
	RemoveMember(ctx context.Context, group, sub string) (removed bool, err error)
	User(ctx context.Context, sub string) (storage.User, error)
	owned
	mappings
}

// owned keeps the things that groups have.
type owned interface {
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	App(ctx context.Context, id string) (storage.App, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	SaveCapability(ctx context.Context, c storage.Capability, tools []toolplan.Tool,
		events ...storage.Delivery) (storage.Capability, error)
	DisownAccounts(ctx context.Context, owner string) error
	GiveUpNames(ctx context.Context, owner string) error
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Recorder admin.Recorder
}

// Acts are the acts on groups.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts { return &Acts{c} }

// Sees reports whether an actor may read a group and its members: administrators, auditors and its managers may.
func Sees(by admin.Actor, g groups.Group) bool { return by.Reader() == nil || g.Manages(by.Sub) }

// ChangesMembers reports whether an actor may add and remove members of a group.
func ChangesMembers(by admin.Actor, g groups.Group) bool {
	return by.Admin() == nil || g.Manages(by.Sub) && by.Writer() == nil
}

// may refuses everybody but administrators with a fresh sign-in.
func may(by admin.Actor) error { return cmp.Or(by.Admin(), by.Fresh()) }

// Create makes a group. Its error wraps storage.ErrExists if there is one of that name.
func (a *Acts) Create(ctx context.Context, by admin.Actor, g groups.Group) (groups.Group, error) {
	if err := cmp.Or(may(by), g.Check()); err != nil {
		return g, err
	}
	if err := a.known(ctx, g.Managers); err != nil {
		return g, err
	}
	g, err := a.c.Store.SaveGroup(ctx, g)
	if errors.Is(err, storage.ErrExists) {
		err = fmt.Errorf("name: there is a group %s already: %w", g.Name, storage.ErrExists)
	}
	if err != nil {
		return g, err
	}
	return g, a.done(ctx, by, "group create", groups.Group{}, g)
}

// Change says what Set changes.
type Change struct {
	Label    *string // nil: unchanged
	Managers Managers
}

// Managers says how the managers of a group, subs, change: Instead, which is not nil, replaces them, and then there are
// those of Add too, and none of Drop.
type Managers struct{ Instead, Add, Drop []string }

// of returns the managers as they are after the change.
func (m Managers) of(now []string) []string {
	if m.Instead != nil {
		now = m.Instead
	}
	after := slices.Compact(slices.Sorted(slices.Values(slices.Concat(now, m.Add))))
	return slices.DeleteFunc(after, func(sub string) bool { return slices.Contains(m.Drop, sub) })
}

// Set changes the label and the managers of a group.
func (a *Acts) Set(ctx context.Context, by admin.Actor, name string, c Change) (before, after groups.Group,
	err error) {
	if err := may(by); err != nil {
		return before, after, err
	}
	after, err = storage.RetryOnConflict(ctx, func() (groups.Group, error) {
		g, err := a.c.Store.Group(ctx, name)
		if before = g; err != nil {
			return g, err
		}
		g.Managers = c.Managers.of(before.Managers)
		if c.Label != nil {
			g.Label = *c.Label
		}
		if err := cmp.Or(g.Check(), a.known(ctx, without(g.Managers, before.Managers))); err != nil {
			return g, err
		}
		return a.c.Store.SaveGroup(ctx, g)
	})
	if err != nil {
		return before, after, err
	}
	return before, after, a.done(ctx, by, "group set", before, after)
}

// known refuses managers who are no users.
func (a *Acts) known(ctx context.Context, subs []string) error {
	for _, sub := range subs {
		_, err := a.c.Store.User(ctx, sub)
		if errors.Is(err, storage.ErrNotFound) {
			err = fmt.Errorf("%w: managers: %q is no user", storage.ErrInvalid, sub)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes a group. From then on it has no members, what names it means nobody, and what it owned belongs to
// nobody. If it breaks off it is to be done again.
func (a *Acts) Delete(ctx context.Context, by admin.Actor, name string) error {
	if err := may(by); err != nil {
		return err
	}
	g, err := storage.RetryOnConflict(ctx, func() (groups.Group, error) {
		g, err := a.c.Store.Group(ctx, name)
		if err == nil { // before the group ends: another one that is made under its name inherits nothing
			err = a.disown(ctx, by, g)
		}
		if err == nil { // which fails if it was given something meanwhile
			err = a.c.Store.DeleteGroup(ctx, g)
		}
		return g, err
	})
	if err != nil {
		return err
	}
	return a.done(ctx, by, "group delete", g, groups.Group{})
}

// AddMember makes a user a member of a group, and reports whether they were none. Its error wraps storage.ErrNotFound
// if there is no such group, or no such user.
func (a *Acts) AddMember(ctx context.Context, by admin.Actor, name, sub string) (added bool, err error) {
	if err := a.mayManage(ctx, by, name); err != nil {
		return false, err
	}
	if _, err := a.c.Store.User(ctx, sub); err != nil {
		return false, err
	}
	if added, err = a.c.Store.AddMember(ctx, name, sub); err != nil {
		return false, err
	}
	if added {
		return true, a.note(ctx, by, "group add", name, sub, "member +"+sub)
	}
	return false, a.note(ctx, by, "group add", name, sub) // a connector no longer removes them
}

// RemoveMember ends a membership, and reports whether there was one.
func (a *Acts) RemoveMember(ctx context.Context, by admin.Actor, name, sub string) (removed bool, err error) {
	if err := a.mayManage(ctx, by, name); err != nil {
		return false, err
	}
	if removed, err = a.c.Store.RemoveMember(ctx, name, sub); err != nil || !removed {
		return false, err
	}
	return true, a.note(ctx, by, "group remove", name, sub, "member -"+sub)
}

// mayManage refuses an actor who may not change the members of a group. One who may not see it is told that there is
// none.
func (a *Acts) mayManage(ctx context.Context, by admin.Actor, name string) error {
	g, err := a.c.Store.Group(ctx, name)
	switch {
	case err != nil:
		return err
	case !Sees(by, g):
		return storage.ErrNotFound
	case !ChangesMembers(by, g):
		return admin.ReadsOnly // an auditor
	}
	return by.Fresh()
}

// note writes an act on a member to the audit trail.
func (a *Acts) note(ctx context.Context, by admin.Actor, what, name, sub string, changes ...string) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: name, User: sub, Changes: changes})
}

// done writes an act on a group to the audit trail, and tells the users who manage it from now on, or no longer.
func (a *Acts) done(ctx context.Context, by admin.Actor, what string, before, after groups.Group) error {
	name := cmp.Or(after.Name, before.Name)
	err := a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: name, Changes: admin.GroupChanges(before, after)})
	for text, subs := range map[string][]string{
		"manager of the group " + name + " now":  without(after.Managers, before.Managers),
		"no longer manager of the group " + name: without(before.Managers, after.Managers),
	} {
		if by.Operator == "" {
			text = "by an administrator: " + text
		}
		a.c.Recorder.Notify(ctx, by, event.Notice{Kind: event.NoticeRole, Detail: text}, subs...)
	}
	return err
}

// without returns the texts of one list that another has not.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}
