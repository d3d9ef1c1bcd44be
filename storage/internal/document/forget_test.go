package document

import (
	"errors"
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/state"
)

// note is a record of a kind whose changes other processes are told of.
type note struct {
	ID      string `json:"id"`
	Version int64  `json:"-"`
	carried
}

var _ = note{}.carried // what a newer version has written

var notes = Kind[note]{
	Name: state.ChangedApps, ID: func(n note) string { return n.ID }, Version: func(n *note) *int64 { return &n.Version },
	Index: func(note) []string { return []string{"all"} }, Clone: func(n note) note { return n },
}

// noted returns a store that remembers the note a.
func noted(t *testing.T) (*Store, note) {
	t.Helper()
	backend := memory.New()
	s, err := New(Config{Backend: backend, Keys: []secret.MasterKey{secret.NewMasterKey()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Follow(t.Context(), s, backend); err != nil {
		t.Fatal(err)
	}
	if _, err := Put(t.Context(), s, notes, note{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	n, err := Get(t.Context(), s, notes, "a")
	if err != nil || notes.memo(s).Len() != 1 {
		t.Fatalf("%d records are remembered after a Get, %v, want 1", notes.memo(s).Len(), err)
	}
	return s, n
}

func TestRecordIsForgottenOnceItIsWrittenOrGone(t *testing.T) {
	for name, act := range map[string]func(*Store, note) error{
		"written": func(s *Store, n note) error { _, err := Put(t.Context(), s, notes, n); return err },
		"removed": func(s *Store, n note) error { return Remove(t.Context(), s, notes, n) },
		"removed by another process": func(s *Store, n note) error {
			_, err := s.backend.Put(t.Context(), driver.Doc{Kind: notes.Name, ID: n.ID, Version: n.Version, Deleted: true})
			if err != nil {
				return err
			}
			if _, err = Get(t.Context(), s, notes, n.ID); !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("Get = %w, want ErrNotFound", err)
			}
			return nil
		},
		"changed by another process": func(s *Store, n note) error {
			s.changes.tellOwn(state.Change{Kind: notes.Name, IDs: []string{"b", n.ID}})
			return nil
		},
		"perhaps changed by another process": func(s *Store, n note) error {
			s.changes.tellOwn(state.Change{Kind: notes.Name})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := noted(t)
			if err := act(s, n); err != nil {
				t.Fatal(err)
			}
			if left := notes.memo(s).Len(); left != 0 {
				t.Errorf("%d records are remembered, want none", left)
			}
		})
	}
}

func TestRecordStaysRememberedWhileOthersChange(t *testing.T) {
	s, n := noted(t)
	for _, c := range []state.Change{{Kind: notes.Name, IDs: []string{"b"}}, {Kind: state.ChangedKeys}} {
		s.changes.tellOwn(c)
	}
	if _, ok := notes.memo(s).Get("a", n.Version); !ok {
		t.Error("a change of others dropped the record")
	}
}
