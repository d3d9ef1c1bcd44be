package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
)

// change is one difference between two APIs.
type change struct {
	of     string
	at     promise
	what   string
	broken bool // somebody's program may not compile any more
}

func (c change) String() string {
	mark := "  "
	if c.broken {
		mark = "! "
	}
	return fmt.Sprintf("%s%s (%s): %s", mark, c.of, c.at, c.what)
}

// compare lists what has changed in the packages there were, and the new ones.
func compare(before, now *api, of promises) (all []change) {
	for _, path := range before.public {
		short := now.short(path)
		at := cmp.Or(of[short], stable) // what has gone from the list was promised all the same
		if !slices.Contains(now.public, path) {
			all = append(all, change{short, at, "the package is gone", true})
			continue
		}
		is := now.all[path]
		for _, c := range apidiff.Changes(before.all[path], is).Changes {
			broken := !c.Compatible && !(at == stable && now.asksMore(is, c.Message)) ||
				at == frozen && !isNewInterface(is, c.Message)
			all = append(all, change{short, at, c.Message, broken && at != experimental})
		}
	}
	for _, path := range now.public {
		if !slices.Contains(before.public, path) {
			all = append(all, change{now.short(path), of[now.short(path)], "a new package", false})
		}
	}
	return all
}

// isNewInterface reports whether a change adds an interface to a package, and nothing to what is there.
func isNewInterface(p *types.Package, message string) bool {
	name, added := strings.CutSuffix(message, ": added")
	o, is := p.Scope().Lookup(name).(*types.TypeName)
	return added && is && types.IsInterface(o.Type())
}

// asksMore reports whether a change adds a method to an interface that a package declares of what it asks the store,
// and that *storage.Store fulfils. Hosts hand the store over; they do not write it.
func (a *api) asksMore(p *types.Package, message string) bool {
	name, added := strings.CutSuffix(message, ": added")
	name, _, method := strings.Cut(name, ".")
	records := a.all[a.module+"/storage"]
	if !added || !method || !strings.HasSuffix(name, "Store") || records == nil || p == records {
		return false
	}
	asked, is := p.Scope().Lookup(name).(*types.TypeName)
	store, there := records.Scope().Lookup("Store").(*types.TypeName)
	if !is || !there || !types.IsInterface(asked.Type()) {
		return false
	}
	return types.Implements(types.NewPointer(store.Type()), asked.Type().Underlying().(*types.Interface))
}

// newest returns the highest release that is written down in a folder.
func newest(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	best := ""
	for _, e := range entries {
		if semver.IsValid(e.Name()) && semver.Compare(e.Name(), best) > 0 {
			best = e.Name()
		}
	}
	if best == "" {
		return "", errors.New("no release is written down; see -write")
	}
	return best, nil
}
