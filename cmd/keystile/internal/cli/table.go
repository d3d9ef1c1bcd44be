package cli

import (
	"context"
	"io"
	"slices"
	"strings"
)

// Table is a program: its commands.
type Table struct {
	Program  string
	Summary  string
	Default  string // the command that runs if none is named
	Commands []Command
}

// Command is one line of the table.
type Command struct {
	Name     string   // the words that call it, such as "app create"
	Words    []string // what it takes besides flags, as help names it: KEY, VALUE; [NAME] may be left out, and is the last
	Summary  string   // one line
	Details  string   // more, for its own help
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
	Many   bool // may be given more than once
	Need   bool // must be given
}

// Call is one call of a command: what was typed and where to talk to.
type Call struct {
	Args
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string // NAME=value, as os.Environ has it
}

// find returns the command that words begin with and the words after its name.
func (t Table) find(words []string) (Command, []string, bool) {
	for n := min(3, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if i := slices.IndexFunc(t.Commands, func(c Command) bool { return c.Name == name }); i >= 0 {
			return t.Commands[i], words[n:], true
		}
	}
	return Command{}, words, false
}

// group returns the commands whose name begins with a word: "app" is app create and others.
func (t Table) group(word string) []Command {
	return slices.DeleteFunc(slices.Clone(t.Commands), func(c Command) bool {
		return !strings.HasPrefix(c.Name, word+" ")
	})
}

func (t Table) names() []string {
	names := make([]string, len(t.Commands))
	for i, c := range t.Commands {
		names[i] = c.Name
	}
	return names
}
