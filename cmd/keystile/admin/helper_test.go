package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// office is a command line over a store in memory, with or without a server before it.
type office struct {
	t            *testing.T
	rooms        Rooms
	users        *signin.StoreUsers
	data         string
	opened       int
	held         error // what opening the store answers
	whileOpening func()
	log          bytes.Buffer
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	users := signin.NewUsers(store, signin.NewPasswords(signin.Cost{Memory: 64, Passes: 1}))
	return &office{t: t, rooms: Rooms{store, users}, users: users, data: filepath.Join(t.TempDir(), "data")}
}

// serve answers at the folder's socket until the test ends.
func (o *office) serve() {
	o.t.Helper()
	f, err := folder.Open(o.data)
	if err != nil {
		o.t.Fatal(err)
	}
	l, err := f.Listen(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	server := &http.Server{Handler: Handler(o.rooms, slog.New(slog.NewTextHandler(&o.log, nil)))}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(l) }()
	o.t.Cleanup(func() { server.Close(); <-served })
}

func (o *office) open(context.Context, *config.Config, *folder.Folder) (Rooms, io.Closer, error) {
	o.opened++
	if o.whileOpening != nil {
		o.whileOpening()
	}
	if o.held != nil {
		return Rooms{}, nil, o.held
	}
	return o.rooms, io.NopCloser(nil), nil
}

// run types a command; stdin is what a password of - is read from.
func (o *office) run(stdin string, words ...string) (code int, stdout, stderr string) {
	o.t.Helper()
	var out, errs bytes.Buffer
	table := cli.Table{Program: "keystile", Commands: Commands(o.open)}
	words = append(words, "--data", o.data)
	code = table.Main(o.t.Context(), words, cli.Call{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

// must runs a command with --json that has to succeed.
func (o *office) must(words ...string) map[string]any {
	o.t.Helper()
	code, out, errs := o.run("", append(words, "--json")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
		o.t.Fatalf("%q = %d %q %q", words, code, out, errs)
	}
	return v
}

func (o *office) wantFailure(want int, message string, words ...string) {
	o.t.Helper()
	code, out, errs := o.run("", words...)
	if code != want || !strings.Contains(errs, message) || out != "" {
		o.t.Errorf("%q = %d %q %q, want %d and %q", words, code, out, errs, want, message)
	}
}

var errLocked = errors.New("it is in use by another process")
