package groups

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/internal/document"
)

// FollowGroups makes a user a member of those groups that a connector says, and of no other one that it has added them
// to. A user who was added by hand stays. A group that is not there is passed over, and so is one too many. It returns
// the names of the groups that the user is in by the connector, before and after.
func (s *Store) FollowGroups(ctx context.Context, sub, connector string, names []string) (before, after []string,
	err error) {
	var now []Group
	for _, name := range names {
		g, err := s.Group(ctx, name)
		if errors.Is(err, document.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		now = append(now, g)
	}
	err = s.changeMemberships(ctx, sub, func(all []Membership) []Membership {
		next := slices.DeleteFunc(slices.Clone(all), func(m Membership) bool {
			return m.By == connector && !slices.ContainsFunc(now, func(g Group) bool { return g.Key == m.Key })
		})
		for _, g := range now {
			if !slices.ContainsFunc(next, func(m Membership) bool { return m.Key == g.Key }) && len(next) < MaxGroupsOfUser {
				next = append(next, Membership{Group: g.Name, Key: g.Key, By: connector, At: time.Now().UTC()})
			}
		}
		before, after = namesBy(connector, all), namesBy(connector, next)
		return next
	})
	return before, after, err
}

// namesBy returns the names of the groups that a connector has added a user to, sorted.
func namesBy(connector string, all []Membership) (names []string) {
	for _, m := range all {
		if m.By == connector {
			names = append(names, m.Group)
		}
	}
	slices.Sort(names)
	return names
}
