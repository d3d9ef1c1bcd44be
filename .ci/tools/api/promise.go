package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// promise is how much is promised of a package.
type promise string

const (
	frozen       promise = "frozen"
	stable       promise = "stable"
	experimental promise = "experimental"
)

// promises are those of the packages, by their path in the module; its root is "keystile".
type promises map[string]promise

// readPromises reads the list behind the heading "Stability" of a package comment.
func readPromises(file string) (promises, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, rest, found := strings.Cut(string(text), "\n// # Stability\n")
	if !found {
		return nil, fmt.Errorf("%s has no heading Stability", file)
	}
	all, of := promises{}, promise("")
	for line := range strings.Lines(rest) {
		words, listed := strings.CutPrefix(line, "//\t")
		if !listed {
			if strings.HasPrefix(line, "// #") || !strings.HasPrefix(line, "//") {
				break
			}
			continue
		}
		for i, word := range strings.Fields(words) {
			if p := promise(word); i == 0 && slices.Contains([]promise{frozen, stable, experimental}, p) {
				of = p
				continue
			}
			if of == "" || all[word] != "" {
				return nil, fmt.Errorf("%s: %q stands there twice, or behind no promise", file, word)
			}
			all[word] = of
		}
	}
	return all, nil
}

// cover demands that exactly the public packages are listed.
func (p promises) cover(a *api) error {
	for _, path := range a.public {
		if p[a.short(path)] == "" {
			return fmt.Errorf("doc.go says nothing about package %s: add it to the list Stability", a.short(path))
		}
	}
	for short := range p {
		if !slices.ContainsFunc(a.public, func(path string) bool { return a.short(path) == short }) {
			return fmt.Errorf("doc.go lists package %s under Stability, and there is none", short)
		}
	}
	return nil
}
