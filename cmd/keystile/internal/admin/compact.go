package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
)

func compactLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage compact", Summary: "Make the database file smaller, while the server is stopped",
		Details: "It writes the database anew without the space of what was removed. A database keeps that space and\n" +
			"fills it again; it does not get smaller by itself. The new file is written beside the old one, so\n" +
			"there must be space for both, and compared\n" +
			"with it row by row before it takes its place in one step. If anything fails nothing is changed.\n" +
			"A process that is killed may leave keystile.db.compacting, which may be removed.",
		Examples: []string{"keystile storage compact --data /var/lib/keystile"},
		Flags:    common(),
		Run:      func(_ context.Context, call cli.Call) error { return compact(call, opener) },
	}
}

func compact(call cli.Call, opener Opener) error {
	conf, kind, err := opener.kind(call)
	if err != nil {
		return err
	}
	if kind.Compact == nil {
		return kind.lacks("storage compact")
	}
	f, err := withDatabase(conf.Data)
	if err != nil {
		return err
	}
	m := terminal.Watch(call.Stderr, "writing the database anew", "")
	before, after, err := kind.Compact(f.Database())
	m.End()
	if err != nil {
		return err
	}
	return say(call, answer{{"database", f.Database()}, {"bytes_before", before}, {"bytes", after}})
}
