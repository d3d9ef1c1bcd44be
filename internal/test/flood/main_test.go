package main

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// keystile is the keystile of this tree, which TestMain builds.
var keystile string

func TestMain(m *testing.M) {
	if attackAsOrdered(os.Args) {
		return
	}
	dir, err := os.MkdirTemp("", "keystile-flood-")
	if err == nil {
		keystile, err = build(context.Background(), dir)
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
