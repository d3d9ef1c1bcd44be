package groups

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
	"github.com/keystile/keystile/storage/internal/find"
)

// Limits of groups.
const (
	MaxGroupsOfUser = 200 // that one user is a member of
	MaxManagers     = 50  // of one group
	maxGroupLabel   = 200 // bytes
)

// Group is a named set of users. Groups are flat: a group has no groups in it. Its members are written beside the
// users, see [Membership], so that a group of a million members is as small as one of two.
type Group struct {
	Name      string    `json:"name"` // see access.IsGroupName; it never changes
	Label     string    `json:"label,omitempty"`
	Managers  []string  `json:"managers,omitempty"` // the subs of those who change its members, sorted
	Key       string    `json:"key"`                // drawn: a group that is made anew under the name has another one, and none of the members
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`
	carried
}

var groupKind = document.Kind[Group]{
	Name:    fence.GroupKind,
	ID:      func(g Group) string { return g.Name },
	Index:   Group.entries,
	Version: func(g *Group) *int64 { return &g.Version },
}

// managedBy returns the index entry of the groups that a user manages.
func managedBy(sub string) string { return "manager=" + sub }

func (g Group) texts() []string { return []string{g.Name, g.Label} }

func (g Group) entries() []string {
	all := append([]string{"all"}, find.Entries(document.ListOfAll, g.texts()...)...)
	for _, sub := range g.Managers {
		all = append(all, managedBy(sub))
	}
	return all
}

// Since returns when the group was made. A rule that was written before means another group, which had the name.
func (g Group) Since() time.Time { return madeAt(g.Key) }

// Manages reports whether a user (a sub) is a manager of the group.
func (g Group) Manages(sub string) bool { return sub != "" && slices.Contains(g.Managers, sub) }

// Begins reports whether the name or the label of the group begins with a text, as FindGroups compares them.
func (g Group) Begins(text string) bool {
	begin := find.Fold(text)
	return slices.ContainsFunc(g.texts(), func(t string) bool { return strings.HasPrefix(find.Fold(t), begin) })
}

// Check returns what is wrong with a group, as an ErrInvalid.
func (g Group) Check() error {
	switch {
	case !access.IsGroupName(g.Name):
		return fmt.Errorf("%w: name: the name of a group is %s", document.ErrInvalid, access.GroupNameForm)
	case len(g.Label) > maxGroupLabel:
		return fmt.Errorf("%w: label: at most %d bytes", document.ErrInvalid, maxGroupLabel)
	case len(g.Managers) > MaxManagers:
		return fmt.Errorf("%w: managers: at most %d", document.ErrInvalid, MaxManagers)
	}
	for _, sub := range g.Managers {
		if !driver.ValidName(sub) {
			return fmt.Errorf("%w: managers: %q is no user", document.ErrInvalid, sub)
		}
	}
	return nil
}

// SaveGroup checks and writes a group. A new one, of Version 0, gets its Key; ErrExists: there is one of that name.
func (s *Store) SaveGroup(ctx context.Context, g Group) (Group, error) {
	now := time.Now().UTC()
	if g.Version == 0 {
		if err := document.RequireFeature(ctx, s.docs, document.Groups); err != nil {
			return g, err
		}
		g.CreatedAt = now
		g.Key = document.TimedID("", s.clock.Later(now))
	}
	g.UpdatedAt = now
	g.Managers = slices.Compact(slices.Sorted(slices.Values(g.Managers)))
	if err := g.Check(); err != nil {
		return g, err
	}
	return document.Put(ctx, s.docs, groupKind, g)
}

// Group returns a group, or ErrNotFound.
func (s *Store) Group(ctx context.Context, name string) (Group, error) {
	return document.Get(ctx, s.docs, groupKind, name)
}

// FindGroups returns a page of up to n groups whose name or label begins with a text, all of them for "". It begins at
// the start or at a next of before, and next is "" at the end; see FindUsers.
func (s *Store) FindGroups(ctx context.Context, prefix, from string, n int) ([]Group, string, error) {
	if prefix == "" {
		return document.Page(ctx, s.docs, groupKind, "all", from, n)
	}
	return document.Look(ctx, s.docs, groupKind, Group.texts, document.ListOfAll, prefix, from, n)
}

// GroupsManagedBy returns a page of up to n groups that a user (a sub) manages.
func (s *Store) GroupsManagedBy(ctx context.Context, sub, from string, n int) ([]Group, string, error) {
	return document.Page(ctx, s.docs, groupKind, managedBy(sub), from, n)
}
