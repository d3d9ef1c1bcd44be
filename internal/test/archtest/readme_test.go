package archtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const (
	english = "README.md"
	chinese = ".github/README.zh-CN.md"
)

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fenced splits a page into its blocks of code, the first line of each being its language, and the rest.
func fenced(page string) (blocks []string, prose string) {
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 1 {
			blocks = append(blocks, part+"\n")
		} else {
			prose += part + "\n"
		}
	}
	return blocks, prose
}

// goBlocks returns what the README shows of the library: the service as a handler, and sign-in at an MCP endpoint.
func goBlocks(t *testing.T) []string {
	t.Helper()
	var found []string
	blocks, _ := fenced(text(t, english))
	for _, block := range blocks {
		if code, is := strings.CutPrefix(block, "go\n"); is {
			found = append(found, code)
		}
	}
	if len(found) != 2 {
		t.Fatalf("%d blocks of Go in the README, want 2", len(found))
	}
	return found
}

// The last line of each block serves, which an example cannot.
func serves(line string) bool {
	return strings.HasPrefix(line, `log.Fatal(http.ListenAndServe("127.0.0.1:8080", `)
}

func TestGoOfTheReadmeIsOfTheExamples(t *testing.T) {
	examples := strings.ReplaceAll(text(t, "example_test.go"), "\n\t", "\n")
	for _, block := range goBlocks(t) {
		var shown []string
		for line := range strings.Lines(block) {
			if !serves(line) {
				shown = append(shown, line)
			}
		}
		if !strings.Contains(examples, strings.Join(shown, "")) {
			t.Errorf("these lines of the README are in no example of package keystile:\n%s", block)
		}
		if lines := strings.Count(block, "\n"); lines > 20 {
			t.Errorf("%d lines, more than 20:\n%s", lines, block)
		}
	}
}

// imports of a host with everything; the compiler refuses those that a program does not use.
var imports = map[string]string{
	"context.": "context", "http.": "net/http", "log.": "log", "os.": "os",
	"keystile.": module, "gateway.": module + "/gateway", "remote.": module + "/gateway/remote",
	"oauth.": module + "/oauth", "storage.": module + "/storage",
	"bolt.": module + "/storage/bolt", "memory.": module + "/storage/memory",
}

// A reader can copy programs out of the README, in a module that knows nothing of this one but that
// it requires it.
func TestGoOfTheReadmeCompilesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlocks(t)
	for name, body := range map[string]string{
		"one handler": "func main() {\n" + blocks[0] + "}\n\nvar hello = http.NotFoundHandler()\n",
		"mcp": "func main() {\nbackend, key := memory.New(), storage.NewMasterKey()\n" +
			blocks[1] + "}\n\nvar mcpHandler = http.NotFoundHandler()\n",
	} {
		t.Run(name, func(t *testing.T) {
			var program bytes.Buffer
			fmt.Fprintln(&program, "package main\n\nimport (")
			for name, path := range imports {
				if strings.Contains(body, name) {
					fmt.Fprintf(&program, "%q\n", path)
				}
			}
			fmt.Fprintln(&program, ")\n\n"+body)
			folder := t.TempDir()
			write := func(name string, data []byte) {
				if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("main.go", program.Bytes())
			write("go.sum", []byte(text(t, "go.sum")))
			write("go.mod", fmt.Appendf(nil, "module example.com/host\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n",
				module, module, here))
			build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-ldflags=-s -w", "-o",
				filepath.Join(folder, "host"), ".")
			build.Dir = folder
			if said, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, said, program.Bytes())
			}
		})
	}
}

// words counts words; two characters of Chinese are one.
func words(prose string) int {
	han := 0
	rest := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Han, c) {
			han++
		}
		if c >= 0x3000 { // from there on are its letters and marks
			return ' '
		}
		return c
	}, prose)
	return len(strings.Fields(rest)) + han/2
}

// Prose is everything outside of fenced code: headings, lists, tables and pictures too.
func TestReadmeIsAsLongAsAStrangerReads(t *testing.T) {
	for _, path := range []string{english, chinese} {
		page := text(t, path)
		_, prose := fenced(page)
		if n := strings.Count(page, "\n"); n > 150 {
			t.Errorf("%s has %d lines, more than 150", path, n)
		}
		if n := words(prose); n > 900 || n < 100 {
			t.Errorf("%s has %d words of prose, want at most 900", path, n)
		}
	}
	if n := words("one two 三个字 four, 五"); n != 5 {
		t.Errorf("%d words are counted, want 5", n)
	}
}

