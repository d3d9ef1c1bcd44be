package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage/bolt"
)

func compactLine() cli.Command {
	return cli.Command{
		Name: "storage compact", Summary: "Write the database anew without the room of what was removed, while the server is stopped",
		Details: "A database keeps the room of what is removed, and fills it again; it does not get smaller by\n" +
			"itself. The new file is written beside the old one, so there must be room for both, and compared\n" +
			"with it row by row before it takes its place in one step. If anything fails nothing is changed.\n" +
			"A process that is killed may leave keystile.db.compacting, which may be removed.",
		Examples: []string{"keystile storage compact --data /var/lib/keystile"},
		Flags:    common(),
		Run:      compact,
	}
}

func compact(_ context.Context, call cli.Call) error {
	conf, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	f, err := withDatabase(conf)
	if err != nil {
		return err
	}
	size, err := bolt.Compact(f.Database())
	if errors.Is(err, bolt.ErrInUse) {
		return fmt.Errorf("%s is in use: stop the server that has it open, then compact it", f.Database())
	}
	if err != nil {
		return err
	}
	return say(call, answer{{"database", f.Database()}, {"bytes_before", size.Before}, {"bytes", size.After}})
}
