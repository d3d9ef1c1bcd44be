package groups

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Membership says that a user is a member of a group.
type Membership struct {
	Group string    `json:"group"`        // the name
	Key   string    `json:"key"`          // Group.Key
	By    string    `json:"by,omitempty"` // the connector that has added the user, and removes them; "": somebody did by hand
	At    time.Time `json:"at"`
	carried
}

// Since returns when the group was made. A rule that was written before means another group, which had the name.
func (m Membership) Since() time.Time { return madeAt(m.Key) }

// madeAt reads the time of a Group.Key.
func madeAt(key string) time.Time {
	if len(key) < 16 {
		return time.Time{}
	}
	var n [8]byte
	if _, err := hex.Decode(n[:], []byte(key[:16])); err != nil {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(n[:]))).UTC()
}

// Member is a user who is in a group.
type Member struct {
	Sub string
	Membership
}

// memberships are some of those of one user, so many that each has an index entry: the members of a group are found
// by it. The first part says how many parts there are, and is written with each of them.
type memberships struct {
	User    string       `json:"user"`
	Part    int          `json:"part,omitempty"`
	Parts   int          `json:"parts,omitempty"` // of the first part
	In      []Membership `json:"in"`              // sorted by name, from the first part on
	Version int64        `json:"-"`
	carried
}

// partSize is the number of memberships of a part: the user has an entry, too.
const partSize = driver.MaxIndex - 4

var memberKind = document.Kind[memberships]{
	Name:    "member",
	ID:      func(m memberships) string { return partID(m.User, m.Part) },
	Index:   memberships.entries,
	Version: func(m *memberships) *int64 { return &m.Version },
	Clone:   func(m memberships) memberships { return m }, // whoever changes a list takes a copy of it
}

func partID(sub string, part int) string {
	if part == 0 {
		return sub
	}
	return sub + "." + strconv.Itoa(part)
}

func inGroup(key string) string { return "group=" + key }

func (m memberships) entries() []string {
	all := []string{"user=" + m.User}
	for _, in := range m.In {
		all = append(all, inGroup(in.Key))
	}
	return all
}

// ErrTooManyGroups: the user is in as many groups as a user can be.
var ErrTooManyGroups = fmt.Errorf("%w: a user is a member of at most %d groups", document.ErrInvalid, MaxGroupsOfUser)

// Memberships returns the groups that a user (a sub) is a member of, sorted by name.
func (s *Store) Memberships(ctx context.Context, sub string) ([]Membership, error) {
	_, all, err := s.membershipsOf(ctx, sub)
	return slices.Clone(all), err
}

// membershipsOf returns the parts of a user's memberships, and those of them that count. They are shared: a caller that
// changes them takes a copy.
func (s *Store) membershipsOf(ctx context.Context, sub string) (parts []memberships, all []Membership, err error) {
	if !driver.ValidName(sub) {
		return nil, nil, nil // nothing can be stored under it
	}
	var ends []endedGroups
	err = document.Gather(ctx, s.docs, document.Named(s.docs, memberKind, []string{sub}, &parts),
		document.Named(s.docs, groupEnds, []string{endedID}, &ends))
	if err != nil || len(parts) == 0 {
		return nil, nil, err
	}
	if n := parts[0].Parts; n > 1 {
		// The first part is written with each other one: one that has another version has come since.
		var ids []string
		for i := range n {
			ids = append(ids, partID(sub, i))
		}
		parts = nil
		if err := document.Gather(ctx, s.docs, document.Named(s.docs, memberKind, ids, &parts)); err != nil {
			return nil, nil, err
		}
		slices.SortFunc(parts, func(a, b memberships) int { return cmp.Compare(a.Part, b.Part) })
	}
	if all = parts[0].In; len(parts) > 1 {
		all = make([]Membership, 0, len(parts)*partSize)
		for _, p := range parts {
			all = append(all, p.In...)
		}
	}
	for _, e := range ends {
		all = e.live(all)
	}
	return parts, all, nil
}

// Members returns a page of the members of a group, up to n in the order of their subs, from the start or from a next
// of before.
func (s *Store) Members(ctx context.Context, g Group, from string, n int) (all []Member, next string, err error) {
	page, next, err := document.Page(ctx, s.docs, memberKind, inGroup(g.Key), from, n)
	for _, m := range page {
		for _, in := range m.In {
			if in.Key == g.Key {
				all = append(all, Member{m.User, in})
			}
		}
	}
	return all, next, err
}

