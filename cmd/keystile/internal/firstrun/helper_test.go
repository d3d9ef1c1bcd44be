package firstrun

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// fixture holds a store, the path of the record, and a way to die.
type fixture struct {
	dying *dying
	store *storage.Store
	users *users.StoreUsers
	path  string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	backend := &dying{Backend: memory.New(), left: -1}
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	users := users.New(store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))
	return &fixture{backend, store, users, filepath.Join(t.TempDir(), "first-run.json")}
}

func (h *fixture) config() Config {
	target := admin.Target{Store: h.store, Users: h.users}
	return Config{Target: target, Users: h.users, Node: "here", Path: h.path, BaseURL: base, Demo: true}
}

// run is Run, and returns what it made; nil if it made nothing.
func (h *fixture) run(t *testing.T) *Record {
	t.Helper()
	r, err := Run(t.Context(), h.config())
	if err != nil {
		t.Fatal(err)
	}
	return r.Made
}

// wantComplete makes sure that the record tells the truth, and that nothing is there twice.
func (h *fixture) wantComplete(t *testing.T, p *Record) {
	t.Helper()
	u, err := h.users.Authenticate(t.Context(), p.Admin.Username, p.Admin.Password)
	if err != nil || u.Role != storage.RoleAdmin {
		t.Errorf("the administrator cannot sign in: %+v, %v", u, err)
	}
	users, _, _ := h.store.Users(t.Context(), "", 10)
	apps, _, _ := h.store.Apps(t.Context(), "", "", 10)
	if len(users) != 1 || len(apps) != 1 {
		t.Fatalf("%d users and %d applications, want one of each", len(users), len(apps))
	}
	a := apps[0]
	if a.ID != p.App.ClientID || !a.AppKey().Equal(p.App.ClientSecret) || !a.FirstParty || a.Owner != "" ||
		a.Name != "Demo" || a.AllowsRedirect(p.App.RedirectURI) != nil {
		t.Errorf("the application is %+v, not what the record says", a)
	}
	if id, _ := h.store.Setting(t.Context(), demo.SettingClient); id != a.ID {
		t.Errorf("the demo's application is %q, want %q", id, a.ID)
	}
}

// dying fails at its nth Put and ever after, before the write or right behind it.
type dying struct {
	driver.Backend
	left   int // writes until then; below 0: never
	behind bool
	before func() // at each write
}

var errDead = errors.New("dead")

func (d *dying) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if d.before != nil {
		d.before()
	}
	switch {
	case d.left == 0:
		return 0, errDead
	case d.left == 1 && !d.behind:
		d.left = 0
		return 0, errDead
	case d.left == 1:
		d.left = 0
		return 0, errors.Join(errDead, second(d.Backend.Put(ctx, docs...)))
	case d.left > 0:
		d.left--
	}
	return d.Backend.Put(ctx, docs...)
}

func second(_ int64, err error) error { return err }

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var raw json.RawMessage = text
	out, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
