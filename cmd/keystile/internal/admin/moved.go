package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/transfer"
)

// movedCommand has a server mark the store that it serves from, which nobody else can open.
const movedCommand = "storage moved"

var movedCommands = []command{{name: movedCommand, summary: "Mark the store as moved", hidden: true,
	flags: []cli.Flag{{Name: "to", Value: "ADDRESS", Help: "where it has moved", Need: true}},
	do: func(ctx context.Context, target Target, args cli.Args) (output, error) {
		return answer{}, transfer.Leave(ctx, target.Backend, transfer.Move{To: args.Get("to"), At: time.Now()})
	}}}

// at is the address of a target, with the whole path of its folder.
func (o opened) at(l Location) string {
	if o.folder == nil {
		return l.Address
	}
	scheme, _, _ := strings.Cut(l.Address, ":")
	return scheme + ":" + o.folder.Path()
}

// leave marks a source as moved. A file that is named itself, such as a backup, is left as it is.
func (l Location) leave(ctx context.Context, o *opened, to string) error {
	switch {
	case l.File != "":
		return nil
	case o.live:
		socket, err := o.folder.Socket()
		if err != nil {
			return err
		}
		_, err = ask(ctx, socket, requestOf(movedCommand, cli.Args{Flags: map[string][]string{"to": {to}}}), 0)
		return err
	case l.Read != nil: // it was opened for reading only
		if err := o.Backend.Close(); err != nil {
			return err
		}
		o.Backend = memory.New() // something to close
		writable, err := l.Open(ctx, o.folder.Database())
		if err != nil {
			return err
		}
		o.Backend = writable
	}
	return transfer.Leave(ctx, o.Backend, transfer.Move{To: to, At: time.Now()})
}

func reopenLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage reopen", Words: []string{"ADDRESS"}, Summary: "Let a store be served again that has moved",
		Details: "After storage copy the source is marked as moved, and no server starts on it. This takes the mark\n" +
			"away: do it only where nobody serves from the copy, for what is written there does not come back. To\n" +
			"bring that back as well, copy it: keystile storage copy --back --from COPY --to ADDRESS. It says where\n" +
			"the store had moved. Addresses are " + strings.Join(opener.Addresses, ", ") + ".",
		Examples: []string{"keystile storage reopen bolt:/var/lib/keystile"},
		Flags: []cli.Flag{{Name: yesFlag, Help: "do not ask"},
			{Name: "json", Help: "print one line of JSON"}},
		Run: func(ctx context.Context, call cli.Call) error { return reopen(ctx, call, opener) },
	}
}

func reopen(ctx context.Context, call cli.Call, opener Opener) (err error) {
	l, err := opener.At(call.Words[0])
	if err != nil {
		return err
	}
	var b driver.Backend
	switch {
	case l.File != "":
		return fmt.Errorf("%s is a file: name the data folder that it is in", l.File)
	case l.Folder == "":
		b, err = l.Open(ctx, "")
	default:
		f, wrong := withDatabase(l.Folder)
		if wrong != nil {
			return wrong
		}
		b, err = l.Open(ctx, f.Database())
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	move, err := transfer.ReadMove(ctx, b)
	if err != nil {
		return err
	}
	if move == nil {
		return fmt.Errorf("%s has not moved: it may be served", l.Address)
	}
	asked := call
	asked.Words = []string{move.To}
	if err := (command{asks: "Does nobody serve from %s any more?"}).confirm(asked); err != nil {
		return err
	}
	if err := transfer.Reopen(ctx, b); err != nil {
		return err
	}
	return say(call, answer{{"storage", l.Address}, {"had_moved_to", move.To}, {"since", move.At.Format(time.RFC3339)}})
}
