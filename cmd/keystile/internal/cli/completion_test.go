package cli

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

func TestBashCompletesCommandsAndFlags(t *testing.T) {
	script := scriptFor(t, "bash")
	for typed, want := range map[string]string{
		"prog ":                    "start set need plain app completion",
		"prog s":                   "start set",
		"prog app ":                "create",
		"prog app c":               "create",
		"prog set --":              "--data --on --many --either --help",
		"prog set a --da":          "--data",
		"prog set a b --data x --": "--data --on --many --either --help",
		"prog completion ":         "--help bash zsh fish",
		"prog nothing x":           "",
	} {
		words := strings.Split(typed, " ")
		line := script + "\nCOMP_WORDS=(" + strings.Join(words[:len(words)-1], " ") + " '" + words[len(words)-1] + "') COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _prog; echo \"${COMPREPLY[*]}\""
		out, err := exec.CommandContext(t.Context(), "bash", "-c", line).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q is completed to %q, %v; want %q", typed, got, err, want)
		}
	}
}

func TestEveryShellIsToldOfEverything(t *testing.T) {
	p := newProgram()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := scriptFor(t, shell)
		for _, c := range p.table.Commands {
			for _, word := range strings.Fields(c.Name) {
				if !strings.Contains(script, word) {
					t.Errorf("%s does not know %q", shell, c.Name)
				}
			}
			for _, f := range c.Flags {
				if !strings.Contains(script, "--"+f.Name) && !strings.Contains(script, "-l "+f.Name) {
					t.Errorf("%s does not know %s --%s", shell, c.Name, f.Name)
				}
			}
		}
	}
}

func TestAShellThatIsNotKnownIsAWrongCall(t *testing.T) {
	p := newProgram()
	p.table = p.table.WithCompletion()
	if code := p.main("completion tcsh"); code != ExitUsage || !strings.Contains(p.err.String(), "none of bash, zsh, fish") {
		t.Errorf("completion tcsh = %d %q", code, p.err.String())
	}
}

func scriptFor(t *testing.T, shell string) string {
	t.Helper()
	p := newProgram()
	p.table = p.table.WithCompletion()
	call := Call{Stdout: &p.out, Stderr: &p.err}
	if code := p.table.Main(context.Background(), []string{"completion", shell}, call); code != ExitOK {
		t.Fatalf("completion %s = %d %s", shell, code, p.err.String())
	}
	return p.out.String()
}
