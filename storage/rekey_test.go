package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// vault is a backend with a secret in a document of every kind that has one.
type vault struct {
	*testing.T
	backend storage.Backend
	secrets map[string]string // what is kept where
}

func newVault(t *testing.T, keys ...storage.MasterKey) *vault {
	t.Helper()
	v := &vault{t, memory.New(), map[string]string{}}
	t.Cleanup(func() { v.backend.Close() })
	store := v.open(v.backend, keys...)
	for i := range 3 {
		app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"a.example"}, Owner: fmt.Sprint("u", i)})
		if err != nil {
			t.Fatal(err)
		}
		v.secrets["app "+app.ID] = app.AppKey().Reveal()
	}
	member := storage.Capability{Member: "shop", Kind: storage.CapabilityREST, UpstreamURL: "https://shop.example", AuthType: "bearer",
		AuthSecret: storage.NewSecret("the upstream's key"), WebhookURL: "https://shop.example/hook", WebhookSecret: storage.NewSecret("the webhook's key"), Owner: "u1"}
	if _, err := store.SaveCapability(t.Context(), member, nil); err != nil {
		t.Fatal(err)
	}
	v.secrets["auth shop"], v.secrets["webhook shop"] = "the upstream's key", "the webhook's key"
	key := storage.SigningKey{ID: "kid", Alg: "ES256", State: storage.KeyActive, Private: storage.NewSecret("PKCS #8"), CreatedAt: time.Now()}
	if err := store.FirstKeys(t.Context(), "ES256", key); err != nil {
		t.Fatal(err)
	}
	v.secrets["key kid"] = "PKCS #8"
	return v
}

func (v *vault) open(backend storage.Backend, keys ...storage.MasterKey) *storage.Store {
	v.Helper()
	store, err := storage.Open(v.Context(), backend, keys...)
	if err != nil {
		v.Fatal(err)
	}
	return store
}

// read returns every secret of the vault, as a start with these keys reads them.
func (v *vault) read(keys ...storage.MasterKey) map[string]string {
	v.Helper()
	store, read := v.open(v.backend, keys...), map[string]string{}
	apps, _, err := store.Apps(v.Context(), "", "", 10)
	if err != nil {
		v.Fatal(err)
	}
	for _, a := range apps {
		read["app "+a.ID] = a.AppKey().Reveal()
	}
	c, err := store.Capability(v.Context(), "shop")
	if err != nil {
		v.Fatal(err)
	}
	read["auth shop"], read["webhook shop"] = c.AuthSecret.Reveal(), c.WebhookSecret.Reveal()
	signing, err := store.SigningKeys(v.Context())
	if err != nil || len(signing) != 1 {
		v.Fatal(signing, err)
	}
	read["key kid"] = signing[0].Private.Reveal()
	return read
}

func (v *vault) wantWhole(keys ...storage.MasterKey) {
	v.Helper()
	if got := v.read(keys...); !maps.Equal(got, v.secrets) {
		v.Errorf("the store holds %d secrets, want the %d there were, each as it was", len(got), len(v.secrets))
	}
}

// rekey does all of a change but the part with the key file.
func rekey(ctx context.Context, store *storage.Store, keys ...storage.MasterKey) (int, error) {
	if err := store.BeginRekey(ctx, keys...); err != nil {
		return 0, err
	}
	n, err := store.Reseal(ctx)
	if err != nil {
		return n, err
	}
	return n, store.EndRekey(ctx)
}

func TestAfterARekeyTheNewKeyAloneOpensEverything(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	store := v.open(v.backend, old)
	if n, err := rekey(t.Context(), store, fresh, old); err != nil || n != 5 {
		t.Fatalf("resealed %d documents, %v; want 5", n, err)
	}
	v.wantWhole(fresh)
	if id, err := store.SealedWith(t.Context()); err != nil || id != fresh.ID() {
		t.Errorf("SealedWith() = %s, %v; want %s", id, err, fresh.ID())
	}
	if _, err := storage.Open(t.Context(), v.backend, old); err == nil {
		t.Error("the old key still opens the store")
	}
	if n, err := rekey(t.Context(), store, fresh); n != 0 || err != nil {
		t.Errorf("a second time: %d documents, %v", n, err)
	}
}

