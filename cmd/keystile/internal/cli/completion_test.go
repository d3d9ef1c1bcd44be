package cli

import (
	"strings"
	"testing"
)

// completed returns what a shell is offered behind the last word, without the help beside it.
func completed(t *testing.T, words ...string) string {
	t.Helper()
	p := newProgram()
	if code := p.run(append([]string{"__complete"}, words...)...); code != ExitOK {
		t.Fatalf("__complete %q = %d %s", words, code, p.err.String())
	}
	var names []string
	for line := range strings.Lines(p.out.String()) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(name, ":") {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestShellIsOfferedCommandsAndFlags(t *testing.T) {
	for typed, want := range map[string]string{
		"":                  "app completion deep help need plain set start",
		"s":                 "set start",
		"app ":              "create list",
		"app c":             "create",
		"deep er ":          "than",
		"set --":            "--data --on --many --either --help",
		"set a --da":        "--data",
		"set a b --data x ": "",
		"help app ":         "create list",
		"completion ":       "bash fish powershell zsh",
		"nothing x":         "",
	} {
		if got := completed(t, strings.Split(typed, " ")...); got != want {
			t.Errorf("%q is completed to %q; want %q", typed, got, want)
		}
	}
}

func TestShellHasAScript(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p := newProgram()
		if code := p.main("completion " + shell); code != ExitOK || !strings.Contains(p.out.String(), "__complete") ||
			strings.Count(p.out.String(), "\n") < 50 {
			t.Errorf("completion %s = %d %.200s", shell, code, p.out.String()+p.err.String())
		}
	}
}
