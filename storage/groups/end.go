package groups

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

// endedGroup is a group that was deleted. Its memberships count no more.
type endedGroup struct {
	Key string    `json:"key"`
	At  time.Time `json:"at"`
	carried
}

// endedGroups are the groups of which there may be memberships left.
type endedGroups struct {
	Groups  []endedGroup `json:"groups"`
	Version int64        `json:"-"`
	carried
}

const endedID = "all"

var groupEnds = document.Kind[endedGroups]{
	Name:    "groupend",
	ID:      func(endedGroups) string { return endedID },
	Version: func(e *endedGroups) *int64 { return &e.Version },
	Clone: func(e endedGroups) endedGroups {
		e.Groups = slices.Clone(e.Groups)
		return e
	},
}

func (s *Store) endedGroups(ctx context.Context) (endedGroups, error) {
	return document.Find(ctx, s.docs, groupEnds, endedID)
}

// live returns the memberships whose groups are there. The list that it is given stays as it is.
func (e endedGroups) live(all []Membership) []Membership {
	ended := func(m Membership) bool {
		return slices.ContainsFunc(e.Groups, func(g endedGroup) bool { return g.Key == m.Key })
	}
	if !slices.ContainsFunc(all, ended) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), ended)
}

// DeleteGroup removes a group. From then on nobody is a member of it, however many there were: their memberships are
// removed by SweepGroups, later. ErrNotFound: it is gone, or another one has its name. ErrConflict: it has changed
// since it was read, or was given something, and whoever deletes it has to see to that first.
func (s *Store) DeleteGroup(ctx context.Context, g Group) error {
	for {
		err := s.deleteGroup(ctx, g)
		if !document.LostRace(err, groupEnds.Name) { // else another group was deleted at the same time
			return err
		}
	}
}

func (s *Store) deleteGroup(ctx context.Context, g Group) error {
	now, err := s.Group(ctx, g.Name)
	switch {
	case err != nil:
		return err
	case now.Key != g.Key:
		return document.ErrNotFound
	case now.Version != g.Version:
		return fmt.Errorf("%w: group %q", document.ErrConflict, g.Name)
	}
	ended, err := s.endedGroups(ctx)
	if err != nil {
		return err
	}
	ended.Groups = append(slices.Clone(ended.Groups), endedGroup{Key: g.Key, At: s.clock.Later(time.Now()).UTC()})
	d, err := groupEnds.Doc(s.docs, ended)
	if err != nil {
		return err
	}
	_, err = document.Write(ctx, s.docs,
		driver.Doc{Kind: groupKind.Name, ID: g.Name, Version: now.Version, Deleted: true}, d)
	return err
}

// SweepGroups removes up to n memberships of groups that were deleted before a time, and returns how many were left of
// them. A group is forgotten a day after that, when whoever was adding a member meanwhile is done.
func (s *Store) SweepGroups(ctx context.Context, at time.Time, n int) (removed int, err error) {
	ended, err := s.endedGroups(ctx)
	if err != nil {
		return 0, err
	}
	over := map[string]bool{}
	for _, g := range ended.Groups {
		for removed < n {
			page, _, err := document.Page(ctx, s.docs, memberKind, inGroup(g.Key), "", min(n-removed, step))
			if err != nil {
				return removed, err
			}
			if len(page) == 0 {
				over[g.Key] = at.Sub(g.At) > fence.Life
				break
			}
			for _, m := range page {
				// The memberships that count are written again, without those that count no more.
				if err := s.rewriteMemberships(ctx, m.User); err != nil {
					return removed, err
				}
				removed++
			}
		}
	}
	if !slices.ContainsFunc(ended.Groups, func(g endedGroup) bool { return over[g.Key] }) {
		return removed, nil
	}
	_, err = document.Update(ctx, s.docs, groupEnds, endedID, func(e *endedGroups) bool {
		e.Groups = slices.DeleteFunc(slices.Clone(e.Groups), func(g endedGroup) bool { return over[g.Key] })
		return true
	})
	return removed, err
}

func (s *Store) rewriteMemberships(ctx context.Context, sub string) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		parts, all, err := s.membershipsOf(ctx, sub)
		if err != nil || len(parts) == 0 {
			return struct{}{}, err
		}
		docs, err := s.membershipDocs(sub, parts, all)
		if err == nil {
			_, err = document.Write(ctx, s.docs, docs...)
		}
		return struct{}{}, err
	})
	return err
}
