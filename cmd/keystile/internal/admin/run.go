package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/admin"
)

// Opener opens the store of a data folder that no server holds, for commands, and says what its
// storage can do beside. The caller of each func closes what it is given.
type Opener struct {
	// Open opens the folder's database.
	Open func(ctx context.Context, c *config.Config, f *folder.Folder) (Target, io.Closer, error)
	// Read is Open for commands that only read: nothing there has to be writable. nil: Open.
	Read func(ctx context.Context, c *config.Config, f *folder.Folder) (Target, io.Closer, error)
	// Scratch returns a target over a store that is empty and kept nowhere, for commands that need none where
	// there is no data folder. nil: they need one.
	Scratch func(ctx context.Context, c *config.Config) (Target, error)
	// Try opens another database with the folder's master key; it makes no key.
	Try func(ctx context.Context, c *config.Config, f *folder.Folder, path string) (Target, io.Closer, error)

	// Kind says what the storage of a configuration can do.
	Kind func(c *config.Config) (Kind, error)

	// Check looks at all that a service of this configuration relies on. nodes is how many there are to
	// be, 0 for what can be found out; it returns the number it went by.
	Check func(ctx context.Context, c *config.Config, nodes int) (int, []Finding, error)

	// Belongs reports whether the store of a configuration is there and is the one that the data folder belongs
	// to; ErrGone if it is not. nil: nobody can tell, and there is no storage forget.
	Belongs func(ctx context.Context, c *config.Config, f *folder.Folder) error

	At        func(address string) (Location, error) // of storage copy; its error is one of usage
	Addresses []string                               // the forms of addresses that At takes, for help
}

// ErrGone is wrapped by errors which say that the store is not there that a data folder belongs to, or that another
// one is in its place.
var ErrGone = errors.New("the store is gone")

// Kind says what a storage can do beside being opened. A command says so where the storage lacks what it needs.
type Kind struct {
	// Elsewhere says that its databases have addresses, and no place in a data folder.
	Elsewhere bool

	Storage string // what it is called
	// Target.Copy copies the database, so there are backup and restore
	Copies bool
	// reads a database file and counts what is in it; nil: it cannot be checked
	Check   func(path string) (map[string]int, error)
	Compact func(path string) (before, after int64, err error) // nil: there is no compact command
	Beside  []string                                           // endings of files that belong to the database
	// what does the work of backup, restore and compact instead
	Instead    string
	Migrations *Migrations // of its tables; nil: it raises its database by itself
}

// lacks returns the error of a command that the storage cannot do.
func (k Kind) lacks(command string) error {
	if k.Instead != "" {
		return fmt.Errorf("%s: %s", command, k.Instead)
	}
	return fmt.Errorf("%s: the storage %q leaves this to the tools that come with it", command, k.Storage)
}

// kind is Kind for a call.
func (h Opener) kind(call cli.Call) (*config.Config, Kind, error) {
	c, err := config.Load(call.Args, call.Env)
	if err != nil {
		return nil, Kind{}, err
	}
	k, err := h.Kind(c)
	return c, k, err
}

// reading returns the opener for commands that only read.
func (h Opener) reading() Opener {
	if h.Read != nil {
		h.Open = h.Read
	}
	return h
}

// Commands returns the table for the command line.
func Commands(opener Opener) []cli.Command {
	var lines []cli.Command
	for _, c := range table {
		if !c.hidden {
			lines = append(lines, c.line(opener))
		}
	}
	lines = slices.Concat(lines, auditLines(opener), searchLines(opener))
	return append(lines, reportLine(opener), backupLine(opener), restoreLine(opener), compactLine(opener),
		copyLine(opener), migrateLine(opener), checkLine(opener), forgetLine(opener),
		reopenLine(opener), importLine(opener))
}

