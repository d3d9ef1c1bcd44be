package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/storage/transfer"
)

func copyLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage copy", Summary: "Copy the whole store to another database, exactly",
		Details: "Addresses are " + strings.Join(opener.Addresses, ", ") + ". A backup file may be copied from.\n" +
			"Everything is copied as it is: tokens with what was spent, revocations, usage, the audit trail,\n" +
			"documents and the numbers that were given, so users who were signed in stay so. Nothing is opened\n" +
			"that is sealed: the target needs the same master key.\n" +
			"\n" +
			"It may be stopped and run again: what is there is not written again. At the end both sides are\n" +
			"read once more and compared; until that has gone well no server starts on the target.\n" +
			"\n" +
			"While a server has the source's data folder open, one moment of it is copied and the target stays\n" +
			"unfinished. Then stop the server and run the same command again, which is short. --final takes\n" +
			"that moment for the end: what the server writes from then on is not in the target. For a source\n" +
			"that is not in a data folder the command cannot tell whether a server runs: give --live if one does.\n" +
			"\n" +
			"At the end the source is marked as moved, before the target may be served: no server starts on it and\n" +
			"no command writes to it any more, and both name the target. Nodes that run on it notice within a\n" +
			"minute. It can still be read, copied and backed up. keystile storage reopen takes the mark away, and\n" +
			"--back copies back over a store that has moved. A backup file that is copied from is not marked.\n" +
			"\n" +
			"A process that is killed may leave .keystile.db-NUMBER in the source's folder, which may be removed.\n" +
			"\n" +
			"A password in an address can be seen in the list of processes: leave it to PGPASSWORD or ~/.pgpass.",
		Examples: []string{
			"keystile storage copy --from bolt:/var/lib/keystile --to postgres://keystile@db.example.com/keystile",
			"keystile storage copy --from postgres://keystile@db.example.com/keystile --to bolt:/srv/keystile --dry-run",
		},
		Flags: []cli.Flag{
			{Name: "from", Value: "ADDRESS", Help: "the database to copy from", Need: true},
			{Name: "to", Value: "ADDRESS", Help: "the database to copy to: an empty one, or one that such a copy was begun to",
				Need: true},
			{Name: "dry-run", Help: "compare, say what would be written, and write nothing"},
			{Name: "live", Help: "servers go on writing to the source: leave the target unfinished"},
			{Name: "final", Help: "finish the target although a server holds the source"},
			{Name: "back", Help: "write over the target, which has moved to where the source is"},
			{Name: "json", Help: "print one line of JSON"},
		},
		Run: func(ctx context.Context, call cli.Call) error { return copyStore(ctx, call, opener) },
	}
}

func copyStore(ctx context.Context, call cli.Call, opener Opener) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // so that no copy of the source is left
	defer stop()
	if call.On("live") && call.On("final") {
		return cli.Usage("--live and --final exclude each other")
	}
	from, wrongFrom := opener.At(call.Get("from"))
	to, wrongTo := opener.At(call.Get("to"))
	if wrongFrom != nil || wrongTo != nil {
		return errors.Join(wrongFrom, wrongTo)
	}
	if from.same(to) {
		return cli.Usage("--from and --to are the same data folder")
	}
	m := terminal.Watch(call.Stderr, "taking what the running server has", "bytes")
	source, err := from.source(ctx, m)
	m.End()
	if err != nil {
		return fmt.Errorf("the source, %s: %w", from.Address, err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	dry := call.On("dry-run")
	target, err := to.target(ctx, dry)
	if err != nil {
		return fmt.Errorf("the target, %s: %w", to.Address, err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	bar := newCopyBar(call, dry)
	live := call.On("live") || source.live && !call.On("final")
	report, failed := transfer.Copy(ctx, source.Backend, target.Backend, transfer.Options{
		Source: from.Address, Live: live, DryRun: dry, Progress: bar.show, Back: call.On("back"),
		Leave: func(ctx context.Context) error { return from.leave(ctx, &source, target.at(to)) },
	})
	bar.end()
	if failed != nil {
		return aboutCopy(failed, from, to)
	}
	if target.folder != nil && !dry {
		if err := target.folder.Disown(); err != nil {
			return err
		}
	}
	return tellCopy(call, copied{report, from, to, source, target, live, dry, call.On("live")})
}

// aboutCopy says what an end of a copy means to the user who called the command.
func aboutCopy(err error, from, to Location) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("it was stopped; the target %s is not finished: run the same command again, which goes on",
			to.Address)
	case errors.Is(err, transfer.ErrNotEmpty):
		return fmt.Errorf("%s: %w", to.Address, err)
	case errors.Is(err, transfer.ErrUnable):
		return fmt.Errorf("from %s to %s: %w", from.Address, to.Address, err)
	case errors.Is(err, transfer.ErrUnfinished):
		return fmt.Errorf("%s cannot be copied from: %w", from.Address, err)
	}
	return fmt.Errorf("%w (%s is not finished, and no server starts on it; the same command goes on where it was)", err,
		to.Address)
}

// copied is a copy that went well.
type copied struct {
	transfer.Report
	from, to       Location
	source, target opened
	live, dry      bool
	asked          bool // --live was given
}

func tellCopy(call cli.Call, c copied) error {
	rows := list{}
	for _, t := range c.Tables {
		row := answer{{"table", string(t.Table)}, {"written", t.Written}, {"removed", t.Removed}}
		if !c.dry {
			row = append(row, field{"source_rows", t.Source.Rows}, field{"target_rows", t.Target.Rows},
				field{"same", t.Source == t.Target}, field{"sha256", t.Target.SHA256})
		}
		rows.rows = append(rows.rows, row)
	}
	about := answer{
		{"from", c.from.Address}, {"to", c.to.Address}, {"dry_run", c.dry}, {"live", c.live},
		{"verified", c.Verified}, {"finished", c.Finished}, {"next", c.next()},
	}
	if call.On("json") {
		return say(call, append(about, field{"tables", rows.rows}))
	}
	text, err := rows.text(false)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(call.Stdout, text); err != nil {
		return err
	}
	return say(call, about)
}

// next returns what is to be done now.
func (c copied) next() string {
	switch {
	case c.dry:
		return "nothing was written; run it again without --dry-run"
	case !c.Finished:
		again := ", then run the same command again"
		if c.asked {
			again += ", without --live"
		}
		return "stop the servers on " + c.from.Address + again +
			": it writes what has changed since, and finishes the target"
	case c.target.folder != nil:
		return "put the master key of the source into " + c.target.folder.Path() +
			" (master.key, mode 0600) and start the service there; the source is marked, and starts no more" + c.journal()
	}
	return "start every node with this storage and the master key of the source; the source is marked, and starts no " +
		"more" + c.journal()
}

// journal warns of calls that a killed server has left to be counted: they are in the source's
// folder, and not in its database.
func (c copied) journal() string {
	if c.source.folder == nil || !holdsBytes(c.source.folder.Journal()) {
		return ""
	}
	return ". Calls that were not counted yet are in " + c.source.folder.Journal() +
		": start the service once with that folder as its --data, on the target"
}

// holdsBytes reports whether a file in a folder is not empty.
func holdsBytes(path string) bool {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return true
		}
	}
	return false
}
