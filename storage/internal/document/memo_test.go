package document

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/state"
)

type record struct {
	Name string
	List []string
}

func (r record) clone() record {
	r.List = slices.Clone(r.List)
	return r
}

func TestRememberedRecordIsThatOfItsVersionAlone(t *testing.T) {
	m := newMemo(record.clone)
	m.put("a", 1, record{Name: "one"})
	if _, ok := m.get("a", 2); ok {
		t.Error("a record is remembered for a version it never had")
	}
	if _, ok := m.get("b", 0); ok {
		t.Error("a record that was never put is remembered")
	}
	m.put("a", 2, record{Name: "two"})
	if v, ok := m.get("a", 2); !ok || v.Name != "two" {
		t.Errorf("get(a, 2) = %q, %t, want two", v.Name, ok)
	}
	if _, ok := m.get("a", 1); ok {
		t.Error("the older version is still remembered")
	}
}

func TestReturnedRecordsMayBeChanged(t *testing.T) {
	m := newMemo(record.clone)
	in := record{List: []string{"a"}}
	m.put("a", 1, in)
	in.List[0] = "b"
	for range 2 {
		v, _ := m.get("a", 1)
		if v.List[0] != "a" {
			t.Fatalf("get = %+v, want what was put", v)
		}
		v.List[0] = "c"
	}
}

func TestMemoIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := newMemo(record.clone)
	m.put("used", 1, record{Name: "used"})
	for i := range 10 * maxMemorized {
		m.put(fmt.Sprint(i), 1, record{})
		if v, ok := m.get("used", 1); !ok || v.Name != "used" {
			t.Fatalf("the record in use is forgotten after %d others", i)
		}
	}
	if n := m.known.Len(); n > maxMemorized {
		t.Errorf("%d records are remembered, want at most %d", n, maxMemorized)
	}
}

// note is a record of a kind whose changes other processes are told of.
type note struct {
	ID      string `json:"id"`
	Version int64  `json:"-"`
	carried
}

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
	n, err := Put(t.Context(), s, notes, note{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err = Get(t.Context(), s, notes, "a"); err != nil || notes.memo(s).known.Len() != 1 {
		t.Fatalf("%d records are remembered after a Get, %v, want 1", notes.memo(s).known.Len(), err)
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
			if left := notes.memo(s).known.Len(); left != 0 {
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
	if _, ok := notes.memo(s).get("a", n.Version); !ok {
		t.Error("a change of others dropped the record")
	}
}
