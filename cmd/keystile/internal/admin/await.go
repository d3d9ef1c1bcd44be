package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

const (
	waitFlag = "wait"
	pause    = 250 * time.Millisecond // between two questions whether the server is there
)

// awaitServer asks the server of a data folder, and where none answers yet, asks again for as long as the flag says. It
// never opens the store: one that is empty is for the server to fill.
func awaitServer(ctx context.Context, data, flag string, ask func(socket string) error) error {
	limit, err := time.ParseDuration(flag)
	if err != nil || limit <= 0 {
		return cli.Usage("--%s: %q is no duration, such as 2m", waitFlag, flag)
	}
	end := time.After(limit)
	for {
		f, err := folder.Find(data)
		if err == nil {
			var socket string
			if socket, err = f.Socket(); err == nil {
				err = ask(socket)
			}
		}
		if !errors.Is(err, errNobody) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end:
			return fmt.Errorf("no server has answered at the data folder %s for %s, and nothing is done: start it, name the "+
				"right folder with --data, or leave out --%s", data, limit, waitFlag)
		case <-time.After(pause):
		}
	}
}
