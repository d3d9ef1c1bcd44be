package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestReleaseIsCalledAsItsTagOrAsTheChangelogSays(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 30, 0, 0, time.UTC)
	for _, c := range []struct{ tag, tags, changelog, want string }{
		{"v1.2.3", "", "## Unreleased\n\n## 1.2.3 - 2026-10-01\n", "1.2.3"},
		{"v1.2.3", "", "## [1.2.3] - 2026-10-01\n", "1.2.3"},
		{"v1.2.3-rc.1", "", "## Unreleased\n", "1.2.3-rc.1"},
		{"v1.2.3", "", "## Unreleased\n\n## 1.2.30\n\n## 1.2.3-rc.1\n", "error: no section ## 1.2.3 "},
		{"v1", "", "## 1.0.0\n", "error: v1 is no version"},
		{"", "", "# Changelog\n\n## Unreleased\n", "0.1.0-dev.20261125123000"},
		{"", "", "# Changelog\n\n## Unreleased\n\n### Added\n\n## 0.1.0 - 2026-11-26\n", "0.1.1-dev.20261125123000"},
		{"", "v0.3.1", "## Unreleased\n\n## 0.3.1 - 2026-10-01\n\n## 0.3.0\n", "0.3.2-dev.20261125123000"},
		{"", "v0.9.0", "## [1.0.0] - 2026-10-01\n\n## 0.9.0\n", "1.0.0-dev.20261125123000"},
		{"", "v0.9.0 v1.0.0", "## 1.0.0 - 2026-10-01\n", "1.0.1-dev.20261125123000"},
		{"", "", "## Unreleased\n\n## 1.0.0-rc.1\n\n## 0.9.0\n", "1.0.0-rc.1.dev.20261125123000"},
		{"", "", "# Changelog\n", "error: no section of a version"},
	} {
		got, err := versionFor(c.tag, strings.Fields(c.tags), c.changelog, at)
		if want, failure := strings.CutPrefix(c.want, "error: "); failure {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("tag %q of %q: %s, %v, want %s", c.tag, c.changelog, got, err, c.want)
			}
		} else if err != nil || got != want {
			t.Errorf("tag %q of %q: %s, %v, want %s", c.tag, c.changelog, got, err, c.want)
		}
	}
}

func TestDebianOrdersVersionsAsTheyAreMade(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	order := []string{"0.1.0-dev.20261125123000", "0.1.0-dev.20261125123001", "0.1.0-rc.1", "0.1.0-rc.1.dev.1",
		"0.1.0-rc.2", "0.1.0", "0.1.1-dev.1", "0.1.1", "0.2.0"}
	for i := range len(order) - 1 {
		if _, err := run(t.Context(), "", nil, "dpkg", "--compare-versions", debVersion(order[i]), "lt",
			debVersion(order[i+1])); err != nil {
			t.Errorf("%s is not before %s: %v", order[i], order[i+1], err)
		}
		if compare(order[i], order[i+1]) >= 0 || compare(order[i+1], order[i]) <= 0 || compare(order[i], order[i]) != 0 {
			t.Errorf("compare(%s, %s) = %d", order[i], order[i+1], compare(order[i], order[i+1]))
		}
	}
}

func TestReleaseIsMadeOfWhatIsCommitted(t *testing.T) {
	repo := t.TempDir()
	for _, words := range []string{"init -q", "config user.name A", "config user.email a@example.com",
		"commit -q --allow-empty -m first"} {
		if _, err := run(t.Context(), repo, nil, "git", strings.Fields(words)...); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(repo, "CHANGELOG.md"), []byte("## 1.0.0 - 2026-11-26\n"), 0o600)
	for _, words := range []string{"add CHANGELOG.md", "commit -q -m second", "tag v1.0.0-rc.1", "tag v1.0.0"} {
		if _, err := run(t.Context(), repo, nil, "git", strings.Fields(words)...); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(repo, "forgotten.go"), nil, 0o600)
	if _, err := checkout(t.Context(), repo, filepath.Join(t.TempDir(), "clone")); err == nil ||
		!strings.Contains(err.Error(), "forgotten.go") || !strings.Contains(err.Error(), "commit or stash") {
		t.Errorf("a checkout with a file that is in no commit: %v", err)
	}
	s, err := clone(t.Context(), repo, filepath.Join(t.TempDir(), "clone"))
	if err != nil || s.version != "1.0.0" {
		t.Errorf("what is committed is of version %q, %v", s.version, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "forgotten.go")); err == nil {
		t.Error("and holds what is not")
	}
}

