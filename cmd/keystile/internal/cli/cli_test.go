package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestFlagsAndWordsComeInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  Args
	}{
		{"set a b", Args{Flags: map[string][]string{}, Words: []string{"a", "b"}}},
		{"--data d set a b", Args{Flags: map[string][]string{"data": {"d"}}, Words: []string{"a", "b"}}},
		{"--data=d set --on a b", Args{Flags: map[string][]string{"data": {"d"}, "on": {"true"}}, Words: []string{"a", "b"}}},
		{"set a b --data d", Args{Flags: map[string][]string{"data": {"d"}}, Words: []string{"a", "b"}}},
		{"set --data=d a --on b", Args{Flags: map[string][]string{"data": {"d"}, "on": {"true"}}, Words: []string{"a", "b"}}},
		{"set -data - --on=false a b", Args{Flags: map[string][]string{"data": {"-"}, "on": {"false"}},
			Words: []string{"a", "b"}}},
		{"set --many x --many=--y -- --a -b", Args{Flags: map[string][]string{"many": {"x", "--y"}},
			Words: []string{"--a", "-b"}}},
		{"set --either a b", Args{Flags: map[string][]string{"either": {"true"}}, Words: []string{"a", "b"}}},
		{"set --either false a --on true", Args{Flags: map[string][]string{"either": {"false"}, "on": {"true"}},
			Words: []string{"a", "true"}}},
		{"set a b --either", Args{Flags: map[string][]string{"either": {"true"}}, Words: []string{"a", "b"}}},
	} {
		p := newProgram()
		if code := p.main(c.typed); code != ExitOK || !equal(p.got, c.want) {
			t.Errorf("%q = %d %+v, want %+v: %s", c.typed, code, p.got, c.want, p.err.String())
		}
	}
}

func TestCallThatIsWrongSaysWhatAndExits2(t *testing.T) {
	for typed, want := range map[string]string{
		"set a":                       "set takes A B",
		"set a b c":                   "set takes A B",
		"set a b --dta d":             "unknown flag --dta; the nearest known one is --data",
		"set a b -dta d":              "unknown flag -dta; the nearest known one is --data",
		"set a b --frobnicate":        "unknown flag --frobnicate; there is: --data, --on, --many, --either\n",
		"-o":                          "unknown flag -o; there is: --data\n",
		"set a b --data":              "--data needs a value: --data DIR",
		"set a b --data --on":         "--data needs a value",
		"set a b --data 1 --data 2":   "--data is given twice",
		"set a b --on=perhaps":        "--on=perhaps: a switch is true or false",
		"need":                        "--must X is missing: what must be",
		"plain --x":                   "plain has none",
		"sett a b":                    `unknown command "sett"; the nearest one is "set"`,
		"frobnicate":                  `unknown command "frobnicate"; there is: app, completion`,
		"app":                         "app what? There is: app create, app list",
		"app creat":                   `unknown command "app creat"; the nearest one is "app create"`,
		"app lst":                     `the nearest one is "app list"`,
		"app frobnicate":              `unknown command "app frobnicate"; there is: app create, app list`,
		"ap create":                   `the nearest one is "app"`,
		"deep er tha":                 `the nearest one is "deep er than"`,
		"help app lst":                `unknown command "app lst"; the nearest one is "app list"`,
		"help frobnicate":             `unknown command "frobnicate"`,
		"set a --dta d --onn --data=": "unknown flag --dta",
		"completion":                  "completion what? There is: completion bash",
		"completion tcsh":             `unknown command "completion tcsh"`,
		"completion bash x":           `unknown command "x" for "prog completion bash"`,
		"completion bash --x":         "unknown flag: --x",
		"app --x -h":                  "unknown flag: --x",
		"--data d -h":                 "unknown flag: --data",
	} {
		p := newProgram()
		code := p.main(typed)
		if code != ExitUsage || !strings.Contains(p.err.String(), want) ||
			!strings.Contains(p.err.String(), "For help: prog help") || p.ran || p.out.Len() > 0 {
			t.Errorf("%q = %d %q (ran %t), want 2 and %q", typed, code, p.err.String(), p.ran, want)
		}
	}
}

