package admin

import (
	"context"
	"sync"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// Groups keeps groups of users; *storage.Store does.
type Groups interface {
	// Group returns the group of a name, or an error that wraps storage.ErrNotFound.
	Group(ctx context.Context, name string) (groups.Group, error)
}

// Managing returns an [Actor.Manages] for a user (a sub) and one request. Each group is read when it is first asked of:
// a page asks in each row who owns what it shows. A group that cannot be read is managed by nobody.
func Managing(ctx context.Context, in Groups, sub string) func(group string) bool {
	var known sync.Map
	return func(name string) bool {
		if is, ok := known.Load(name); ok {
			return is.(bool)
		}
		g, err := in.Group(ctx, name)
		is := err == nil && g.Manages(sub)
		known.Store(name, is)
		return is
	}
}

// People returns the users, subs, who are an owner: the managers of group:NAME, and else the user alone. Nobody is "".
func People(ctx context.Context, in Groups, owner string) ([]string, error) {
	name, is := access.OwningGroup(owner)
	if !is {
		return []string{owner}, nil
	}
	g, err := in.Group(ctx, name)
	return g.Managers, err
}
