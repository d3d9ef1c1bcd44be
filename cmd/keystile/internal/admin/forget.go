package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

func forgetLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage forget", Summary: "Let a data folder begin anew whose store is gone for good",
		Details: "A data folder belongs to one store. Where that is gone, or another one is in its place, the service\n" +
			"does not start: an empty service would refuse every token and forget every user. This says that the\n" +
			"store will not come back. What belonged to it, such as calls that were not counted yet, is put into a\n" +
			"folder of its own, forgotten-TIME, and the next start makes an empty store, or takes the one that is\n" +
			"there. The master key stays. Where the store is there nothing is done.",
		Examples: []string{"keystile storage forget --data /var/lib/keystile"},
		Flags:    append([]cli.Flag{{Name: yesFlag, Help: "do not ask"}}, common()...),
		Run:      func(ctx context.Context, call cli.Call) error { return forget(ctx, call, opener) },
	}
}

func forget(ctx context.Context, call cli.Call, opener Opener) error {
	conf, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	f, err := folder.Find(conf.Data)
	if err != nil {
		return err
	}
	socket, err := f.Socket()
	if err != nil {
		return err
	}
	in, err := post(ctx, socket, "/", nil)
	if err == nil {
		in.Body.Close()
		return fmt.Errorf("a server has the data folder %s open, so its store is there", f.Path())
	}
	if !errors.Is(err, errNobody) {
		return err
	}
	switch err := opener.Belongs(ctx, conf, f); {
	case err == nil:
		return fmt.Errorf("nothing is to be forgotten: the store of %s is there, or it never had one", f.Path())
	case !errors.Is(err, ErrGone):
		return fmt.Errorf("it cannot be found out whether the store is gone: %w", err)
	}
	asked := call
	asked.Words = []string{f.Path()}
	if err := (command{asks: "Is the store of %s gone for good?"}).confirm(asked); err != nil {
		return err
	}
	into, names, err := f.Forget(time.Now())
	if err != nil {
		return err
	}
	return say(call, answer{{"folder", f.Path()}, {"forgotten", names}, {"into", into}})
}
