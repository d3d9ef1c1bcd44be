package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

// Opener opens the rooms over a data folder that no server holds. The caller closes what
// it is given.
type Opener func(ctx context.Context, c *config.Config, f *folder.Folder) (Rooms, io.Closer, error)

// Commands returns the table for the command line.
func Commands(open Opener) []cli.Command {
	lines := make([]cli.Command, len(table))
	for i, c := range table {
		lines[i] = c.line(open)
	}
	return lines
}

// line makes a command of the table one of the command line.
func (c command) line(open Opener) cli.Command {
	flags := slices.Concat(c.flags, config.Flags("config", "data", "master_key_file"),
		[]cli.Flag{{Name: "json", Help: "print one line of JSON"}})
	return cli.Command{
		Name: c.name, Words: c.words, Summary: c.summary, Details: c.details, Examples: c.examples, Flags: flags,
		Run: func(ctx context.Context, call cli.Call) error { return c.run(ctx, call, open) },
	}
}

func (c command) run(ctx context.Context, call cli.Call, open Opener) error {
	conf, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	args, err := readSecret(call.Args, call.Stdin)
	if err != nil {
		return err
	}
	f, err := folder.Open(conf.Data)
	if err != nil {
		return err
	}
	if f.Made() {
		fmt.Fprintf(call.Stderr, "keystile: made a new data folder, %s\n", f.Path())
	}
	output, err := c.anywhere(ctx, conf, f, args, open)
	if err != nil {
		return err
	}
	_, err = io.WriteString(call.Stdout, output)
	return err
}

// anywhere runs the command in the server if one answers, else here. A server that is just
// starting holds the store before it answers, hence the second question.
func (c command) anywhere(ctx context.Context, conf *config.Config, f *folder.Folder, args cli.Args, open Opener) (string, error) {
	socket, err := f.Socket()
	if err != nil {
		return "", err
	}
	output, err := ask(ctx, socket, Request{c.name, args})
	if !errors.Is(err, errNobody) {
		return output, err
	}
	rooms, held, err := open(ctx, conf, f)
	if err != nil {
		if output, again := ask(ctx, socket, Request{c.name, args}); !errors.Is(again, errNobody) {
			return output, again
		}
		return "", err
	}
	output, err = execute(ctx, rooms, c.name, args)
	return output, errors.Join(err, held.Close())
}

// readSecret replaces a secret given as "-" by a line of the standard input.
func readSecret(args cli.Args, stdin io.Reader) (cli.Args, error) {
	if args.Get(secretFlag) != "-" {
		return args, nil
	}
	line, err := bufio.NewReader(stdin).ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if err != nil && !errors.Is(err, io.EOF) || line == "" {
		return args, cli.Usage("--%s - reads a line of the standard input, and there is none", secretFlag)
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[secretFlag] = []string{line}
	return args, nil
}