func TestCommandReportsAllComplaintsAboutACallAtOnce(t *testing.T) {
	p := newProgram()
	p.main("need a")
	for _, want := range []string{"--must X is missing", "need takes no words"} {
		if !strings.Contains(p.err.String(), want) {
			t.Errorf("%q does not say %q", p.err.String(), want)
		}
	}
}

func TestFailureExits1AndAUsageErrorOfACommand2(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{{nil, ExitOK}, {errors.New("no disk"), ExitFailed}, {Usage("no such setting"), ExitUsage},
		{errors.Join(errors.New("a"), Usage("b")), ExitUsage}, {&CodedError{errors.New("who knows"), 3}, 3}} {
		p := newProgram()
		p.fails = c.err
		if code := p.main("plain"); code != c.want || c.err != nil &&
			!strings.HasPrefix(p.err.String(), "prog: "+c.err.Error()) {
			t.Errorf("a command that returns %v exits %d, %q", c.err, code, p.err.String())
		}
	}
}

func TestCommandDefaultRunsWithoutAName(t *testing.T) {
	for _, typed := range []string{"", "--data d", "--data=d", "-data d"} {
		p := newProgram()
		if code := p.main(typed); code != ExitOK || p.name != "start" {
			t.Errorf("%q = %d, ran %q", typed, code, p.name)
		}
	}
}

func TestCommandIsMadeAloneWhereItIsCalled(t *testing.T) {
	all := "start, set, need, plain, app create, app list, deep er than"
	for typed, want := range map[string]string{
		"": "start", "set a b": "set", "app create": "app create, app list", "app": "app create, app list", "--help": all,
		"--data d": all, "help set": all, "ap": all, "__complete set": all, "-h": all, "--version": all,
	} {
		var names []string
		for _, c := range newProgram().table.called(strings.Fields(typed)).Commands {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%q makes %s, want %s", typed, got, want)
		}
	}
}

func TestHelpIsThereHoweverItIsAskedFor(t *testing.T) {
	for typed, want := range map[string]string{
		"help":               "Many things:\n  app",
		"--help":             "prog [command] --help",
		"-h":                 "  set         Set it",
		"help set":           "--data DIR",
		"set --help":         "--data DIR",
		"set a -h":           "Usage:\n  prog set A B [flags]",
		"help need":          "  prog need --must X [flags]",
		"help app":           "  create      Make one",
		"help deep":          "  er ",
		"app --help":         "prog app [command]",
		"app create --help":  "Make one",
		"help app create":    "prog app create --x",
		"set a b --on -h":    "(may be repeated)",
		"need --must x -h y": "(required)",
		"help completion":    "powershell",
	} {
		p := newProgram()
		if code := p.main(typed); code != ExitOK || p.ran || !strings.Contains(p.out.String(), want) {
			t.Errorf("%q = %d %q, want %q", typed, code, p.out.String()+p.err.String(), want)
		}
	}
}

func TestHelpIsWrapped(t *testing.T) {
	for _, typed := range []string{"help", "help set", "help app", "help deep er than"} {
		p := newProgram()
		p.main(typed)
		for line := range strings.Lines(p.out.String()) {
			if len(line) > usualWidth+1 {
				t.Errorf("%s: a line of %d: %s", typed, len(line)-1, line)
			}
		}
	}
	const text = "One paragraph of\ntwo lines.\n\n  a  kept\n  b  kept"
	if got := wrap(text, usualWidth); got != "One paragraph of two lines.\n\n\ta  kept\n\tb  kept" {
		t.Errorf("wrapped to %q", got)
	}
}