// GroupsOf returns the groups that a user (a sub) is a member of, sorted by name, as rules about subjects know them.
func (s *Store) GroupsOf(ctx context.Context, sub string) (all []access.Group, err error) {
	_, in, err := s.membershipsOf(ctx, sub)
	if err != nil || len(in) == 0 {
		return nil, err
	}
	all = make([]access.Group, len(in))
	for i := range in {
		all[i] = access.Group{Name: in[i].Group, Since: in[i].Since()}
	}
	return all, nil
}

// IsMember reports whether a user (a sub) is a member of a group.
func (s *Store) IsMember(ctx context.Context, group, sub string) (bool, error) {
	all, err := s.Memberships(ctx, sub)
	return slices.ContainsFunc(all, func(m Membership) bool { return m.Group == group }), err
}

// AddMember makes a user (a sub) a member of a group, and reports whether they were none. A member whom a connector
// had added stays, from then on, until somebody removes them. The caller knows that there is such a user, who may be in
// a host's own table. ErrNotFound: there is no such group, or the user is being erased.
func (s *Store) AddMember(ctx context.Context, group, sub string) (added bool, err error) {
	g, err := s.Group(ctx, group)
	if err != nil {
		return false, err
	}
	if !driver.ValidName(sub) {
		return false, document.ErrNotFound
	}
	err = s.changeMemberships(ctx, sub, func(all []Membership) []Membership {
		i := slices.IndexFunc(all, func(m Membership) bool { return m.Key == g.Key })
		if added = i < 0; added {
			return append(all, Membership{Group: g.Name, Key: g.Key, At: time.Now().UTC()})
		}
		all[i].By = ""
		return all
	})
	return added, err
}

// RemoveMember ends a membership, and reports whether there was one.
func (s *Store) RemoveMember(ctx context.Context, group, sub string) (removed bool, err error) {
	err = s.changeMemberships(ctx, sub, func(all []Membership) []Membership {
		left := slices.DeleteFunc(slices.Clone(all), func(m Membership) bool { return m.Group == group })
		removed = len(left) < len(all)
		return left
	})
	return removed, err
}

// Joined returns the documents by which a new user (a sub) is a member of groups from the beginning, for package
// storage.
func Joined(s *Store, sub string, in []Group) ([]driver.Doc, error) {
	if len(in) > MaxGroupsOfUser {
		return nil, ErrTooManyGroups
	}
	var all []Membership
	for _, g := range in {
		all = append(all, Membership{Group: g.Name, Key: g.Key, At: time.Now().UTC()})
	}
	return s.membershipDocs(sub, nil, all)
}

// changeMemberships writes a user's memberships as change has made them of those that count, in one step.
func (s *Store) changeMemberships(ctx context.Context, sub string, change func([]Membership) []Membership) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		parts, all, err := s.membershipsOf(ctx, sub)
		if err != nil {
			return struct{}{}, err
		}
		next := change(slices.Clone(all))
		if len(next) > MaxGroupsOfUser && len(next) > len(all) {
			return struct{}{}, ErrTooManyGroups
		}
		if slices.EqualFunc(all, next, func(a, b Membership) bool { return a.Key == b.Key && a.By == b.By }) {
			return struct{}{}, nil
		}
		docs, err := s.membershipDocs(sub, parts, next)
		if err != nil {
			return struct{}{}, err
		}
		version, err := document.Write(ctx, s.docs, docs...)
		switch {
		case errors.Is(err, document.ErrExists): // another one was the first to add the user to a group
			err = fmt.Errorf("%w: %w", document.ErrConflict, err)
		case err == nil && len(parts) == 0:
			err = document.UnlessErased(ctx, s.docs, sub, version, docs...)
		}
		return struct{}{}, err
	})
	return err
}

// membershipDocs returns the documents that hold a user's memberships, in place of the parts that were read. The first
// one is always among them: of two writers at once one finds that it has changed.
func (s *Store) membershipDocs(sub string, parts []memberships, all []Membership) (docs []driver.Doc, err error) {
	slices.SortFunc(all, func(a, b Membership) int { return cmp.Compare(a.Group, b.Group) })
	count := max(1, (len(all)+partSize-1)/partSize)
	for i := range max(count, len(parts)) {
		m := memberships{User: sub, Part: i}
		if i < len(parts) {
			m = parts[i]
		}
		if i >= count || len(all) == 0 {
			if m.Version != 0 {
				docs = append(docs, driver.Doc{Kind: memberKind.Name, ID: memberKind.ID(m), Version: m.Version, Deleted: true})
			}
			continue
		}
		m.In, m.Parts = slices.Clone(all[i*partSize:min((i+1)*partSize, len(all))]), 0
		if i == 0 {
			m.Parts = count
		}
		d, err := memberKind.Doc(s.docs, m)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
