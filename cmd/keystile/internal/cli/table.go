package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Table is a program: its commands.
type Table struct {
	Program  string
	Summary  string
	Default  string // the command that runs if none is named
	Groups   []Group
	Commands []Command
}

// Group is a heading of the help and the first words of the commands that stand below it.
type Group struct {
	Title  string
	Topics []Topic
}

// Topic is the first word of commands. Its summary is that of the command itself where the word
// names one.
type Topic struct{ Name, Summary string }

// Command is one line of the table.
type Command struct {
	Name string // the words that call it, such as "app create"
	// what it takes besides flags, as help names it: KEY, VALUE; [NAME] may be left out, and is the last; [NAME...] may
	// be several
	Words    []string
	Summary  string   // one line
	Details  string   // more, for its own help: paragraphs
	Examples []string // whole command lines
	Flags    []Flag
	Run      func(context.Context, Call) error
}

// Flag is one flag of a command.
type Flag struct {
	Name   string // without dashes
	Value  string // what help calls its value; "": a switch, which needs none
	Either bool   // a switch that takes the word behind it if that is true or false
	Help   string
	Many   bool   // may be given more than once
	Need   bool   // must be given
	Group  string // what help shows it below; "": Flags
}

// Call is one call of a command: what was typed and where to talk to.
type Call struct {
	Args
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string // NAME=value, as os.Environ has it
}

// Args holds what was typed after a command's name. It travels as JSON to a server that runs the
// command in the caller's stead.
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

// Check says everything that is missing in the arguments of a command, or not known to it.
func (c Command) Check(a Args) error {
	var errs []error
	for name := range a.Flags {
		if !slices.ContainsFunc(c.Flags, func(f Flag) bool { return f.Name == name }) {
			errs = append(errs, c.unknownFlag("--", name))
		}
	}
	for _, f := range c.Flags {
		switch n := len(a.Flags[f.Name]); {
		case f.Need && a.Get(f.Name) == "":
			errs = append(errs, fmt.Errorf("--%s %s is missing: %s", f.Name, f.Value, f.Help))
		case n > 1 && !f.Many:
			errs = append(errs, fmt.Errorf("--%s is given twice", f.Name))
		}
	}
	least := len(c.Words)
	if least > 0 && strings.HasPrefix(c.Words[least-1], "[") {
		least--
	}
	many := least < len(c.Words) && strings.HasSuffix(c.Words[least], "...]")
	if len(a.Words) < least || len(a.Words) > len(c.Words) && !many {
		want := "no words beside its flags"
		if len(c.Words) > 0 {
			want = strings.Join(c.Words, " ")
		}
		errs = append(errs, fmt.Errorf("%s takes %s; given: %q", c.Name, want, a.Words))
	}
	return errors.Join(errs...)
}

// fewFlags are so many that an error can name them all.
const fewFlags = 16

// unknownFlag says that the command has no such flag, and which one is nearly the same, or which there are.

func (c Command) unknownFlag(dashes, name string) error {
	if len(c.Flags) == 0 {
		return fmt.Errorf("unknown flag %s%s; %s has none", dashes, name, c.Name)
	}
	var names []string
	for _, f := range c.Flags {
		names = append(names, f.Name)
	}
	hint := Hint("; the nearest known one is --%s", name, names)
	if hint == "" && len(names) <= fewFlags {
		hint = "; there is: --" + strings.Join(names, ", --")
	}
	return fmt.Errorf("unknown flag %s%s%s", dashes, name, hint)
}
