package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// own is this package, whose tests hold citations that are wrong on purpose.
const own = "internal/protocol/"

func TestCitationLeadsToAHeading(t *testing.T) {
	h, all := documents(t), 0
	for name, text := range tracked(t) {
		if strings.HasPrefix(name, own) && strings.HasSuffix(name, "_test.go") {
			continue
		}
		found, cited := h.check(name, text)
		all += cited
		for _, f := range found {
			t.Error(f)
		}
	}
	if all < 400 {
		t.Errorf("there are %d citations: the walk misses most of them", all)
	}
}

func TestCitationsNameOnlyWhatIsHere(t *testing.T) {
	for name, text := range tracked(t) {
		if strings.HasPrefix(name, own) {
			continue // protocol.md may say "section 7" of itself
		}
		for _, f := range outdated(name, text) {
			t.Error(f)
		}
	}
}

// Readers of the program's texts do not have these documents.
func TestTextsOfTheProgramCiteNoDocument(t *testing.T) {
	for name, text := range tracked(t) {
		switch {
		case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "internal/test/"), !strings.HasSuffix(name, ".go"):
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			if toProtocol.MatchString(literal.Value) || toDecision.MatchString(literal.Value) ||
				len(outdated(name, literal.Value)) > 0 {
				t.Errorf("%s: a text that is shown cites: %s", files.Position(literal.Pos()), literal.Value)
			}
			return true
		})
	}
}

// rows match the names by which dialogues say what they prove: 4.8/rule-6, decision-36, decision-46/shapes.
var (
	rowOfProtocol = regexp.MustCompile(`^([1-9](?:\.[0-9]{1,2})?)/(?:rule-(\d+)$)?`)
	rowOfDecision = regexp.MustCompile(`^decision-(\d+)(?:/|$)`)
)

func TestRowOfADialogueLeadsToAHeading(t *testing.T) {
	h := documents(t)
	for name, text := range tracked(t) {
		list := filepath.Base(name) == "rows.txt"
		others := strings.HasPrefix(name, "internal/test/") && !strings.HasPrefix(name, "internal/test/service/") // dialogues
		if !list && !strings.Contains(name, "testdata/dialogues/") || others {
			continue
		}
		for line := range strings.Lines(text) {
			rows := strings.Fields(line)
			switch {
			case len(rows) == 0 || rows[0][0] == '#', !list && rows[0] != "rows:":
				continue
			case list:
				rows = rows[:1]
			default:
				rows = rows[1:]
			}
			for _, row := range rows {
				if why := h.row(row); why != "" {
					t.Errorf("%s: row %s: %s", name, row, why)
				}
			}
		}
	}
}

// row says what is wrong with a row, "" if nothing is.
func (h headings) row(row string) string {
	if m := rowOfDecision.FindStringSubmatch(row); m != nil {
		if !h.decisions[m[1]] {
			return "decisions.md has no entry " + m[1]
		}
		return ""
	}
	m := rowOfProtocol.FindStringSubmatch(row)
	switch {
	case m == nil:
		return "write 4.8/rule-6, or decision-36"
	case !h.sections[m[1]]:
		return "protocol.md has no section " + m[1]
	case m[2] != "" && !h.rules[m[1]+" "+m[2]]:
		return "this section has no such rule"
	}
	return ""
}

func TestHeadingsAreNumberedInOrder(t *testing.T) {
	decisions := read(t, "decisions.md")
	for i, m := range decisionHeading.FindAllStringSubmatch(decisions, -1) {
		if m[1] != strconv.Itoa(i+1) {
			t.Errorf("entry %s of decisions.md stands where %d should", m[1], i+1)
		}
	}
	var last []int
	for _, m := range sectionHeading.FindAllStringSubmatch(read(t, "protocol.md"), -1) {
		var now []int
		for _, part := range strings.Split(m[1]+m[2], ".") {
			n, _ := strconv.Atoi(part)
			now = append(now, n)
		}
		follows := len(last) > 0 && len(now) == 2 && (len(last) == 1 && now[1] == 1 || len(last) == 2 &&
			now[1] == last[1]+1) && now[0] == last[0]
		if first := len(now) == 1 && (last == nil && now[0] == 1 || last != nil && now[0] == last[0]+1); !first && !follows {
			t.Errorf("section %s%s of protocol.md follows %v", m[1], m[2], last)
		}
		last = now
	}
	for _, m := range regexp.MustCompile(`\bsections? (`+number+`)`).FindAllStringSubmatch(read(t, "protocol.md"), -1) {
		if h := documents(t); !h.sections[m[1]] {
			t.Errorf("protocol.md speaks of a section %s that it does not have", m[1])
		}
	}
}

func documents(t *testing.T) headings {
	t.Helper()
	h := headingsOf(read(t, "protocol.md"), read(t, "decisions.md"))
	if len(h.sections) < 20 || len(h.decisions) < 60 || !h.rules["4.8 6"] {
		t.Fatalf("the documents have %d sections and %d decisions: their headings cannot be read", len(h.sections),
			len(h.decisions))
	}
	return h
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var kinds = []string{".go", ".md", ".html", ".yaml", ".yml", ".sh", ".js", ".mjs", ".txt", ".css", ".conf"}

// tracked returns the texts that git tracks, by name.
func tracked(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", ":!**/testdata/fuzz/**").Output()
	if err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		openapi := strings.HasPrefix(filepath.Base(name), "openapi") && strings.HasSuffix(name, ".json") &&
			!strings.Contains(name, "testdata")
		if !slices.Contains(kinds, filepath.Ext(name)) && !strings.HasPrefix(name, ".ci/run") && !openapi {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(root, name)); err == nil { // else removed, and not yet committed
			files[name] = string(text)
		}
	}
	if len(files) < 500 {
		t.Fatalf("git tracks %d files of these kinds: too few to be the repository", len(files))
	}
	return files
}
