package admin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
)

// yesFlag is the switch of the commands that ask a person before they do what has no way back.
const yesFlag = "yes"

// attended reports whether a person types what a command reads and reads what it asks.
func attended(call cli.Call) bool { return terminal.Is(call.Stdin) && terminal.Is(call.Stderr) }

// confirm asks a person at a terminal whether to go on. Scripts are asked nothing.
func (c command) confirm(call cli.Call) error {
	if c.asks == "" || call.On(yesFlag) || !attended(call) {
		return nil
	}
	return terminal.Confirm(call.Stdin, call.Stderr, fmt.Sprintf(c.asks, strings.Join(call.Words, " ")))
}

// readSecret replaces a secret given as "-" by a line of the standard input. A person at a terminal
// is asked for it, for a new password twice, and it is not shown.
func readSecret(call cli.Call) (cli.Args, error) {
	args, flag := call.Args, secretFlag
	if args.Get(authFlag) != "" {
		flag = authFlag // no command has both
	}
	if args.Get(flag) != "-" {
		return args, nil
	}
	read := func(string) (string, error) { return bufio.NewReader(call.Stdin).ReadString('\n') }
	if attended(call) {
		read = func(prompt string) (string, error) {
			return terminal.ReadPassword(call.Stdin.(*os.File), call.Stderr, prompt)
		}
	}
	line, err := read(map[string]string{secretFlag: "Password: ", authFlag: "Secret: "}[flag])
	line = strings.TrimRight(line, "\r\n")
	if err != nil && !errors.Is(err, io.EOF) || line == "" {
		return args, cli.Usage("--%s - reads a line of the standard input, and there is none", flag)
	}
	if flag == secretFlag && attended(call) {
		if again, err := read("Again: "); err != nil || again != line {
			return args, errors.Join(errors.New("the two passwords differ"), err)
		}
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[flag] = []string{line}
	return args, nil
}
