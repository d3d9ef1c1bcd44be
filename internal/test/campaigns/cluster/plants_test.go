package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// A fault that does not fit the sources any more would be found by nobody, and not be missed.
func TestPlantedFaultFitsTheSources(t *testing.T) {
	for _, p := range append(plants, plant{"ahead", "rolling", []overlay.Change{ahead}}) {
		if err := overlay.Fits(t.Context(), p.changes...); err != nil || len(p.changes) == 0 {
			t.Errorf("%s, of %d changes: %v", p.name, len(p.changes), err)
		}
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == p.shows }) {
			t.Errorf("%s shows with %s, which is no fault", p.name, p.shows)
		}
	}
}

func TestUnknownPlantIsRefusedAndThoseThereAreAreNamed(t *testing.T) {
	if _, err := build(t.Context(), t.TempDir(), "nothing"); err == nil || !strings.Contains(err.Error(), plants[0].name) {
		t.Errorf("build(nothing) = %v", err)
	}
}
