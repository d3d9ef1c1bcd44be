package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Args is what was typed after a command's name. It travels as JSON to a server that
// runs the command in our stead.
type Args struct {
	Flags map[string][]string `json:"flags"`
	Words []string            `json:"words"`
}

// Get returns the value of a flag, "" if it was not given.
func (a Args) Get(name string) string {
	if values := a.Flags[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// On reports whether a switch is on.
func (a Args) On(name string) bool { return a.Get(name) == "true" }

// parse reads flags and words in any order. Behind "--" everything is a word.
func (c Command) parse(typed []string) (Args, error) {
	p := parser{command: c, args: Args{Flags: map[string][]string{}}}
	for len(typed) > 0 {
		word := typed[0]
		typed = typed[1:]
		switch {
		case word == "--":
			p.args.Words = append(p.args.Words, typed...)
			typed = nil
		case strings.HasPrefix(word, "-") && word != "-":
			typed = p.flag(strings.TrimLeft(word, "-"), typed)
		default:
			p.args.Words = append(p.args.Words, word)
		}
	}
	p.errs = append(p.errs, c.Check(p.args))
	if err := errors.Join(p.errs...); err != nil {
		return p.args, &UsageError{err}
	}
	return p.args, nil
}

type parser struct {
	command Command
	args    Args
	errs    []error
}

func (p *parser) complain(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf(format, args...))
}

// flag reads one flag, and its value from the words that follow if it has none of its
// own. It returns the words that are left.
func (p *parser) flag(word string, follow []string) []string {
	name, value, own := strings.Cut(word, "=")
	f, ok := p.command.flag(name)
	switch {
	case !ok:
		p.complain("unknown flag --%s%s", name, p.command.nearestFlag(name))
		if !own && len(follow) > 0 && !strings.HasPrefix(follow[0], "-") {
			return follow[1:] // most likely its value; taken as a word it would bring a second complaint
		}
		return follow
	case f.Value == "" && !own && f.Either && len(follow) > 0 && (follow[0] == "true" || follow[0] == "false"):
		value, follow = follow[0], follow[1:]
	case f.Value == "" && !own:
		value = "true"
	case f.Value == "" && value != "true" && value != "false":
		p.complain("--%s=%s: a switch is true or false", name, value)
	case f.Value != "" && !own && (len(follow) == 0 || strings.HasPrefix(follow[0], "--")):
		p.complain("--%s needs a value: --%s %s", name, name, f.Value)
		return follow
	case f.Value != "" && !own:
		value, follow = follow[0], follow[1:]
	}
	if len(p.args.Flags[name]) > 0 && !f.Many {
		p.complain("--%s is given twice", name)
	}
	p.args.Flags[name] = append(p.args.Flags[name], value)
	return follow
}

// Check says what is missing in the arguments of a command, or not known to it.
func (c Command) Check(a Args) error {
	var errs []error
	for name := range a.Flags {
		if _, ok := c.flag(name); !ok {
			errs = append(errs, fmt.Errorf("unknown flag --%s%s", name, c.nearestFlag(name)))
		}
	}
	for _, f := range c.Flags {
		if f.Need && a.Get(f.Name) == "" {
			errs = append(errs, fmt.Errorf("--%s %s is missing: %s", f.Name, f.Value, f.Help))
		}
	}
	least := len(c.Words)
	if least > 0 && strings.HasPrefix(c.Words[least-1], "[") {
		least--
	}
	if len(a.Words) < least || len(a.Words) > len(c.Words) {
		want := "no words beside its flags"
		if len(c.Words) > 0 {
			want = strings.Join(c.Words, " ")
		}
		errs = append(errs, fmt.Errorf("%s takes %s; given: %q", c.Name, want, a.Words))
	}
	return errors.Join(errs...)
}

func (c Command) flag(name string) (Flag, bool) {
	i := slices.IndexFunc(c.Flags, func(f Flag) bool { return f.Name == name })
	if i < 0 {
		return Flag{}, false
	}
	return c.Flags[i], true
}

func (c Command) nearestFlag(name string) string {
	if len(c.Flags) == 0 {
		return "; " + c.Name + " has none"
	}
	names := make([]string, len(c.Flags))
	for i, f := range c.Flags {
		names[i] = f.Name
	}
	return "; the nearest known one is --" + Nearest(name, names)
}
