package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../../.."

// page is one that people read.
type page struct{ path, text string }

// pages returns the README, all guides, and the other pages that lead on from them.
func pages(t *testing.T) (all []page) {
	t.Helper()
	paths := []string{"README.md", ".github/README.zh-CN.md", ".github/SECURITY.md", ".github/CONTRIBUTING.md",
		".ci/release/README.md", "internal/test/campaigns/bench/README.md"}
	for _, pattern := range []string{"examples/*.md", "examples/*/*.md", "internal/protocol/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q %v", pattern, found, err)
		}
		for _, path := range found {
			path, _ = filepath.Rel(root, path)
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page{path, string(text)})
	}
	return all
}

// guides returns the README and the guides.
func guides(t *testing.T) []page {
	t.Helper()
	return slices.DeleteFunc(pages(t),
		func(p page) bool { return p.path != "README.md" && !strings.HasPrefix(p.path, "examples/") })
}

func (p page) isGuide() bool {
	return strings.HasPrefix(p.path, "examples/") && filepath.Base(p.path) == "README.md"
}

func TestPagesAreAsLongAsPeopleRead(t *testing.T) {
	for _, p := range guides(t) {
		lines, most := strings.Count(p.text, "\n"), 60
		switch {
		case p.path == "README.md":
			most = 150
		case !p.isGuide():
			continue
		}
		if lines > most {
			t.Errorf("%s has %d lines, at most %d: what is longer belongs to a guide, or to the doc comment of a package",
				p.path, lines, most)
		}
		for i, line := range strings.Split(p.text, "\n") {
			if n := len([]rune(line)); n > 160 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d characters, at most 160", p.path, i+1, n)
			}
		}
	}
}

func TestExampleHasAGuideInTheIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "examples/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "examples/*/doc.go"))
	if err != nil || len(folders) < 9 {
		t.Fatalf("%q %v", folders, err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		if name := filepath.Base(folder); !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("examples/README.md does not lead to %s", name)
		}
		if _, err := os.Stat(filepath.Join(folder, "README.md")); err != nil {
			t.Error(err)
		}
	}
}

var (
	link    = regexp.MustCompile(`(?:\]\(|src=")([^)\s"]+)[)"]`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	nothing = regexp.MustCompile("[^a-z0-9 _-]")
)

// anchors returns what GitHub calls the headings of a page.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(nothing.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

func TestLinkLeadsSomewhere(t *testing.T) {
	links := 0
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue // not of this repository
			}
			links++
			path := filepath.Join(root, p.path)
			if to != "" {
				path = filepath.Join(filepath.Dir(path), to)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s leads to %s: %v", p.path, m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			if text, err := os.ReadFile(path); err != nil || !anchors(string(text))[anchor] {
				t.Errorf("%s leads to %s, where no heading is called so", p.path, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links are found", links)
	}
}

var program = regexp.MustCompile(`go (?:-C (\S+) )?(run|test|doc|generate) ([^\n` + "`" + `]*)`)

// The arguments of go run, go test and go doc are packages of this repository.
func TestPackagesThatAreNamedExist(t *testing.T) {
	named := 0
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "internal/protocol/") {
			continue
		}
		for _, m := range program.FindAllStringSubmatch(p.text, -1) {
			said, _, _ := strings.Cut(m[3], " #")
			for word := range strings.FieldsSeq(said) {
				folder, below := strings.CutSuffix(strings.TrimRight(word, ";,)"), "/...")
				if !strings.HasPrefix(folder, "./") {
					continue
				}
				named++
				pattern := "*.go"
				if below {
					pattern = "*"
				}
				found, err := filepath.Glob(filepath.Join(root, m[1], folder, pattern))
				if err != nil || len(found) == 0 {
					t.Errorf("%s: go %s %s: there is no package %s", p.path, m[2], m[3], word)
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d packages are found", named)
	}
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```")

// blocks returns the blocks of a page that are marked with a language.
func (p page) blocks(language string) (all []string) {
	for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	return all
}

// Go in a guide is Go of a file beside it: what does not compile any more is missed.
func TestGoInGuidesIsGoOfTheirPrograms(t *testing.T) {
	shown := 0
	for _, p := range guides(t) {
		if p.path == "README.md" {
			continue // internal/test/archtest compiles it
		}
		files, err := filepath.Glob(filepath.Join(root, filepath.Dir(p.path), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				have[strings.TrimSpace(line)] = true
			}
		}
		for _, block := range p.blocks("go") {
			for line := range strings.Lines(block) {
				shown++
				if line = strings.TrimSpace(line); !have[line] {
					t.Errorf("%s shows a line that no file beside it has: %s", p.path, line)
				}
			}
		}
	}
	if shown < 8 {
		t.Errorf("only %d lines of Go are found", shown)
	}
}

func TestYAMLInGuidesIsAConfiguration(t *testing.T) {
	shown := 0
	for _, p := range guides(t) {
		for _, block := range p.blocks("yaml") {
			shown++
			file := filepath.Join(t.TempDir(), "keystile.yaml")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), keystile(t), "config", "--config",
				file).CombinedOutput(); err != nil {
				t.Errorf("%s: keystile does not take this: %v\n%s\n%s", p.path, err, out, block)
			}
		}
	}
	if shown < 2 {
		t.Errorf("only %d configurations are found", shown)
	}
}