func TestWithTheOldKeyBesideItTheNewOneReadsWhatIsThereAndWrites(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	v.wantWhole(fresh, old)
	app, err := v.open(v.backend, fresh, old).SaveApp(t.Context(), storage.App{Name: "B", Domains: []string{"b.example"}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := v.backend.Get(t.Context(), "app", app.ID)
	if err != nil || sealedBy(t, doc) != fresh.ID() {
		t.Errorf("a new document is sealed with %s, %v; want the first key, %s", sealedBy(t, doc), err, fresh.ID())
	}
	// From here on a start without either of them must not go on.
	for _, alone := range []storage.MasterKey{old, fresh} {
		if _, err := storage.Open(t.Context(), v.backend, alone); err == nil {
			t.Errorf("amid the change key %s alone opens the store", alone.ID())
		}
	}
}

func TestAWrongMasterKeyIsToldWhichOneTheStoreWants(t *testing.T) {
	right, wrong := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, right)
	_, err := storage.Open(t.Context(), v.backend, wrong)
	want := "sealed with key " + right.ID() + ", this is key " + wrong.ID()
	if !errors.Is(err, storage.ErrMasterKey) || !strings.Contains(err.Error(), want) {
		t.Errorf("Open() = %v, want %q", err, want)
	}
	for _, key := range []storage.MasterKey{right, wrong} {
		if err != nil && strings.Contains(err.Error(), key.Text()) {
			t.Error("the message shows a key")
		}
		if len(key.ID()) != 16 || strings.Contains(key.Text(), key.ID()) {
			t.Errorf("the id is %q", key.ID())
		}
	}
}

// Whatever write a rekey dies at, before it or right behind it: what the key file holds
// by then opens everything, and doing it again ends it.
func TestARekeyThatIsKilledAnywhereLosesNothingAndIsTakenUp(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
			v := newVault(t, old)
			dying := &dyingBackend{Backend: v.backend, behind: behind, left: -1}
			store := v.open(dying, old)
			dying.left = n
			_, err := rekey(t.Context(), store, fresh, old)
			if err == nil {
				if n < 5 {
					t.Fatalf("a rekey has only %d writes: the test looks at the wrong thing", n-1)
				}
				break
			}
			v.wantWhole(fresh, old)
			if _, err := rekey(t.Context(), v.open(v.backend, fresh, old), fresh, old); err != nil {
				t.Fatalf("dead at write %d, and then: %v", n, err)
			}
			v.wantWhole(fresh)
		}
	}
}

// dyingBackend fails at its nth Put and ever after, before the write or right behind it.
type dyingBackend struct {
	storage.Backend
	left   int // below 0: never
	behind bool
	before func() // at each Put
}

var errDead = errors.New("dead")

func (d *dyingBackend) Put(ctx context.Context, docs ...storage.Doc) (version int64, err error) {
	if d.before != nil {
		d.before()
	}
	switch {
	case d.left == 0:
		return 0, errDead
	case d.left == 1:
		d.left = 0
		if d.behind {
			_, err = d.Backend.Put(ctx, docs...)
		}
		return 0, errors.Join(errDead, err)
	case d.left > 0:
		d.left--
	}
	return d.Backend.Put(ctx, docs...)
}

// Somebody who sealed with the old key, and whose write ends when the new one is in place
// and every document was looked at, must not bring the old one back.
func TestAWriteThatIsUnderWayWhenTheKeyChangesIsWaitedFor(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	slow := &slowBackend{Backend: v.backend, stands: make(chan struct{}), wait: make(chan struct{}), marked: make(chan struct{})}
	store := v.open(slow, old)
	ends, done := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := store.SaveApp(t.Context(), storage.App{Name: "Late", ID: "late", Domains: []string{"late.example"}})
		ends <- err
	}()
	<-slow.stands // it is sealed with the old key
	go func() {
		_, err := rekey(t.Context(), store, fresh, old)
		done <- err
	}()
	<-slow.marked
	for range 1000 { // time enough to go through a store in memory, if nothing is waited for
		runtime.Gosched()
	}
	close(slow.wait)
	if err := errors.Join(<-ends, <-done); err != nil {
		t.Fatal(err)
	}
	late, err := v.open(v.backend, fresh).App(t.Context(), "late")
	if err != nil || late.AppKey().IsZero() {
		t.Errorf("behind the change the application is %+v, %v", late, err)
	}
}

// slowBackend lets the application late stand until wait is closed, and tells that a mark
// of a new key was written.
type slowBackend struct {
	storage.Backend
	stands, wait, marked chan struct{}
	once                 sync.Once
}

func (s *slowBackend) Put(ctx context.Context, docs ...storage.Doc) (int64, error) {
	switch {
	case docs[0].ID == "late":
		close(s.stands)
		<-s.wait
	case docs[0].Kind == "master":
		defer s.once.Do(func() { close(s.marked) })
	}
	return s.Backend.Put(ctx, docs...)
}

