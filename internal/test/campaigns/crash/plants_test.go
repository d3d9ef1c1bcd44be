package main

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// A fault that does not fit the sources any more would be found by nobody, and not be missed.
func TestFaultFitsTheSources(t *testing.T) {
	for _, p := range plants {
		if err := overlay.Fits(t.Context(), p.changes...); err != nil || len(p.changes) == 0 {
			t.Errorf("%s, of %d changes: %v", p.name, len(p.changes), err)
		}
	}
}

func TestFaultOfAnotherStorageIsRefused(t *testing.T) {
	if _, err := build(t.Context(), t.TempDir(), "write", "postgres"); err == nil ||
		!strings.Contains(err.Error(), "--storage bolt") {
		t.Errorf("build(write, postgres) = %v", err)
	}
}

func TestUnknownFaultIsRefusedAndThoseThereAreAreNamed(t *testing.T) {
	if _, err := build(t.Context(), t.TempDir(), "nothing", "bolt"); err == nil ||
		!strings.Contains(err.Error(), plants[0].name) {
		t.Errorf("build(nothing) = %v", err)
	}
}
