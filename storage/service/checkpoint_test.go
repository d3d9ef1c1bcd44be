package service_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func TestCheckpointIsReplacedByWhoHasReadIt(t *testing.T) {
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	none, err := s.Checkpoint(t.Context())
	if err != nil || none.Version != 0 || !none.Text.IsZero() {
		t.Fatalf("Checkpoint() of an empty store = %+v, %v, want none", none, err)
	}
	none.Text = storage.NewSecret("one")
	one, err := s.SaveCheckpoint(t.Context(), none)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveCheckpoint(t.Context(), none); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveCheckpoint() of who has read none = %v, want %v", err, storage.ErrConflict)
	}
	stale := one
	one.Text = storage.NewSecret("two")
	if _, err := s.SaveCheckpoint(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveCheckpoint(t.Context(), stale); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveCheckpoint() of who has read the first = %v, want %v", err, storage.ErrConflict)
	}
	if now, err := s.Checkpoint(t.Context()); err != nil || now.Text.Reveal() != "two" {
		t.Errorf("Checkpoint() = %q, %v, want two", now.Text.Reveal(), err)
	}
}

func TestCheckpointThatWasChangedDoesNotOpen(t *testing.T) {
	b := memory.New()
	s, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveCheckpoint(t.Context(),
		storage.Checkpoint{Text: storage.NewSecret("removed through 7")}); err != nil {
		t.Fatal(err)
	}
	good, err := b.Get(t.Context(), "checkpoint", "audit")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(good.Data, []byte("removed")) {
		t.Errorf("it is not sealed: %s", good.Data)
	}
	version := good.Version
	for name, data := range map[string][]byte{
		"empty": nil, "no JSON": []byte("hello"), "unsealed": []byte(`{"text":"removed through 9"}`),
		"sealed by nobody": []byte("{}\n{\"text\":\"AAAA\"}"), "without its text": []byte("{}\n{}"),
	} {
		d := good
		d.Version, d.Data = version, data
		if version, err = b.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Checkpoint(t.Context()); !errors.Is(err, storage.ErrCheckpoint) {
			t.Errorf("Checkpoint() with one that is %s = %v, want %v", name, err, storage.ErrCheckpoint)
		}
	}
	for i := range good.Data {
		d := good
		d.Version, d.Data = version, bytes.Clone(good.Data)
		d.Data[i] ^= 1
		if version, err = b.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if c, err := s.Checkpoint(t.Context()); err == nil && c.Text.Reveal() != "removed through 7" {
			t.Errorf("with byte %d changed it says %q", i, c.Text.Reveal())
		}
	}
}
