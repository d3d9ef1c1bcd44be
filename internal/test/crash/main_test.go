package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/keystile/keystile/internal/test/overlay"
)

// binary is the keystile of this tree, which TestMain builds.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "keystile-crash-")
	if err == nil {
		binary, err = overlay.Build(context.Background(), dir)
	}
	code := 2
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}
