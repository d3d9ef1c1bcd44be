package declare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/service"
)

// breaking is a backend that fails one write.
type breaking struct {
	driver.Backend
	writes, fails int    // fails: the write that does, 0 for none
	written       func() // is called after each write
}

var errBroken = errors.New("the disk is full")

func (b *breaking) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if b.writes++; b.writes == b.fails {
		return 0, errBroken
	}
	version, err := b.Backend.Put(ctx, docs...)
	if b.written != nil {
		b.written()
	}
	return version, err
}

// trail is an audit trail that keeps nothing.
type trail struct{}

func (trail) NoteNow(context.Context, event.Event) error { return nil }

// nobody is signed in.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error) { return false, nil }

// place is a service to apply documents to.
type place struct {
	*testing.T
	*Applier
	backend *breaking
	store   *storage.Store
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, backend: &breaking{Backend: memory.New()}}
	var err error
	fatal := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p.store, err = storage.Open(t.Context(), p.backend, storage.NewMasterKey())
	fatal()
	root, err := p.store.CreateUser(t.Context(), storage.User{Username: "root", Role: storage.RoleAdmin},
		storage.Login{Method: storage.LoginSelf, Subject: "root"})
	fatal()
	money, err := billing.New(billing.Config{Store: p.store})
	fatal()
	reg, err := registry.New(t.Context(), registry.Config{BaseURL: "http://localhost", Store: p.store, Visitors: nobody{},
		NoDelivery: true})
	fatal()
	t.Cleanup(func() { reg.Close(context.WithoutCancel(t.Context())) })
	record := admin.Recorder{Trail: trail{}}
	revoke := func(ctx context.Context, rs ...driver.Revocation) error {
		for i := range rs {
			rs[i].Until = time.Now().Add(time.Hour)
		}
		return logout.By(p.store)(ctx, rs...)
	}
	p.Applier = New(Config{Store: p.store, By: admin.CommandLine(), Registry: reg, Owner: root,
		Connectors: []string{"partners", "staff"},
		Groups:     groupacts.New(groupacts.Config{Store: p.store, Recorder: record}),
		Apps:       appacts.New(appacts.Config{Store: p.store, Billing: money, Revoke: revoke, Recorder: record}),
		Tools:      toolacts.New(toolacts.Config{Store: p.store, Recorder: record}),
		User: func(ctx context.Context, name string) (storage.User, error) {
			if name == "root" {
				return root, nil
			}
			return p.store.User(ctx, name)
		}})
	return p
}

// documents draws some documents that go together, and in another order each time.
func documents(random *rand.Rand) string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	one := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	groups := 1 + random.IntN(3)
	group := func() string { return fmt.Sprint("g", random.IntN(groups)) }
	for i := range groups {
		add("kind: group\nname: g%d\nlabel: %q\nmanagers: %s", i, one("", "A", "B: c"), one("[]", "[root]"))
	}
	for _, name := range []string{"partners", "staff"}[:random.IntN(3)] {
		add("kind: connector\nname: %s\ngroups_claim: %s\ngroups_map: %s", name, one("groups", "teams"),
			one("{/ops: "+group()+"}", "{/ops: "+group()+", /dev: later}"))
	}
	for i := range 1 + random.IntN(3) {
		add("kind: application\nname: App %d\ndomains: [b%d.example.com, a.example.com]\npublic: %s\nowner: %s\n"+
			"allow: %s\ndeny: %s\ngroup_filter: %s\nfirst_party: %s\nclaims: %s%s", i, i, []string{"true", "false"}[i%2],
			one("root", "''", "group:"+group()), one("[everyone]", "[group:"+group()+"]", "[role:admin, 'user:root']"),
			one("[]", "[group:"+group()+"]"), one("[]", "['g*']"), one("true", "false"),
			one("[]", `[{claim: team, from: "groups:g*"}]`), []string{"", one("", "\nexchange_for: []",
				"\njwks_uri: https://app.example.com/keys\nkeep_secret: true", "\njwks: {}", "\njwks: {keys: [{kty: OKP, "+
					"crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo}]}\njwks_uri: ''")}[i%2])
		if random.IntN(2) == 0 {
			add("kind: tier\nname: App %d\ntier: %s", i, one("free", "white_label", "enterprise"))
		}
	}
	for i := range random.IntN(3) {
		add("kind: capability\nname: api%d\nupstream_url: https://up.example.com/%d\nlabel: %q\npublish: %s\n"+
			"auth_type: bearer\nauth_secret: %s\n%sopenapi: %q", i, i, one("", "L"), one("true", "false"), one("x", "y"),
			one("", "identity: none\n", "identity: headers\n", "identity: signed\nidentity_subject: openid\n",
				"identity: signed\nidentity_jti: off\n"), one(pets("getPet"), pets("showPet")))
		if random.IntN(2) == 0 {
			add("kind: access\nname: api%d\nrules: [{subject: 'group:%s'}, {subject: everyone, deny: true, read_only: %s}]", i,
				group(), one("true", "false"))
		}
		add("kind: bundle\nname: kit%d\ntools: ['api%d__*']\nrules: %s", i, i, one("[]", "[{subject: 'group:"+group()+"'}]"))
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, "\n---\n")
}