// The other half: sealed before the change, and not yet on its way when it comes.
func TestAWriteSealedBeforeTheChangeAndSentBehindItIsSealedAgain(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	store := v.open(v.backend, old)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "Late", Domains: []string{"late.example"}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := v.backend.Get(t.Context(), "app", app.ID)
	if err != nil {
		t.Fatal(err)
	}
	doc.ID, doc.Version = "other", 0
	if _, err := rekey(t.Context(), store, fresh, old); err != nil {
		t.Fatal(err)
	}
	// A document of the old key that is moved does not get the new one's seal either.
	if err := store.WriteForTest(t.Context(), doc); err == nil || !strings.Contains(err.Error(), "belongs elsewhere") {
		t.Errorf("a text sealed for another document was sealed again: %v", err)
	}
	doc.ID = app.ID
	now, err := v.backend.Get(t.Context(), "app", app.ID)
	if err != nil {
		t.Fatal(err)
	}
	doc.Version = now.Version
	if err := store.WriteForTest(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	read, err := v.open(v.backend, fresh).App(t.Context(), app.ID)
	if err != nil || !read.AppKey().Equal(app.AppKey().Reveal()) {
		t.Errorf("with the new key alone it is %+v, %v", read, err)
	}
}

func TestWhoChangesADocumentAmidARekeyWins(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	id := ""
	for name := range v.secrets {
		if kind, at, _ := strings.Cut(name, " "); kind == "app" {
			id = at
		}
	}
	meddling := &dyingBackend{Backend: v.backend, left: -1}
	store, other := v.open(meddling, old), v.open(v.backend, old)
	meddling.before = func() {
		meddling.before = nil
		app, err := other.App(t.Context(), id)
		if err == nil {
			app.Name = "Changed"
			_, err = other.SaveApp(t.Context(), app)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := rekey(t.Context(), store, fresh, old); err != nil {
		t.Fatal(err)
	}
	v.wantWhole(fresh)
	if app, err := v.open(v.backend, fresh).App(t.Context(), id); err != nil || app.Name != "Changed" {
		t.Errorf("the application is %+v, %v", app, err)
	}
}

func TestARekeyTouchesNothingThatWasTamperedWithOrMoved(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	for name, spoil := range map[string]func(map[string][]byte){
		"a bit":           func(f map[string][]byte) { f["secret.0"][30] ^= 1 },
		"a foreign field": func(f map[string][]byte) { f["secret.1"] = f["secret.0"] },
		"no key's text":   func(f map[string][]byte) { f["secret.0"][3] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVault(t, old)
			page, _, err := v.backend.List(t.Context(), "app", storage.Is("all"), 1)
			if err != nil {
				t.Fatal(err)
			}
			record, line, _ := strings.Cut(string(page[0].Data), "\n")
			fields := map[string][]byte{}
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			spoil(fields)
			spoilt, _ := json.Marshal(fields)
			page[0].Data = []byte(record + "\n" + string(spoilt))
			if _, err := v.backend.Put(t.Context(), page[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := rekey(t.Context(), v.open(v.backend, old), fresh, old); !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), page[0].ID) {
				t.Errorf("rekey = %v, want it to name the document", err)
			}
			after, err := v.backend.Get(t.Context(), "app", page[0].ID)
			if err != nil || string(after.Data) != string(page[0].Data) {
				t.Errorf("the document was written over, %v", err)
			}
		})
	}
}

func TestARekeyWantsTheKeyOfTheStoreAmongTheReadableOnes(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	store := v.open(v.backend, old)
	if err := store.BeginRekey(t.Context(), fresh); err == nil || !strings.Contains(err.Error(), old.ID()) {
		t.Errorf("BeginRekey without the old key = %v", err)
	}
	v.wantWhole(old)
	if err := store.BeginRekey(t.Context(), fresh, old); err != nil {
		t.Fatal(err)
	}
	if err := store.EndRekey(t.Context()); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("EndRekey before Reseal = %v", err)
	}
}

// A kind with sealed fields that Reseal does not know of would be lost with the old key.
func TestEveryKindWithSealedFieldsIsResealed(t *testing.T) {
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	var sealed, known []string
	ast.Inspect(files["storage"], func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		list, is := spec.Values[0].(*ast.CompositeLit)
		if !is {
			return true
		}
		for _, e := range list.Elts {
			if at, is := e.(*ast.SelectorExpr); is && spec.Names[0].Name == "sealedKinds" {
				known = append(known, at.X.(*ast.Ident).Name)
			}
			if pair, is := e.(*ast.KeyValueExpr); is && fmt.Sprint(pair.Key) == "secrets" {
				sealed = append(sealed, spec.Names[0].Name)
			}
		}
		return true
	})
	slices.Sort(sealed)
	slices.Sort(known)
	if len(sealed) < 4 || !slices.Equal(sealed, known) {
		t.Errorf("kinds with secrets: %q, resealed: %q", sealed, known)
	}
}

// sealedBy is the key of the first sealed text of a document.
func sealedBy(t *testing.T, d storage.Doc) string {
	t.Helper()
	_, line, _ := strings.Cut(string(d.Data), "\n")
	var texts map[string][]byte
	if err := json.Unmarshal([]byte(line), &texts); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		return fmt.Sprintf("%x", text[1:9])
	}
	return ""
}
