package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// vault is a backend with a secret in a document of every kind that has one.
type vault struct {
	*testing.T
	backend driver.Backend
	secrets map[string]string // what is kept where
}

func newVault(t *testing.T, keys ...storage.MasterKey) *vault {
	t.Helper()
	v := &vault{t, memory.New(), map[string]string{}}
	t.Cleanup(func() { v.backend.Close() })
	store := v.open(v.backend, keys...)
	for i := range 3 {
		app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"a.example"},
			Owner: fmt.Sprint("u", i)})
		if err != nil {
			t.Fatal(err)
		}
		v.secrets["app "+app.ID] = app.AppKey().Reveal()
	}
	member := storage.Capability{Member: "shop", Kind: storage.CapabilityREST, UpstreamURL: "https://shop.example",
		AuthType:   "bearer",
		AuthSecret: storage.NewSecret("the upstream's key"), WebhookURL: "https://shop.example/hook",
		WebhookSecret: storage.NewSecret("the webhook's key"), Owner: "u1"}
	member.SetSecretHeaders(map[string]storage.Secret{"X-Tenant-Key": storage.NewSecret("the tenant's key"),
		"X-Two": storage.NewSecret("two")})
	if _, err := store.SaveCapability(t.Context(), member, nil); err != nil {
		t.Fatal(err)
	}
	v.secrets["auth shop"], v.secrets["webhook shop"] = "the upstream's key", "the webhook's key"
	v.secrets["X-Tenant-Key shop"], v.secrets["X-Two shop"] = "the tenant's key", "two"
	key := storage.SigningKey{ID: "kid", Alg: "ES256", State: storage.KeyActive, Private: storage.NewSecret("PKCS #8"),
		CreatedAt: time.Now()}
	if err := store.FirstKeys(t.Context(), "ES256", key); err != nil {
		t.Fatal(err)
	}
	v.secrets["key kid"] = "PKCS #8"
	return v
}

func (v *vault) open(backend driver.Backend, keys ...storage.MasterKey) *storage.Store {
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
	for name, value := range c.SecretHeaders() {
		read[name+" shop"] = value.Reveal()
	}
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

// dyingBackend fails at its nth Put and ever after, before the write or right behind it.
type dyingBackend struct {
	driver.Backend
	left   int // below 0: never
	behind bool
	before func() // at each Put
}

var errDead = errors.New("dead")

func (d *dyingBackend) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
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

// sealedBy is the key of the first sealed text of a document.
func sealedBy(t *testing.T, d driver.Doc) string {
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