// A screen shows some 25 lines: what it is, for whom and instead of what, how to start, and what one may expect.
func TestFirstScreenOfTheReadmeAnswersAStranger(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindStringSubmatch(text(t, "go.mod"))
	for path, wants := range map[string][]string{
		english: {"Keystile is an OAuth 2.1 / OpenID Connect provider, a metered API gateway and an MCP server",
			"It is for teams", "would rather run\none thing than join", "one Go\nbinary or as a library"},
		chinese: {"Keystile 是", "适合", "不必"},
	} {
		screen := strings.Join(strings.SplitAfter(text(t, path), "\n")[:25], "")
		for _, want := range append(wants, "Go "+version[1]+" ", "Apache-2.0", "0.1.0", "go run ./cmd/keystile ",
			"go test ./... ", "http://127.0.0.1:8080/console/", "keystile-data/first-run.json") {
			if !strings.Contains(screen, want) {
				t.Errorf("the first screen of %s lacks %q", path, want)
			}
		}
	}
}

// untagged are the words of a README from before the first release.
var untagged = map[string]string{english: "Until 0.1.0 is tagged", chinese: "0.1.0 打标签之前"}

func TestReadmeOfAReleaseDoesNotSayThatThereIsNone(t *testing.T) {
	list := exec.CommandContext(t.Context(), "git", "tag", "--list", "v*")
	list.Dir = root
	tags, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path, words := range untagged {
		if says := strings.Contains(text(t, path), words); says && len(tags) > 0 {
			t.Errorf("%s says %q, and there is %s", path, words, tags)
		}
	}
}

var (
	address = regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"|<(http[^>]+)>`)
	remark  = regexp.MustCompile(`(?m)\s*(?://|#) .*$`)
)

// leads returns where a page leads, but for the other language, as paths from the root.
func leads(t *testing.T, path string) (all []string) {
	t.Helper()
	for _, m := range address.FindAllStringSubmatch(text(t, path), -1) {
		to := m[1] + m[2] + m[3]
		if !strings.Contains(to, ":") {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if to != english && to != chinese {
			all = append(all, to)
		}
	}
	slices.Sort(all)
	return all
}

// Comments in code are translated, and nothing else in it.
func TestReadmeInChineseHasTheCodeAndLinksOfTheEnglishOne(t *testing.T) {
	ours, _ := fenced(text(t, english))
	theirs, _ := fenced(text(t, chinese))
	if len(ours) < 6 || len(ours) != len(theirs) {
		t.Fatalf("%d blocks of code, in Chinese %d", len(ours), len(theirs))
	}
	for i := range ours {
		if a, b := remark.ReplaceAllString(ours[i], ""), remark.ReplaceAllString(theirs[i], ""); a != b {
			t.Errorf("the code\n%s\nis in Chinese\n%s", a, b)
		}
	}
	if a, b := leads(t, english), leads(t, chinese); len(a) < 15 || !slices.Equal(a, b) {
		t.Errorf("it leads to\n%q\nin Chinese to\n%q", a, b)
	}
	for path, other := range map[string]string{english: "(" + chinese + ")", chinese: "(../README.md)"} {
		if !strings.Contains(text(t, path), other) {
			t.Errorf("%s does not lead to the other language", path)
		}
	}
}

// Lines that people paste into clients are the same in the console, which has them with the address of the service.
func TestLinesForClientsAreThoseOfTheConsole(t *testing.T) {
	console := text(t, "gateway/console/internal/ui/connect.go")
	mcp := regexp.MustCompile(`https?://[a-z0-9.:]+/api/mcp|keystile`)
	for path, most := range map[string]int{english: 1, "examples/agent/README.md": 4} {
		blocks, _ := fenced(text(t, path))
		for _, line := range strings.Split(strings.Join(blocks, ""), "\n") {
			if !strings.Contains(line, "/api/mcp") || strings.HasPrefix(line, "curl ") || strings.HasPrefix(line, "keystile ") {
				continue
			}
			most--
			for _, part := range mcp.Split(remark.ReplaceAllString(line, ""), -1) {
				if !strings.Contains(console, part) {
					t.Errorf("%s: the console has no line with %q: %s", path, part, line)
				}
			}
		}
		if most != 0 {
			t.Errorf("%s has %d more or fewer lines for clients than are known here", path, most)
		}
	}
}
