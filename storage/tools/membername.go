package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// memberName records which capability has a name. Its id is the name as [fold] has it, so
// that of two capabilities whose names look alike only one can be created. When the capability is
// deleted it becomes a kept name, and says for whom (decision 100).
type memberName struct {
	Folded     string    `json:"folded"`
	Member     string    `json:"member"`
	KeptFor    string    `json:"kept_for,omitempty"`   // the last owner, a sub
	OwnedSince time.Time `json:"owned_since,omitzero"` // Capability.OwnedSince of the deleted one
	ExpiresAt  time.Time `json:"expires_at,omitzero"`  // until when it is kept; zero: a capability has it
	Version    int64     `json:"-"`
	carried
}

var memberNames = document.Kind[memberName]{
	Name:    "membername",
	ID:      func(n memberName) string { return n.Folded },
	Index:   func(n memberName) []string { return keptEntry(n.KeptFor) },
	Expires: func(n memberName) time.Time { return n.ExpiresAt },
	Version: func(n *memberName) *int64 { return &n.Version },
}

func keptEntry(owner string) []string {
	if owner == "" {
		return nil
	}
	return []string{"kept=" + owner}
}

const (
	nameKeptFor  = 90 * 24 * time.Hour // after the deletion
	maxKeptNames = 50                  // of one owner; an older one is given up for one more
)

// keptFor reports whether a name is kept for somebody else than an owner. Names of a capability that is
// there are no kept names, whatever an older version has left in the record.
func (n memberName) keptFor(owner string, at time.Time) bool {
	return n.KeptFor != "" && n.KeptFor != owner && at.Before(n.ExpiresAt)
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
// capability's only in case, - and _; or that is kept for the owner of one that was deleted: of By,
// Member and Owner are known then.
type NameTaken struct {
	By    Capability
	Until time.Time // until when it is kept; zero: By is there
}

func (e *NameTaken) Error() string {
	if !e.Until.IsZero() {
		return fmt.Sprintf("%v: the name %q is kept for its last owner until %s", document.ErrInvalid, e.By.Member,
			e.Until.Format(time.DateOnly))
	}
	return fmt.Sprintf("%v: the capability %q has this name, but for case, - and _", document.ErrInvalid, e.By.Member)
}

func (e *NameTaken) Unwrap() error { return document.ErrInvalid }

func (n memberName) kept() *NameTaken {
	return &NameTaken{Capability{Member: n.Member, Owner: n.KeptFor}, n.ExpiresAt}
}

// claim returns the document that gives a new capability its name, to be written with it. Writers that claim the
// name, or one like it, at once conflict there.
func (p Place) claim(docs *document.Store, c Capability) ([]driver.Doc, error) {
	if t := p.Taken; t != nil && (t.Until.IsZero() || t.By.Owner != c.Owner && t.By.Owner != c.TakenFrom) {
		return nil, t
	}
	return document.Docs(docs, memberNames, p.name.of(c.Member))
}

// of returns the record of a name that a capability has.
func (n memberName) of(member string) memberName {
	n.Folded, n.Member, n.KeptFor, n.OwnedSince, n.ExpiresAt = fold(member), member, "", time.Time{}, time.Time{}
	return n
}

// nameOf returns the record of the name of a capability that is there, to be written with what hangs on it. Without
// it, what is written while the capability is deleted would stay, and be of the one that takes its name later.
// It returns ErrNotFound if the capability is not there. One that was stored before names were recorded gets a
// record of its own now, if no other capability has it.
func (s *Store) nameOf(ctx context.Context, member string) ([]driver.Doc, error) {
	held, err := document.Find(ctx, s.docs, memberNames, fold(member))
	if err != nil {
		return nil, err
	}
	if _, err := document.Get(ctx, s.docs, Capabilities, member); err != nil {
		return nil, err
	}
	if held.Member != "" && held.Member != member {
		if _, err := document.Get(ctx, s.docs, Capabilities, held.Member); !errors.Is(err, document.ErrNotFound) {
			return nil, err
		}
	}
	return document.Docs(s.docs, memberNames, held.of(member))
}

// ownedSince returns since when the name of a capability that is about to be written has been its owner's: as
// before, if they have it or were the last to have it, and from now on otherwise.
func (p Place) ownedSince(c Capability) time.Time {
	switch held := p.name; {
	case p.Version != 0 && p.Owner == c.Owner:
		return p.Since()
	case p.Version == 0 && c.Owner != "" && held.Member == c.Member && held.KeptFor == c.Owner &&
		time.Now().Before(held.ExpiresAt):
		return held.OwnedSince
	}
	return time.Now().UTC()
}

// keep returns the documents by which the name of a capability that is deleted is kept for its owner. Of the
// owner's kept names those that end first are given up for it, so that nobody has any number of them.
func (s *Store) keep(ctx context.Context, c Capability) ([]driver.Doc, error) {
	held, err := document.Get(ctx, s.docs, memberNames, fold(c.Member))
	switch {
	case err != nil && !errors.Is(err, document.ErrNotFound):
		return nil, err
	case err == nil && held.Member != c.Member: // one that was stored before names were recorded
		if _, err := document.Get(ctx, s.docs, Capabilities, held.Member); !errors.Is(err, document.ErrNotFound) {
			return nil, err
		}
	}
	if c.Owner == "" {
		if held.Version == 0 {
			return nil, nil
		}
		return document.Removals([]driver.Doc{{Kind: memberNames.Name, ID: held.Folded, Version: held.Version}}), nil
	}
	kept, err := document.All(ctx, s.docs, memberNames, driver.Is("kept="+c.Owner))
	if err != nil {
		return nil, err
	}
	held.Folded, held.Member, held.KeptFor, held.OwnedSince = fold(c.Member), c.Member, c.Owner, c.Since()
	held.ExpiresAt = time.Now().UTC().Add(nameKeptFor)
	docs, err := document.Docs(s.docs, memberNames, held)
	kept = slices.DeleteFunc(kept, func(n memberName) bool { return n.Folded == held.Folded })
	slices.SortFunc(kept, func(a, b memberName) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	for _, n := range kept[:max(0, len(kept)+1-maxKeptNames)] {
		docs = append(docs, driver.Doc{Kind: memberNames.Name, ID: n.Folded, Version: n.Version, Deleted: true})
	}
	return docs, err
}

// GiveUpNames removes the names of deleted capabilities that are kept for an owner, whose own name may become another
// one's: what named these capabilities must not open one of that other owner.
func (s *Store) GiveUpNames(ctx context.Context, owner string) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		kept, err := document.All(ctx, s.docs, memberNames, driver.Is("kept="+owner))
		if err != nil || len(kept) == 0 {
			return struct{}{}, err
		}
		gone := make([]driver.Doc, len(kept))
		for i, n := range kept {
			gone[i] = driver.Doc{Kind: memberNames.Name, ID: n.Folded, Version: n.Version}
		}
		_, err = document.Write(ctx, s.docs, document.Removals(gone)...)
		return struct{}{}, err
	})
	return err
}
