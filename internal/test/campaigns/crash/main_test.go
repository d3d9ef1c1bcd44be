package main

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// scratch is a folder that lives as long as the tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "keystile-crash-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

var built = sync.OnceValues(func() (string, error) { return overlay.Build(context.Background(), scratch) })

// program returns the path of the program of this tree.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
