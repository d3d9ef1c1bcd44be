package stash_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func TestContentIsReadAtItsPlaceAlone(t *testing.T) {
	s := newStash(t)
	at := stash.Place{What: "document", Of: "mina", At: "1", Secret: "x"}
	if err := s.Put(t.Context(), at, []byte("openapi: 3.1.0"), time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, other := range []stash.Place{{"page", "mina", "1", "x"}, {"document", "eve", "1", "x"},
		{"document", "mina", "2", "x"}, {"document", "mina", "1", "y"}, {"document", "mina", "1", ""}} {
		if got, err := s.Get(t.Context(), other); !errors.Is(err, stash.ErrGone) {
			t.Errorf("at %v there is %q, %v", other, got, err)
		}
		if _, err := s.Take(t.Context(), other); !errors.Is(err, stash.ErrGone) {
			t.Errorf("at %v something was taken: %v", other, err)
		}
	}
	if got, err := s.Get(t.Context(), at); err != nil || string(got) != "openapi: 3.1.0" {
		t.Errorf("at its place there is %q, %v", got, err)
	}
	if err := s.Put(t.Context(), at, []byte("another"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Take(t.Context(), at); err != nil || string(got) != "another" {
		t.Errorf("what replaces it is %q, %v", got, err)
	}
	if got, err := s.Take(t.Context(), at); !errors.Is(err, stash.ErrGone) {
		t.Errorf("a second time %q, %v is taken", got, err)
	}
}

func TestContentEndsAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStash(t)
		at := stash.Place{What: "page", Of: "session", At: "/console/apps"}
		if err := s.Put(t.Context(), at, []byte("secret"), 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Minute + time.Second)
		if got, err := s.Get(t.Context(), at); !errors.Is(err, stash.ErrGone) {
			t.Errorf("after its time there is %q, %v", got, err)
		}
		noise := make([]byte, 3<<20)
		rand.Read(noise)
		for _, large := range [][]byte{noise, bytes.Repeat([]byte("a"), 18<<20)} {
			if err := s.Put(t.Context(), at, large, time.Minute); !errors.Is(err, stash.ErrTooLarge) {
				t.Errorf("%d bytes are kept: %v", len(large), err)
			}
		}
	})
}

func newStash(t *testing.T) *stash.Stash {
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return stash.New(store)
}
