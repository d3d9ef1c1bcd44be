package service

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/internal/document"
)

// Declared says that a document of keystile apply is about something.
type Declared struct {
	Kind      string    `json:"kind"`
	Name      string    `json:"name"`             // in the document
	ID        string    `json:"id,omitempty"`     // of what was made, where that is not its name
	Digest    string    `json:"digest,omitempty"` // of what the document said that cannot be read back
	Made      bool      `json:"made,omitempty"`   // a document has made it, and may therefore remove it
	Waits     bool      `json:"waits,omitempty"`  // it is a capability that is published once its access list is written
	AppliedAt time.Time `json:"applied_at"`
	Version   int64     `json:"-"`
	carried
}

var declareds = document.Kind[Declared]{
	Name:    "declared",
	ID:      func(d Declared) string { return declaredID(d.Kind, d.Name) },
	Index:   func(Declared) []string { return []string{"all"} },
	Version: func(d *Declared) *int64 { return &d.Version },
}

// declaredID returns an id of one length: a name may be any text.
func declaredID(kind, name string) string { return kind + "." + handle.Hash(name)[:32] }

// Declared returns what was made by a document, or ErrNotFound.
func (s *Store) Declared(ctx context.Context, kind, name string) (Declared, error) {
	return document.Get(ctx, s.docs, declareds, declaredID(kind, name))
}

// AllDeclared returns a page of what documents have made, from the start or from a next of before.
func (s *Store) AllDeclared(ctx context.Context, from string, n int) ([]Declared, string, error) {
	return document.Page(ctx, s.docs, declareds, "all", from, n)
}

// SaveDeclared writes that a document has made something, or is about to.
func (s *Store) SaveDeclared(ctx context.Context, d Declared) (Declared, error) {
	d.AppliedAt = time.Now().UTC()
	return document.Put(ctx, s.docs, declareds, d)
}

// RemoveDeclared forgets that a document has made something.
func (s *Store) RemoveDeclared(ctx context.Context, d Declared) error {
	return document.Remove(ctx, s.docs, declareds, d)
}

// applying says who applies documents at this moment.
type applying struct {
	Holder  string    `json:"holder"`
	At      time.Time `json:"at"`
	Version int64     `json:"-"`
	carried
}

var applyings = document.Kind[applying]{
	Name:    "applying",
	ID:      func(applying) string { return "apply" },
	Version: func(a *applying) *int64 { return &a.Version },
}

// ApplyTime bounds how long one who applies documents, and says nothing more, keeps others from it.
const ApplyTime = time.Minute

// HoldApply makes a holder the one who applies documents, for ApplyTime from now on, and fails with ErrConflict while
// that is another one. The holder calls it before each step: one whose time is over may have a successor.
func (s *Store) HoldApply(ctx context.Context, holder string) error {
	other := time.Time{}
	_, err := document.Update(ctx, s.docs, applyings, "apply", func(a *applying) bool {
		other = time.Time{}
		now := s.clock.Later(time.Now()).UTC()
		if a.Holder != "" && a.Holder != holder && now.Sub(a.At) < ApplyTime {
			other = a.At
			return false
		}
		a.Holder, a.At = holder, now
		return true
	})
	if err == nil && !other.IsZero() {
		err = fmt.Errorf("%w: documents are being applied by somebody else since %s: wait until that has ended",
			document.ErrConflict, other.Format(time.RFC3339))
	}
	return err
}

// ReleaseApply ends what HoldApply began.
func (s *Store) ReleaseApply(ctx context.Context, holder string) error {
	_, err := document.Update(ctx, s.docs, applyings, "apply", func(a *applying) bool {
		mine := a.Holder == holder
		a.Holder = ""
		return mine
	})
	return err
}
