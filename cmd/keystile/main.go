package main

import (
	"context"
	"io"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// run is the program, with everything it touches handed over. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return commands().Main(ctx, args, cli.Call{Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: env})
}