func TestPageOfLicencesIsWhatIsLinked(t *testing.T) {
	want, err := licencesPage(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(licencesFile)))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is linked (%v): go run ./.ci/release licences", licencesFile, err)
	}
	if bytes.Count(want, []byte("\n| ")) < 50 {
		t.Errorf("it lists little: %s", want)
	}
}

func TestDirectDependencyIsAccountedFor(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "internal", "protocol", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t.Context(), root, nil, "go", "mod", "edit", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal([]byte(out), &mod); err != nil || len(mod.Require) < 20 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, m := range mod.Require {
		if !m.Indirect && !regexp.MustCompile(regexp.QuoteMeta(m.Path)+"[ ,]").Match(page) {
			t.Errorf("internal/protocol/dependencies.md does not say why %s is there", m.Path)
		}
	}
}

func TestLicenceNobodyKnowsIsNotPassedOver(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"LICENSE": "Do what we say.", "license.go": "Permission is hereby granted"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := licenceIn(module{"example.com/m", "v1.0.0"}, dir); err == nil ||
		!strings.Contains(err.Error(), "example.com/m v1.0.0") {
		t.Errorf("%v, %v", l.ids, err)
	}
}

func TestAdvisoryAppliesToTheVersionsAndPackagesItNames(t *testing.T) {
	modules := map[module][]string{{"example.com/m", "v1.5.0"}: {"example.com/m", "example.com/m/used"},
		{standard, "1.26.8"}: {"net/http"}}
	for _, c := range []struct {
		advisory
		want int
	}{
		{advisory{Module: "example.com/m"}, 1},
		{advisory{Module: "example.com/m", Ranges: []within{{"0", "1.5.0"}}}, 0},
		{advisory{Module: "example.com/m", Ranges: []within{{"0", "1.5.1"}}}, 1},
		{advisory{Module: "example.com/m", Ranges: []within{{"0", "1.5.0-rc.1"}}}, 0},
		{advisory{Module: "example.com/m", Ranges: []within{{"1.5.1", ""}}}, 0},
		{advisory{Module: "example.com/m", Ranges: []within{{"0", "1.2.0"}, {"1.4.0", ""}}}, 1},
		{advisory{Module: "example.com/m", In: []string{"example.com/m/used"}}, 1},
		{advisory{Module: "example.com/m", In: []string{"example.com/m/other"}}, 0},
		{advisory{Module: "example.com/other"}, 0},
		{advisory{Module: standard, Ranges: []within{{"1.26.0-0", "1.26.9"}}, In: []string{"net/http"}}, 1},
		{advisory{Module: standard, Ranges: []within{{"0", "1.25.13"}, {"1.26.0-0", "1.26.6"}}}, 0},
	} {
		if found := judge([]advisory{c.advisory}, modules); len(found) != c.want {
			t.Errorf("%+v: %v, want %d", c.advisory, found, c.want)
		}
	}
}

func TestAdvisoriesStoredDoNotApply(t *testing.T) {
	if err := advise(t.Context(), root, nil); err != nil {
		t.Error(err)
	}
}

func TestEntryOfTheDatabaseIsRead(t *testing.T) {
	var o osv
	text := `{"id":"GO-1","summary":"bad","affected":[
		{"package":{"name":"example.com/m"},"ranges":[{"events":[{"introduced":"0"},{"fixed":"1.2.0"},{"introduced":"1.4.0"}]}],"ecosystem_specific":{"imports":[{"path":"example.com/m/p"}]}},
		{"package":{"name":"example.com/n"},"ranges":[{"events":[{"introduced":"0"}]}]}]}`
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(o.about("example.com/m")); got != "[{GO-1 example.com/m [{0 1.2.0} {1.4.0 }] [example.com/m/p] "+
		"bad}]" {
		t.Errorf("read as %s", got)
	}
	o.Withdrawn = "2026-01-01"
	if got := o.about("example.com/m"); got != nil {
		t.Errorf("withdrawn, and %v", got)
	}
}