// find finds the data folder. A command that has no folder and needs none, because the store is at an address and the
// master key is given, is lent one that done removes.
func (h Opener) find(conf *config.Config, kind Kind) (f *folder.Folder, done func(), err error) {
	done = func() {}
	f, err = folder.Find(conf.Data)
	given := len(conf.MasterKeys) > 0 || conf.MasterKeyFile != ""
	if !errors.Is(err, fs.ErrNotExist) || !kind.Elsewhere || !given || conf.Asked("data") {
		return f, done, err
	}
	path, err := os.MkdirTemp("", "keystile-")
	if err != nil {
		return nil, done, err
	}
	done = func() { os.RemoveAll(path) }
	if f, err = folder.Open(path); err != nil {
		done()
	}
	return f, done, err
}

// common are the flags of every command here.
func common() []cli.Flag {
	return append(config.Flags("config", "data", "storage_url", "master_key_file"),
		cli.Flag{Name: "json", Help: "print one line of JSON"})
}

// line makes a command of the table one of the command line.
func (c command) line(opener Opener) cli.Command {
	return cli.Command{
		Name: c.name, Words: c.words, Summary: c.summary, Details: c.details, Examples: c.examples,
		Flags: slices.Concat(c.flags, common()),
		Run:   func(ctx context.Context, call cli.Call) error { return c.run(ctx, call, opener) },
	}
}

func (c command) run(ctx context.Context, call cli.Call, opener Opener) error {
	conf, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	tell := &progress{}
	if err := onceStdin(call.Args); err != nil {
		return err
	}
	typed := call
	switch {
	case c.reads != nil:
		call.Args, err = c.reads(ctx, call)
	case c.brings:
		call.Args, tell, err = readDocument(call)
	}
	if err != nil {
		return err
	}
	for _, read := range []func(cli.Call) (cli.Args, error){readSecret, readHeaderFiles, readKeyFile, readClaims} {
		if call.Args, err = read(call); err != nil {
			return err
		}
	}
	kind, err := opener.Kind(conf)
	if err != nil {
		return err
	}
	var said string
	here := func(target Target) (err error) {
		tell.stage("parsing")
		said, err = execute(ctx, target.by(admin.CommandLine()), c.name, call.Args)
		return err
	}
	there := func(socket string) (err error) {
		said, err = c.ask(ctx, socket, call.Args, tell)
		return err
	}
	if wait := call.Get(waitFlag); wait != "" {
		err = awaitServer(ctx, conf.Data, wait, there)
	} else {
		err = c.anywhere(ctx, call, opener, conf, kind, there, here)
	}
	if err == nil {
		tell.stage("done")
	}
	if c.shows != nil && said != "" {
		var wrong error
		said, wrong = c.shows(typed, said)
		err = errors.Join(err, wrong)
	}
	_, failed := io.WriteString(call.Stdout, said) // what was done is said, whatever happens behind it
	return errors.Join(err, failed)
}

// anywhere does a command by the server if one answers, else here.
func (c command) anywhere(ctx context.Context, call cli.Call, opener Opener, conf *config.Config, kind Kind,
	there func(socket string) error, here func(Target) error) error {
	f, done, err := opener.find(conf, kind)
	switch {
	case c.scratch && opener.Scratch != nil && errors.Is(err, fs.ErrNotExist):
		target, err := opener.Scratch(ctx, conf)
		if err != nil {
			return err
		}
		return here(target)
	case err != nil:
		return err
	}
	defer done()
	if err := c.confirm(call); err != nil {
		return err
	}
	var m *terminal.Meter
	if c.wait > 0 { // it may take long
		m = terminal.Watch(call.Stderr, c.name, "")
	}
	defer m.End()
	return opener.reach(ctx, conf, f, there, here)
}

// reach has the server do something if one answers, else does it here. A server that is
// just starting holds the store before it answers, hence the second question.
func (h Opener) reach(ctx context.Context, conf *config.Config, f *folder.Folder, ask func(socket string) error,
	here func(Target) error) error {
	socket, err := f.Socket()
	if err != nil {
		return err
	}
	if err := ask(socket); !errors.Is(err, errNobody) {
		return err
	}
	target, held, err := h.Open(ctx, conf, f)
	if err != nil {
		if again := ask(socket); !errors.Is(again, errNobody) {
			return again
		}
		return err
	}
	return errors.Join(here(target), held.Close())
}
