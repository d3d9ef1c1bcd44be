package command

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/oauth/signin/passwords"
)

// Main runs the command line that the process was called with, on a storage, and ends the
// process: with 0 when all is done, 1 when it failed, 2 when it was called wrongly.
func Main(s Storage) {
	os.Exit(program{storage: s}.run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// program is the command line over one kind of storage.
type program struct {
	storage Storage
	log     *slog.Logger // of what the storage has to say; nil: slog.Default()

	passwords *passwords.Hasher // nil: of the zero passwords.Cost, as Main has it; tests that hash many have a cheap one
}

// run is Main with everything it touches handed over. It returns the exit code.
func (p program) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	if p.storage.Open == nil {
		panic("command: a Storage needs Open")
	}
	return p.commands().Main(ctx, args, cli.Call{Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: env})
}
