package main

import (
	"context"
	"io"

	"github.com/keystile/keystile/cmd/keystile/command"
	"github.com/keystile/keystile/storage/driver"
)

func main() {
	command.Main(command.Storage{
		Name:   "sqlite",
		Open:   func(ctx context.Context, path string) (driver.Backend, error) { return Open(ctx, path) },
		Copy:   func(b driver.Backend, w io.Writer) (int64, error) { return b.(*Store).Copy(w) },
		Check:  Check,
		Beside: []string{"-wal", "-shm"},
	})
}
