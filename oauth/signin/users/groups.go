package users

import (
	"context"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// GroupStore keeps the groups that providers put users into, and that the page of consent names; *storage.Store
// implements it.
type GroupStore interface {
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	SaveGroup(ctx context.Context, g groups.Group) (groups.Group, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	// FollowGroups makes a user (a sub) a member of those groups that a connector says, and of no other one that it has
	// added them to, and returns which these are, before and after.
	FollowGroups(ctx context.Context, sub, connector string, names []string) (before, after []string, err error)
}
