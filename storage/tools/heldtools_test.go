package tools_test

import (
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

func opened(t *testing.T) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The accepted tools and those that are still held are written together or not at all.
func TestPinsAcceptedAreWrittenWithThoseHeld(t *testing.T) {
	s := opened(t)
	c, err := s.SaveCapability(t.Context(), storage.Capability{Member: "m", Kind: storage.CapabilityMCP,
		PinnedAt: time.Now()}, []toolplan.Tool{tool("a")})
	if err != nil {
		t.Fatal(err)
	}
	held, err := s.SaveHeld(t.Context(), toolplan.Held{Member: "m", Tools: []toolplan.Tool{tool("b"), tool("c")},
		Before: []toolplan.Tool{tool("a")}, Digest: "d"})
	if err != nil {
		t.Fatal(err)
	}
	stale := held
	stale.Version--
	if _, err := s.SaveAccepted(t.Context(), c, []toolplan.Tool{tool("evil")}, stale); !errors.Is(err,
		storage.ErrConflict) {
		t.Errorf("beside another record of what is held: %v, want a conflict", err)
	}
	old := c
	old.Version--
	if _, err := s.SaveAccepted(t.Context(), old, []toolplan.Tool{tool("evil")}, held); !errors.Is(err,
		storage.ErrConflict) {
		t.Errorf("of a capability that has changed: %v, want a conflict", err)
	}
	if _, tools, err := s.Tools(t.Context(), "m"); err != nil || len(tools) != 1 || tools[0].Name != "a" {
		t.Fatalf("after that the tools are %v, %v", tools, err)
	}
	left := held
	left.Tools, left.Digest = held.Tools[1:], "e"
	if c, err = s.SaveAccepted(t.Context(), c, []toolplan.Tool{tool("a"), tool("b")}, left); err != nil ||
		c.ToolCount != 2 {
		t.Fatal(c, err)
	}
	if got, err := s.Held(t.Context(), "m"); err != nil || len(got.Tools) != 1 || got.Tools[0].Name != "c" ||
		len(got.Before) != 1 || got.Digest != "e" {
		t.Errorf("held is %+v, %v", got, err)
	}
}

func TestHeldToolsGoWithTheirCapability(t *testing.T) {
	for name, end := range map[string]func(s *storage.Store, c storage.Capability) error{
		"deleting": func(s *storage.Store, c storage.Capability) error { return s.DeleteCapability(t.Context(), c) },
		"registering again": func(s *storage.Store, c storage.Capability) error {
			c.PinnedAt = time.Time{}
			_, err := s.SaveCapability(t.Context(), c, nil)
			return err
		},
		"turning pins off": func(s *storage.Store, c storage.Capability) error {
			c.PinsOff = true
			_, err := s.SaveCapability(t.Context(), c, nil)
			return err
		},
	} {
		s := opened(t)
		c, err := s.SaveCapability(t.Context(), storage.Capability{Member: "m", Kind: storage.CapabilityMCP,
			PinnedAt: time.Now()}, nil)
		if err == nil {
			_, err = s.SaveHeld(t.Context(), toolplan.Held{Member: "m", Tools: []toolplan.Tool{tool("b")}, Digest: "d"})
		}
		if err == nil {
			err = end(s, c)
		}
		if got, e := s.Held(t.Context(), "m"); err != nil || e != nil || got.Digest != "" || got.Version != 0 {
			t.Errorf("%s: held is %+v, %v, %v", name, got, err, e)
		}
	}
}
