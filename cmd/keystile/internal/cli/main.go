package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

// Usage makes a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main runs the command that words name and returns the exit code.
func (t Table) Main(ctx context.Context, words []string, call Call) int {
	asked, words := helpAsked(words)
	if asked && len(words) == 0 {
		t.help(call.Stdout)
		return ExitOK
	}
	switch {
	case len(words) > 0 && words[0] == "--version":
		words[0] = "version" // where everybody looks for it
	case len(words) == 0 || strings.HasPrefix(words[0], "-"):
		words = slices.Insert(words, 0, t.Default)
	}
	c, rest, ok := t.find(words)
	switch {
	case !ok && asked && len(t.group(words[0])) > 0:
		t.list(call.Stdout, t.group(words[0]))
		return ExitOK
	case !ok:
		return t.fail(call.Stderr, Command{}, t.unknown(words))
	case asked:
		t.helpFor(call.Stdout, c)
		return ExitOK
	}
	args, err := c.parse(rest)
	if err == nil {
		call.Args = args
		err = c.Run(ctx, call)
	}
	return t.fail(call.Stderr, c, err)
}

// helpAsked takes "help" in front, and --help and -h anywhere, out of the words.
func helpAsked(words []string) (bool, []string) {
	asked := len(words) > 0 && words[0] == "help"
	if asked {
		words = words[1:]
	}
	end := len(words)
	if i := slices.Index(words, "--"); i >= 0 {
		end = i
	}
	flags := slices.DeleteFunc(slices.Clone(words[:end]), func(w string) bool { return w == "--help" || w == "-h" })
	asked = asked || len(flags) < end
	return asked, append(flags, words[end:]...)
}

// unknown explains words that name no command.
func (t Table) unknown(words []string) error {
	if group := t.group(words[0]); len(group) > 0 {
		names := make([]string, len(group))
		for i, c := range group {
			names[i] = c.Name
		}
		return Usage("%s what? There is: %s", words[0], strings.Join(names, ", "))
	}
	typed := strings.Join(words[:min(2, len(words))], " ")
	near := Nearest(typed, t.names())
	if one := Nearest(words[0], t.names()); distance(words[0], one) < distance(typed, near) {
		typed, near = words[0], one
	}
	return Usage("unknown command %q; the nearest one is %q", typed, near)
}

// fail says what went wrong, if anything, and returns the exit code for it.
func (t Table) fail(w io.Writer, c Command, err error) int {
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(w, "%s: %v\n", t.Program, err)
	var usage *UsageError
	if !errors.As(err, &usage) {
		return ExitFailed
	}
	fmt.Fprintf(w, "For help: %s\n", strings.TrimSpace(t.Program+" help "+c.Name))
	return ExitUsage
}
