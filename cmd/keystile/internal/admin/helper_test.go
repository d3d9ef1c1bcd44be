package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// office is a command line over a store in memory, with or without a server before it.
type office struct {
	t            *testing.T
	target       Target
	users        *users.StoreUsers
	data         string
	scratch      Target // for commands without a data folder
	opened       int
	held         error // what opening the store answers
	whileOpening func()
	unwritten    error // what the audit trail answers
	log          bytes.Buffer
	noting       sync.Mutex
	trail        []event.Event
	forgotten    []string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	money, err := billing.New(billing.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	passwords := passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	users := users.New(store, passwords)
	calls, err := usage.New(usage.Config{Store: store, Billing: money})
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Store: store, Users: users, SigningAlg: token.ES256, Signed: time.Hour, Granted: 24 * time.Hour,
		Billing: money, Usage: calls}
	o := &office{t: t, target: target, users: users, data: t.TempDir()}
	o.target.Ways = ways(access.SignUpClosed)
	o.target.Recorder.Trail = o
	forget := func(id string) { o.forgotten = append(o.forgotten, id) }
	o.target.ForgetApp, o.target.ForgetUser = forget, forget
	return o
}

// ways are those of a service with one way in.
func ways(signUp string) func() (access.Ways, string, error) {
	return func() (access.Ways, string, error) {
		return access.Ways{{Method: storage.LoginSelf, SignUp: signUp}}, "https://id.example.com/oauth/signin/signup", nil
	}
}

// NoteNow makes the office its own audit trail.
func (o *office) NoteNow(_ context.Context, e event.Event) error {
	o.noting.Lock()
	defer o.noting.Unlock()
	o.trail = append(o.trail, e)
	return o.unwritten
}

// mailbox is a Notifier.
type mailbox func(sub string, n event.Notice)

func (m mailbox) Notify(_ context.Context, sub string, n event.Notice) { m(sub, n) }

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
	server := &http.Server{Handler: Handler(o.target, slog.New(slog.NewTextHandler(&o.log, nil)))}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(l) }()
	o.t.Cleanup(func() { server.Close(); <-served })
}

func (o *office) open(context.Context, *config.Config, *folder.Folder) (Target, io.Closer, error) {
	o.opened++
	if o.whileOpening != nil {
		o.whileOpening()
	}
	if o.held != nil {
		return Target{}, nil, o.held
	}
	return o.target, io.NopCloser(nil), nil
}

// provider stands in for a running server's.
type provider struct {
	revoked  []driver.Revocation
	reloaded int
	fails    error
}

func (p *provider) Revoke(_ context.Context, rs ...driver.Revocation) error {
	p.revoked = append(p.revoked, rs...)
	return p.fails
}

func (p *provider) ReloadKeys(context.Context) error { p.reloaded++; return p.fails }

// rows runs a command with --json that prints a list.
func (o *office) rows(words ...string) (rows []map[string]any) {
	o.t.Helper()
	code, out, errs := o.run("", with(words, "--json")...)
	if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
		o.t.Fatalf("%q = %d %q %q", words, code, out, errs)
	}
	return rows
}

// user makes a user and returns their sub.
func (o *office) user(name string) string {
	o.t.Helper()
	return o.must("user", "create", "--username", name, "--password", "correct horse")["sub"].(string)
}

// app makes an application and returns its client_id and client_secret.
func (o *office) app() (id, secret string) {
	o.t.Helper()
	v := o.must("app", "create", "--name", "Shop", "--domain", "shop.example")
	return v["client_id"].(string), v["client_secret"].(string)
}

// stored is the application as the store has it.
func (o *office) stored(id string) storage.App {
	o.t.Helper()
	a, err := o.target.Store.App(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return a
}

// session signs a user in and returns the session's id.
func (o *office) session(sub string) string {
	o.t.Helper()
	now := time.Now()
	s := storage.Session{ID: handle.Hash(handle.NewCookie()), UserID: sub, AuthTime: now, ExpiresAt: now.Add(time.Hour),
		EndsAt: now.Add(time.Hour)}
	if _, err := o.target.Store.SaveSession(o.t.Context(), s); err != nil {
		o.t.Fatal(err)
	}
	return s.ID
}

// revocations are those in the store.
func (o *office) revocations() []driver.Revocation {
	o.t.Helper()
	rs, err := o.target.Store.Revocations(o.t.Context(), 0, 10)
	if err != nil {
		o.t.Fatal(err)
	}
	return rs
}

// run types a command; a password of - is read from stdin.
func (o *office) run(stdin string, words ...string) (code int, stdout, stderr string) {
	o.t.Helper()
	var out, errs bytes.Buffer
	table := cli.Table{Program: "keystile",
		Commands: Commands(Opener{Open: o.open, Scratch: func(context.Context, *config.Config) (Target,
			error) {
			return o.scratch, nil
		}, Kind: func(*config.Config) (Kind, error) {
			return Kind{Storage: "memory"},
				nil
		}})}
	words = with(words, "--data", o.data)
	code = table.Main(o.t.Context(), words, cli.Call{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

// with adds flags to a command's words, before a "--" that ends them.
func with(words []string, flags ...string) []string {
	i := slices.Index(words, "--")
	if i < 0 {
		i = len(words)
	}
	return slices.Insert(slices.Clone(words), i, flags...)
}

// must runs a command with --json that has to succeed.
func (o *office) must(words ...string) map[string]any {
	o.t.Helper()
	code, out, errs := o.run("", with(words, "--json")...)
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
