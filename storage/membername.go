package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// memberName records which capability has a name. Its id is the name as [fold] has it, so
// that of two capabilities whose names look alike only one can be created.
type memberName struct {
	Folded  string `json:"folded"`
	Member  string `json:"member"`
	Version int64  `json:"-"`
	carried
}

var memberNames = kind[memberName]{
	name:    "membername",
	id:      func(n memberName) string { return n.Folded },
	version: func(n *memberName) *int64 { return &n.Version },
}

// fold returns a name without what users overlook: case, - and _.
func fold(member string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return r
	}, member)
	return strings.ToLower(cmp.Or(plain, member))
}

// NameTaken is the error of SaveCapability for a new name that differs from another
// capability's only in case, - and _.
type NameTaken struct{ By Capability }

func (e *NameTaken) Error() string {
	return fmt.Sprintf("%v: the capability %q has this name, but for case, - and _", ErrInvalid, e.By.Member)
}

func (e *NameTaken) Unwrap() error { return ErrInvalid }

// CapabilityLike returns the capability whose name differs from this one in case, - and _
// alone, or ErrNotFound.
func (s *Store) CapabilityLike(ctx context.Context, member string) (Capability, error) {
	held, err := memberNames.get(ctx, s, fold(member))
	if err == nil && held.Member != member {
		c, err := capabilities.get(ctx, s, held.Member)
		if !errors.Is(err, ErrNotFound) {
			return c, err
		}
	} else if err != nil && !errors.Is(err, ErrNotFound) {
		return Capability{}, err
	}
	all, err := capabilities.all(ctx, s, driver.Is("all")) // those of an older version have no memberName
	for _, c := range all {
		if c.Member != member && fold(c.Member) == fold(member) {
			return c, nil
		}
	}
	return Capability{}, cmp.Or(err, ErrNotFound)
}

// claim returns the document that gives a capability its name, to be written with it. A
// new one must have the name for itself, or claim returns a *NameTaken. One that was
// stored before names were recorded claims its name now if it is free, and goes on without
// it otherwise.
func (s *Store) claim(ctx context.Context, c Capability) ([]driver.Doc, error) {
	held, err := memberNames.get(ctx, s, fold(c.Member))
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, err
	case c.Version == 0:
		other, err := s.CapabilityLike(ctx, c.Member)
		if err == nil {
			return nil, &NameTaken{other}
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	case held.Member == c.Member:
		return nil, nil
	case held.Member != "":
		if _, err := capabilities.get(ctx, s, held.Member); !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	// Writers that claim the name of a removed one, or their own anew, must conflict here.
	held.Folded, held.Member = fold(c.Member), c.Member
	return memberNames.docs(s, held)
}

// release returns the removal of a capability's name, if it has it.
func (s *Store) release(ctx context.Context, c Capability) ([]driver.Doc, error) {
	held, err := memberNames.get(ctx, s, fold(c.Member))
	switch {
	case errors.Is(err, ErrNotFound), err == nil && held.Member != c.Member:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []driver.Doc{{Kind: memberNames.name, ID: held.Folded, Version: held.Version, Deleted: true}}, nil
}
