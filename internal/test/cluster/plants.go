package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/bentclock"
	"github.com/keystile/keystile/internal/test/overlay"
)

// plant is a fault that can be built into the program, to see whether a campaign finds it.
type plant struct {
	name    string
	changes []overlay.Change
}

var plants = []plant{}

func plantNames() string {
	var all []string
	for _, p := range plants {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

// build builds the keystile of this tree, with a clock that can be bent, and a fault if one is named.
func build(ctx context.Context, dir, name string) (string, error) {
	var changes []overlay.Change
	if name != "" {
		i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name })
		if i < 0 {
			return "", fmt.Errorf("there is no fault %q: there are %s", name, plantNames())
		}
		changes = plants[i].changes
	}
	return bentclock.Build(ctx, dir, changes...)
}
