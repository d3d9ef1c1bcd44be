package cli // import "github.com/keystile/keystile/cmd/keystile/internal/cli"

import "context"
import "io"

type Args struct {
	Flags map[string][]string "json:\"flags\""
	Words []string            "json:\"words\""
}

func (Args) Get(name string) string
func (Args) On(name string) bool

type Call struct {
	Args
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    []string
}

type Command struct {
	Name     string
	Words    []string
	Summary  string
	Details  string
	Examples []string
	Flags    []Flag
	Run      func(context.Context, Call) error
}

func (Command) Check(a Args) error

type Flag struct {
	Name   string
	Value  string
	Either bool
	Help   string
	Many   bool
	Need   bool
}
