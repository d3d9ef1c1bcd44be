package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/internal/test/serving"
)

func main() {
	write := flag.String("write", "", "write down the data of this release")
	before := flag.String("before", "", "swap this version, a tag, a commit or a binary, and the sources on one store")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *write, *before); err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, write, before string) (err error) {
	if (write == "") == (before == "") {
		return errors.New("say either --write or --before")
	}
	dir, err := os.MkdirTemp("", "keystile-upgrade-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := overlay.Build(ctx, dir)
	if err != nil {
		return err
	}
	if write != "" {
		return writeDown(ctx, binary, filepath.Join(dir, "data"), write)
	}
	older, err := olderBinary(ctx, dir, before)
	if err != nil {
		return err
	}
	return swapAll(ctx, dir, older, binary)
}

// writeDown makes the data of a release.
func writeDown(ctx context.Context, binary, data, version string) error {
	n := node{binary: binary, data: data}
	var f released.Facts
	err := n.serve(ctx, func(c *serving.Client) (err error) {
		f, err = n.fill(ctx, c, "")
		return err
	})
	if err == nil {
		err = n.deepen(ctx, &f)
	}
	if err == nil {
		err = n.run(ctx, nil, "storage", "compact")
	}
	if err == nil {
		err = n.run(ctx, nil, "backup", filepath.Join(data, backupName))
	}
	if err != nil {
		return err
	}
	f.Version = version
	sql, err := n.onPostgres(ctx, &f)
	if err != nil {
		return err
	}
	if err := released.Write(f, data, sql); err != nil {
		return err
	}
	return keepHosts(ctx, version)
}