func pets(operation string) string {
	return `{"openapi":"3.0.0","info":{"title":"P","version":"1"},"paths":{"/p":{"get":{"operationId":"` + operation +
		`","responses":{"200":{"description":"ok"}}}}}}`
}

func (p *place) read(text string) []Document {
	p.Helper()
	docs, err := Read(p.Context(), "test.yaml", []byte(text))
	if err != nil {
		p.Fatalf("%v\n%s", err, text)
	}
	return docs
}

// run applies documents, and returns what was done, each action once.
func (p *place) run(docs []Document, o Options) (actions []string) {
	p.Helper()
	r, err := p.Apply(p.Context(), docs, o)
	if err != nil {
		p.Fatal(err)
	}
	for _, s := range r.Steps {
		actions = append(actions, s.Action)
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// state returns what a service would export, by name.
func (p *place) state() string {
	p.Helper()
	docs, err := p.Export(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	slices.SortFunc(docs, func(x, y Document) int { return strings.Compare(x.Kind+x.Name, y.Kind+y.Name) })
	text, err := json.Marshal(docs)
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

func TestWhatWasAppliedOrExportedChangesNothing(t *testing.T) {
	for seed := range 60 {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		p := newPlace(t)
		p.run(p.read(documents(random)), Options{})
		text := documents(random)
		docs := p.read(text)
		p.run(docs, Options{Prune: true})
		if did := p.run(docs, Options{Prune: true}); !slices.Equal(did, []string{None}) {
			t.Fatalf("seed %d: a second run does %q\n%s", seed, did, text)
		}
		before := p.state()
		exported, err := p.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if did := p.run(exported, Options{}); !slices.Equal(did, []string{None}) {
			t.Fatalf("seed %d: what was exported does %q\n%s", seed, did, before)
		}
		if after := p.state(); after != before {
			t.Fatalf("seed %d: %s became %s", seed, before, after)
		}
	}
}

// A run that breaks off at any write is repeated, and ends as if it had not.
func TestRunThatBreaksOffAnywhereEndsTheSameWhenRepeated(t *testing.T) {
	text := documents(rand.New(rand.NewPCG(3, 7)))
	whole := newPlace(t)
	began := whole.backend.writes
	whole.run(whole.read(text), Options{})
	writes, want := whole.backend.writes-began, whole.state()
	if writes < 20 {
		t.Fatalf("only %d writes are made", writes)
	}
	broke := 0
	for n := range writes {
		synctest.Test(t, func(t *testing.T) {
			p := newPlace(t)
			docs := p.read(text)
			p.backend.fails = p.backend.writes + n + 1
			if _, err := p.Apply(t.Context(), docs, Options{}); err != nil {
				broke++
			}
			time.Sleep(service.ApplyTime) // that it has ended may be what was not written
			p.run(docs, Options{})
			if got := p.state(); got != want {
				t.Fatalf("broken at write %d: %s, want %s", n+1, got, want)
			}
			if did := p.run(docs, Options{}); !slices.Equal(did, []string{None}) {
				t.Fatalf("broken at write %d: a third run does %q", n+1, did)
			}
		})
	}
	if broke < writes/2 {
		t.Errorf("%d of %d broken writes have broken a run", broke, writes)
	}
}

func TestPruneLeavesWhatNoDocumentHasMade(t *testing.T) {
	p := newPlace(t)
	if _, err := p.c.Groups.Create(t.Context(), p.c.By, groups.Group{Name: "own"}); err != nil {
		t.Fatal(err)
	}
	p.run(p.read("kind: group\nname: own\nlabel: L\n---\nkind: group\nname: made\n"), Options{})
	p.run(p.read("kind: group\nname: other\n"), Options{Prune: true})
	for name, there := range map[string]bool{"own": true, "made": false, "other": true} {
		if _, err := p.store.Group(t.Context(), name); (err == nil) != there {
			t.Errorf("%s: %v, want there %t", name, err, there)
		}
	}
}

// A bundle that was refused was not made by its document, so one that somebody makes under the name stays.
func TestPruneLeavesWhatWasRefusedAndIsMadeByHand(t *testing.T) {
	p := newPlace(t)
	docs := p.read("kind: bundle\nname: kit\ntools: [none__get]\n")
	if _, err := p.Apply(t.Context(), docs, Options{}); err == nil {
		t.Fatal("a bundle of tools that are not there is made")
	}
	if all, _, err := p.store.AllDeclared(t.Context(), "", 10); err != nil || len(all) != 0 {
		t.Errorf("it is written down that a document has made %+v, %v", all, err)
	}
}
