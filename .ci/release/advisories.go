package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// advisory says which versions of a module have a known vulnerability (OSV).
type advisory struct {
	ID      string   `json:"id"`
	Module  string   `json:"module"`
	Ranges  []within `json:"ranges"`       // none: every version
	In      []string `json:"in,omitempty"` // the packages at fault; none: all of the module
	Summary string   `json:"summary"`
}

// within is a range of versions, without v.
type within struct {
	Introduced string `json:"introduced,omitempty"` // "" or "0": from the first
	Fixed      string `json:"fixed,omitempty"`      // "": to the last
}

const (
	advisoriesFile = ".ci/release/advisories.json"
	database       = "https://vuln.go.dev"
)

// advise judges what is linked, for any system, by the stored list, or fetches that list anew. It says
// less than govulncheck, which knows whether the code at fault is called; .ci/run prefers that.
func advise(ctx context.Context, dir string, words []string) error {
	flags := flag.NewFlagSet("advisories", flag.ContinueOnError)
	refresh := flags.Bool("refresh", false, "fetch the list from "+database)
	if err := flags.Parse(words); err != nil {
		return err
	}
	modules, err := importedAnywhere(ctx, dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.FromSlash(advisoriesFile))
	if *refresh {
		return fetch(ctx, file, modules)
	}
	var list []advisory
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", advisoriesFile, err)
	}
	if len(list) == 0 {
		return fmt.Errorf("%s holds no advisories, which would find nothing", advisoriesFile)
	}
	found := judge(list, modules)
	fmt.Printf("%d modules, %d advisories, %d apply\n", len(modules), len(list), len(found))
	return errors.Join(found...)
}

// judge returns what applies to modules, of which these packages are linked.
func judge(list []advisory, modules map[module][]string) (found []error) {
	for _, a := range list {
		for m, packages := range modules {
			linked := len(a.In) == 0 || slices.ContainsFunc(a.In, func(p string) bool { return slices.Contains(packages, p) })
			if m.path == a.Module && linked && a.applies(m.version) {
				found = append(found, fmt.Errorf("%s: %s %s: %s (https://osv.dev/%s); take a version outside of %v", a.ID, m.path,
					m.version, a.Summary, a.ID, a.Ranges))
			}
		}
	}
	return found
}

func (a advisory) applies(version string) bool {
	version = strings.TrimPrefix(version, "v")
	return len(a.Ranges) == 0 || slices.ContainsFunc(a.Ranges, func(r within) bool {
		return (r.Introduced == "" || r.Introduced == "0" || compare(version, r.Introduced) >= 0) &&
			(r.Fixed == "" || compare(version, r.Fixed) < 0)
	})
}

var semver = regexp.MustCompile(`^(\d+)\.(\d+)(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?`)

// compare orders versions as semver.org 2.0 11 does; versions of Go may have two numbers.
func compare(a, b string) int {
	x, y := semver.FindStringSubmatch(a), semver.FindStringSubmatch(b)
	if x == nil || y == nil {
		return cmp.Compare(a, b)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // digits
	for i := 1; i <= 3; i++ {
		if c := cmp.Compare(number(x[i]), number(y[i])); c != 0 {
			return c
		}
	}
	if x[4] == "" || y[4] == "" { // what comes before a version is lower than it
		return cmp.Compare(y[4], x[4])
	}
	before, behind := strings.Split(x[4], "."), strings.Split(y[4], ".")
	for i := range min(len(before), len(behind)) {
		m, notM := strconv.Atoi(before[i])
		n, notN := strconv.Atoi(behind[i])
		c := cmp.Compare(before[i], behind[i])
		switch {
		case notM == nil && notN == nil:
			c = cmp.Compare(m, n)
		case notM == nil:
			c = -1
		case notN == nil:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(before), len(behind))
}

// fetch writes the list of what the database has about the modules.
func fetch(ctx context.Context, file string, modules map[module][]string) error {
	var index []struct {
		Path  string
		Vulns []struct{ ID string }
	}
	if err := get(ctx, database+"/index/modules.json", &index); err != nil {
		return err
	}
	list := []advisory{}
	for _, m := range index {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(modules)), func(l module) bool { return l.path == m.Path }) {
			continue
		}
		for _, v := range m.Vulns {
			var o osv
			if err := get(ctx, database+"/ID/"+v.ID+".json", &o); err != nil {
				return err
			}
			list = append(list, o.about(m.Path)...)
		}
	}
	slices.SortFunc(list, func(a,
		b advisory) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.ID, b.ID))
	})
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%d advisories about %d modules\n", len(list), len(modules))
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// osv is the part of an entry that is read.
type osv struct {
	ID, Summary, Withdrawn string
	Affected               []struct {
		Package struct{ Name string }
		Ranges  []struct {
			Events []struct{ Introduced, Fixed string }
		}
		Specific struct{ Imports []struct{ Path string } } `json:"ecosystem_specific"`
	}
}

// about returns what an entry says of a module; nothing if it was withdrawn.
func (o osv) about(path string) (all []advisory) {
	for _, affected := range o.Affected {
		if affected.Package.Name != path || o.Withdrawn != "" {
			continue
		}
		a := advisory{ID: o.ID, Module: path, Summary: o.Summary}
		for _, r := range affected.Ranges {
			for _, e := range r.Events {
				if e.Fixed == "" {
					a.Ranges = append(a.Ranges, within{Introduced: e.Introduced})
				} else if n := len(a.Ranges); n > 0 {
					a.Ranges[n-1].Fixed = e.Fixed
				}
			}
		}
		for _, in := range affected.Specific.Imports {
			a.In = append(a.In, in.Path)
		}
		all = append(all, a)
	}
	return all
}

func get(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is answered %s", url, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
