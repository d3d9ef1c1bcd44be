package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

var built struct {
	sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// keystile returns the path of the program.
func keystile(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("links a program")
	}
	built.Do(func() {
		dir, err := os.MkdirTemp("", "keystile-guides")
		if err == nil {
			built.path, err = overlay.Build(t.Context(), dir)
		}
		built.err = err
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

var (
	// typed finds commands in lines of code, and between backquotes.
	typed = regexp.MustCompile("(?m)(?:^ {4}|^|[(`]|\\d= )(?:[A-Z_]+=\\S+ )*(?:keystile|go run \\./cmd/keystile) " +
		"([a-z][^`\n]*)")
	comment = regexp.MustCompile(`\s#.*|\s&$`)
	word    = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flag    = regexp.MustCompile(`--([a-z][a-z-]*)`)
	usage   = regexp.MustCompile(`(?m)^Usage:\n  keystile (.*)$`)
)

// named returns the commands that a page names, each in one line.
func (p page) named() (all []string) {
	for _, m := range typed.FindAllStringSubmatch(strings.ReplaceAll(p.text, "\\\n", " "), -1) {
		first, within, _ := strings.Cut(comment.ReplaceAllString(m[1], ""), "$(")
		all = append(all, first)
		if inner, is := strings.CutPrefix(within, "keystile "); is {
			inner, _, _ = strings.Cut(inner, "|")
			all = append(all, inner)
		}
	}
	return all
}

// Commands and flags that a page names are those of the program.
func TestCommandsThatAreNamedExist(t *testing.T) {
	named := 0
	for _, p := range pages(t) {
		if p.path == "internal/protocol/decisions.md" {
			continue // it tells of what was, too
		}
		for _, line := range p.named() {
			named++
			if why := wrong(t, line); why != "" {
				t.Errorf("%s: keystile %s: %s", p.path, line, why)
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d commands are found", named)
	}
}

// wrong says what is wrong with a command, "" if nothing is.
func wrong(t *testing.T, line string) string {
	t.Helper()
	var words []string
	for w := range strings.FieldsSeq(line) {
		if !word.MatchString(w) {
			break
		}
		words = append(words, w)
	}
	if words[0] == "help" {
		words = words[1:]
	}
	out, err := help(t, words)
	found := usage.FindSubmatch(out)
	if err != nil || found == nil {
		return "there is no such command"
	}
	path, group := strings.CutSuffix(string(found[1]), " [command]")
	if depth := len(strings.Fields(path)); group && len(words) > depth {
		return "there is no command " + strings.Join(words[:depth+1], " ")
	}
	for _, m := range flag.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(string(out), "--"+m[1]+" ") && !strings.Contains(string(out), "--"+m[1]+"\n") {
			return "it has no flag --" + m[1]
		}
	}
	return ""
}

var helps = map[string][]byte{}

// help returns what the program says of a command.
func help(t *testing.T, words []string) ([]byte, error) {
	t.Helper()
	key := strings.Join(words, " ")
	if out, is := helps[key]; is {
		return out, nil
	}
	out, err := exec.CommandContext(t.Context(), keystile(t), append(words, "--help")...).CombinedOutput()
	if err == nil {
		helps[key] = out
	}
	return out, err
}

// This test prevents only what it can see.
func TestCommandsThatDoNotExistAreFound(t *testing.T) {
	for line, want := range map[string]string{
		"lockout list":                          "there is no command lockout list",
		"capability bundle create x --tool a":   "it has no flag --tool",
		"serve --listen 127.0.0.1:1 --base-urk": "it has no flag --base-urk",
		"capability bundle create x --tools a":  "",
		"audit tail --follow":                   "",
	} {
		if why := wrong(t, line); why != want {
			t.Errorf("%s: %q, want %q", line, why, want)
		}
	}
	p := page{text: "x\n\n    A_B=c keystile serve --x \\\n      --y  # why\n\n" +
		"`keystile help` and (`go run ./cmd/keystile user list`)\n\n" +
		"```sh\nkeystile serve &\nid=$(keystile app list --json)\nkeystile billing approve \"$(keystile billing orders " +
		"--status x | jq)\"\n```\n"}
	var found []string
	for _, line := range p.named() {
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"serve --x --y", "help", "user list", "serve", "app list --json)", `billing approve "`, "billing orders --status x"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