func TestHelpIsAsWideAsTheTerminal(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "0": 80, "many": 80, "120": 120, "20": 40, "1000": 160} {
		if got := widthOf(Call{Stdout: io.Discard, Env: []string{"A=B", "COLUMNS=" + columns}}); got != want {
			t.Errorf("with COLUMNS=%s it is %d wide, want %d", columns, got, want)
		}
	}
	about := strings.Repeat("word ", 60)
	var out bytes.Buffer
	table := Table{Program: "prog", Commands: []Command{{Name: "run", Summary: "Run", Flags: []Flag{
		{Name: "one", Value: "X", Help: about, Group: "First things"}, {Name: "two", Help: about, Group: "Second things"},
		{Name: "three", Help: about, Group: "First things"}, {Name: "four", Help: "none"},
	}}}}
	table.Main(t.Context(), []string{"run", "--help"}, Call{Stdout: &out, Stderr: &out, Env: []string{"COLUMNS=100"}})
	longest, last := 0, -1
	for line := range strings.Lines(out.String()) {
		longest = max(longest, len(line)-1)
	}
	if longest > 101 || longest < 90 {
		t.Errorf("the longest line has %d columns:\n%s", longest, &out)
	}
	for _, in := range []string{"First things:\n", "--one X", "--three", "Second things:\n", "--two", "Flags:\n", "--four",
		"-h, --help"} {
		at := strings.Index(out.String(), in)
		if at <= last {
			t.Errorf("%q stands at %d, behind %d:\n%s", in, at, last, &out)
		}
		last = at
	}
}

func TestNearestNameHasTheFewestEditsAndOneThatIsFarIsNone(t *testing.T) {
	names := []string{"data", "listen", "base_url", "lifetimes.code", "lifetimes.access"}
	for _, c := range []struct{ typed, want string }{
		{"lifetime.code", "lifetimes.code"}, {"baseurl", "base_url"}, {"dtaa", "data"}, {"liten", "listen"},
		{"bsae_url", "base_url"},
		{"", ""}, {"v", ""}, {"x", ""}, {"frobnicate", ""}, {"code", ""},
	} {
		want := ""
		if c.want != "" {
			want = "<" + c.want + ">"
		}
		if got := Hint("<%s>", c.typed, names); got != want {
			t.Errorf("Hint(%q) = %q, want %q", c.typed, got, want)
		}
	}
	if got := distance("kitten", "sitting"); got != 3 {
		t.Errorf("distance(kitten, sitting) = %d, want 3", got)
	}
	if got := distance("ab", "ba"); got != 1 {
		t.Errorf("distance of two swapped letters = %d, want 1", got)
	}
}

// program is a table whose commands remember how they were called.
type program struct {
	table    Table
	fails    error
	out, err strings.Builder

	ran  bool
	name string
	got  Args
}

func newProgram() *program {
	p := &program{}
	run := func(name string) func(context.Context, Call) error {
		return func(_ context.Context, c Call) error {
			p.ran, p.name, p.got = true, name, c.Args
			return p.fails
		}
	}
	long := strings.Repeat("many words ", 30)
	groups := []Group{{"Many things:", []Topic{{"app", "What there is"}, {"set", ""}}},
		{"Few:", []Topic{{"deep", "More"}}}}
	p.table = Table{Program: "prog", Default: "start", Groups: groups, Commands: []Command{
		{Name: "start", Run: run("start"), Flags: []Flag{{Name: "data", Value: "DIR"}}},
		{Name: "set", Words: []string{"A", "B"}, Summary: "Set it", Run: run("set"), Flags: []Flag{
			{Name: "data", Value: "DIR", Help: "where"}, {Name: "on", Help: "a switch"}, {Name: "many", Value: "X", Many: true},
			{Name: "either", Either: true},
		}},
		{Name: "need", Run: run("need"), Flags: []Flag{{Name: "must", Value: "X", Help: "what must be", Need: true}}},
		{Name: "plain", Run: run("plain")},
		{Name: "app create", Summary: "Make one", Examples: []string{"prog app create --x"}, Run: run("app create")},
		{Name: "app list", Run: run("app list")},
		{Name: "deep er than", Summary: "It is " + long, Details: long + "\n" + long,
			Flags: []Flag{{Name: "x", Value: "X", Help: long}}, Run: run("deep er than")},
	}}
	return p
}

func (p *program) main(typed string) int { return p.run(strings.Fields(typed)...) }

func (p *program) run(words ...string) int {
	return p.table.Main(context.Background(), words, Call{Stdout: &p.out, Stderr: &p.err})
}

func equal(a, b Args) bool {
	if len(a.Flags) != len(b.Flags) || !slices.Equal(a.Words, b.Words) {
		return false
	}
	for name, values := range a.Flags {
		if !slices.Equal(values, b.Flags[name]) {
			return false
		}
	}
	return true
}
