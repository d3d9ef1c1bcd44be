package admin

import (
	"context"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// Groups keeps groups of users; *storage.Store does.
type Groups interface {
	// Group returns the group of a name, or an error that wraps storage.ErrNotFound.
	Group(ctx context.Context, name string) (groups.Group, error)
}

// Managing returns an [Actor.Manages] for a user (a sub), who manages what the groups say at the time of the question.
// A group that cannot be read is managed by nobody.
func Managing(ctx context.Context, in Groups, sub string) func(group string) bool {
	return func(name string) bool {
		g, err := in.Group(ctx, name)
		return err == nil && g.Manages(sub)
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
