package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystile/keystile/cmd/keystile/internal/redact"
)

// Exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// UsageError says that the program was called wrongly; nothing was done.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// CodedError ends the program with an exit code of its own.
type CodedError struct {
	Err  error
	Code int
}

func (e *CodedError) Error() string { return e.Err.Error() }
func (e *CodedError) Unwrap() error { return e.Err }

// Usage makes a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main runs the command that words name and returns the exit code.
func (t Table) Main(ctx context.Context, words []string, call Call) int {
	said := &checked{Writer: call.Stdout}
	root := t.called(words).tree(call, said)
	words, c, err := t.prepare(root, words)
	if err == nil {
		root.SetArgs(words)
		c, err = root.ExecuteContextC(ctx)
	}
	if err == nil {
		err = said.err
	}
	return fail(call.Stderr, c, err)
}

// called returns the table with nothing but the commands that begin with the first of these words, where there are any:
// one of a hundred is made, with its flags. Help, completion and wrong words need them all.
func (t Table) called(words []string) Table {
	if len(words) == 0 {
		words = []string{t.Default}
	}
	commands := slices.DeleteFunc(slices.Clone(t.Commands), func(c Command) bool {
		first, _, _ := strings.Cut(c.Name, " ")
		return first != words[0]
	})
	if len(commands) > 0 {
		t.Commands = commands
	}
	return t
}

// checked remembers that something could not be written: cobra, which writes the help, does not look.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// prepare makes of what was typed what cobra reads: the default command has its name, --version is
// a command too, and flags are written as pflag knows them.
func (t Table) prepare(root *cobra.Command, words []string) ([]string, *cobra.Command, error) {
	if len(words) > 0 && words[0] == "--version" {
		words = slices.Replace(slices.Clone(words), 0, 1, "version") // where everybody looks for it
	}
	isFlag := func(word string) bool { return strings.HasPrefix(word, "-") }
	helped := slices.Contains(words, "--help") || slices.Contains(words, "-h")
	c, rest, _ := root.Find(words)
	if c == root && (len(words) == 0 || isFlag(words[0]) && !helped) {
		words = slices.Insert(slices.Clone(words), 0, t.Default)
		c, rest, _ = root.Find(words)
	}
	own := c.Runnable() && (len(rest) == 0 || isFlag(rest[0])) // a command with others below it
	if c.HasSubCommands() && !own {                            // cobra would show its help, and exit 0
		if helped || strings.HasPrefix(words[0], cobra.ShellCompRequestCmd) {
			return words, c, nil
		}
		return nil, c, unknown(c, slices.DeleteFunc(rest, isFlag))
	}
	words, err := spell(c, words)
	return words, c, err
}

// spell joins a switch with the word behind it if that is true or false, accepts one dash for two,
// and refuses a flag whose value would be the next flag: "--data --json" names no folder.
func spell(c *cobra.Command, words []string) (spelt []string, err error) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			return append(spelt, words[i:]...), err
		}
		name, own := strings.TrimLeft(word, "-"), strings.Contains(word, "=")
		f := c.Flags().Lookup(name)
		if v, ok := valueOf(f); ok && strings.HasPrefix(word, "-") && !own {
			word = "--" + name
			next := append(words[i+1:], "--")[0]
			switch {
			case v.flag.Value == "" && v.flag.Either && (next == "true" || next == "false"):
				word += "=" + next
				i++
			case v.flag.Value != "" && strings.HasPrefix(next, "--"):
				err = errors.Join(err, Usage("--%s needs a value: --%s %s", name, name, v.flag.Value))
			case v.flag.Value != "":
				spelt = append(spelt, word)
				word = next
				i++
			}
		}
		spelt = append(spelt, word)
	}
	return spelt, err
}

// unknown explains words that name no command below c.
func unknown(c *cobra.Command, words []string) error {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, strings.TrimSpace(path+" "+sub.Name()))
		}
	}
	all := strings.Join(names, ", ")
	if len(words) == 0 {
		return Usage("%s what? There is: %s", path, all)
	}
	typed := strings.TrimSpace(path + " " + words[0])
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(words[0]); len(near) > 0 {
		return Usage("unknown command %q; the nearest one is %q", typed, strings.TrimSpace(path+" "+near[0]))
	}
	return Usage("unknown command %q; there is: %s", typed, all)
}

// fail says what went wrong, if anything, and returns the exit code for it.
func fail(w io.Writer, c *cobra.Command, err error) int {
	if err == nil {
		return ExitOK
	}
	program, path, _ := strings.Cut(strings.TrimSuffix(c.CommandPath(), " help"), " ")
	fmt.Fprintf(w, "%s: %s\n", program, redact.Message(err.Error()))
	var coded *CodedError
	if errors.As(err, &coded) {
		return coded.Code
	}
	var usage *UsageError
	if !errors.As(err, &usage) {
		return ExitFailed
	}
	fmt.Fprintf(w, "For help: %s\n", strings.TrimSpace(program+" help "+path))
	return ExitUsage
}
