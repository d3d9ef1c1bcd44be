package tools_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

func accessStore(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func save(t *testing.T, store *storage.Store, c storage.Capability) storage.Capability {
	t.Helper()
	c, err := store.SaveCapability(t.Context(), c, []toolplan.Tool{tool("get")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func grant(t *testing.T, store *storage.Store, member string, rules ...access.Rule) {
	t.Helper()
	l, err := store.Access(t.Context(), member)
	if err == nil {
		l.Rules = rules
		_, err = store.SaveAccess(t.Context(), l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func rulesOf(t *testing.T, store *storage.Store, member string) []access.Rule {
	t.Helper()
	l, err := store.Access(t.Context(), member)
	if err != nil {
		t.Fatal(err)
	}
	return l.Rules
}

// Decision 54.
func TestAccessListOutlivesARegistrationAndEndsWithTheCapability(t *testing.T) {
	store := accessStore(t)
	shop := storage.Capability{Member: "shop", UpstreamURL: "https://shop.example", Owner: "u1"}
	c := save(t, store, shop)
	rules := []access.Rule{{Subject: "user:u2"}, {Subject: "tier:free", Deny: true, Tools: []string{"get"}},
		{Subject: "everyone", ReadOnly: true}}
	grant(t, store, "shop", rules...)
	c.Label = "anew"
	c = save(t, store, c)
	if got := rulesOf(t, store, "shop"); !reflect.DeepEqual(got, rules) {
		t.Errorf("after it was registered again: %v", got)
	}
	if err := store.DeleteCapability(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := rulesOf(t, store, "shop"); got != nil {
		t.Errorf("after it was removed: %v", got)
	}
	shop.Owner, shop.TakenFrom = "u9", "u1"
	save(t, store, shop)
	if got := rulesOf(t, store, "shop"); got != nil {
		t.Errorf("who took the name later has %v", got)
	}
}

// A list that is written while its capability goes stays behind; it must not be the next
// owner's.
func TestListThatWasLeftBehindIsNotInherited(t *testing.T) {
	backend := memory.New()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	save(t, store, storage.Capability{Member: "shop", Owner: "u1"})
	grant(t, store, "shop", access.Rule{Subject: "everyone"})
	for _, kind := range []string{"capability", "toolset"} {
		d, err := backend.Get(t.Context(), kind, "shop")
		if err == nil {
			_, err = backend.Put(t.Context(), driver.Doc{Kind: kind, ID: "shop", Version: d.Version, Deleted: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save(t, store, storage.Capability{Member: "shop", Owner: "u9"})
	if got := rulesOf(t, store, "shop"); got != nil {
		t.Errorf("the new owner inherits %v", got)
	}
}

func TestAccessIsForCapabilitiesThatAreThere(t *testing.T) {
	store := accessStore(t)
	l := access.List{Member: "shop", Rules: []access.Rule{{Subject: "everyone"}}}
	if _, err := store.SaveAccess(t.Context(), l); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of a capability that is not there: %v", err)
	}
	save(t, store, storage.Capability{Member: "shop"})
	first, err := store.SaveAccess(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveAccess(t.Context(), l); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("written over a list that was not read: %v", err)
	}
	first.Rules = nil
	if _, err := store.SaveAccess(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if page, _, err := store.AccessLists(t.Context(), "", 10); err != nil || len(page) != 0 {
		t.Errorf("a list without rules is kept: %v, %v", page, err)
	}
}

func TestEmptyRuleIsRefused(t *testing.T) {
	store := accessStore(t)
	save(t, store, storage.Capability{Member: "shop"})
	for _, subject := range []string{"everyone", "role:admin", "role:developer", "user:u1", "app:ks1",
		"app:https://agent.example/client.json", "tier:white_label"} {
		if s, err := access.ParseSubject(subject); err != nil || s.String() != subject {
			t.Errorf("%q is %v, %v", subject, s, err)
		}
	}
	for _, subject := range []string{"", "everybody", "role:", "role:king", "user:", "user:a b", "user:\u00a0", "app",
		"tier:gold", "User:u1", "group:X", "user:" + strings.Repeat("x", 600)} {
		l := access.List{Member: "shop", Rules: []access.Rule{{Subject: subject}}}
		if _, err := store.SaveAccess(t.Context(), l); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", subject, err)
		}
	}
	many := make([]access.Rule, access.MaxRules+1)
	for i := range many {
		many[i].Subject = "everyone"
	}
	for name, rules := range map[string][]access.Rule{
		"too many": many, "a tool that is none": {{Subject: "everyone", Tools: []string{"a b"}}},
		"both": {{Subject: "everyone", Tools: []string{"a"}, ReadOnly: true}},
	} {
		if _, err := store.SaveAccess(t.Context(), access.List{Member: "shop", Rules: rules}); !errors.Is(err,
			storage.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestBundleIsKeptUnderAName(t *testing.T) {
	store := accessStore(t)
	in := access.Bundle{Name: "support", Label: "Support", Tools: []string{"shop__get", "crm__*"}}
	made, err := store.SaveBundle(t.Context(), in)
	if err != nil || made.CreatedAt.IsZero() {
		t.Fatal(made, err)
	}
	if _, err := store.SaveBundle(t.Context(), in); !errors.Is(err, storage.ErrExists) {
		t.Errorf("made again: %v", err)
	}
	if got, err := store.Bundle(t.Context(), "support"); err != nil || !reflect.DeepEqual(got.Tools, in.Tools) {
		t.Errorf("read %v, %v", got, err)
	}
	if err := store.DeleteBundle(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Bundle(t.Context(), "support"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after it was deleted: %v", err)
	}
	for _, b := range []access.Bundle{
		{Name: "", Tools: in.Tools}, {Name: "a b", Tools: in.Tools}, {Name: "a:b", Tools: in.Tools},
		{Name: strings.Repeat("x", 49), Tools: in.Tools},
		{Name: "x"}, {Name: "x", Tools: []string{"shop"}}, {Name: "x", Tools: []string{"*"}},
		{Name: "x", Tools: []string{"__get"}}, {Name: "x", Tools: []string{"shop__"}},
		{Name: "x", Tools: []string{"shop__a*"}},
		{Name: "x", Tools: []string{"*__get"}}, {Name: "x", Tools: in.Tools, Label: strings.Repeat("x", 1001)},
	} {
		if _, err := store.SaveBundle(t.Context(), b); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", b, err)
		}
	}
}

// A capability that is registered under a name that has become free is in no bundle by that.
func TestBundleTakesInNothingRegisteredAfterIt(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := access.Bundle{Tools: []string{"shop__get"}, UpdatedAt: at}
	for made, want := range map[time.Time]bool{at: true, at.Add(-1): true, at.Add(1): false, {}: true} {
		if got := b.Knew(made); got != want {
			t.Errorf("made at %v: %t", made, got)
		}
	}
}

// meddling is a backend where somebody writes an access list between the look at it and the
// removal of its capability.
type meddling struct {
	driver.Backend
	before func()
}

func (m *meddling) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if do := m.before; do != nil && docs[0].Deleted {
		m.before = nil
		do()
	}
	return m.Backend.Put(ctx, docs...)
}

func TestListThatChangesWhileItsCapabilityGoesIsGoneToo(t *testing.T) {
	backend := &meddling{Backend: memory.New()}
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	c := save(t, store, storage.Capability{Member: "shop"})
	grant(t, store, "shop", access.Rule{Subject: "user:u1"})
	backend.before = func() { grant(t, store, "shop", access.Rule{Subject: "everyone"}) }
	if err := store.DeleteCapability(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := rulesOf(t, store, "shop"); got != nil {
		t.Errorf("what is left is %v", got)
	}
}
