package token

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestKeySetIsSharedByManyProcesses(t *testing.T) {
	store := &fakeStore{}
	var wg sync.WaitGroup
	bodies := make([]string, 8)
	for i := range bodies {
		wg.Go(func() {
			keys, err := OpenKeys(t.Context(), store, ES256, EdDSA)
			if err != nil {
				t.Errorf("OpenKeys() = %v, want no error", err)
				return
			}
			body := keys.JWKS().Body()
			bodies[i] = string(body)
		})
	}
	wg.Wait()
	if len(slices.Compact(bodies)) != 1 {
		t.Errorf("8 OpenKeys on one store = different keys, want the same")
	}
	if len(store.keys) != 4 {
		t.Errorf("the store has %d keys, want an active and a next one of each algorithm", len(store.keys))
	}
}

func TestKeysOutliveTheProcess(t *testing.T) {
	v, store := verifier(t, ES256)
	bearer := mint(t, v.keys, nil)
	again, err := OpenKeys(t.Context(), store, ES256)
	if err != nil {
		t.Fatalf("OpenKeys() = %v, want no error", err)
	}
	v = NewVerifier(VerifierConfig{Issuer: issuer, Keys: again, Revoked: v.revoked})
	if _, err := v.Verify(t.Context(), bearer); err != nil {
		t.Errorf("Verify(token of an earlier process) = %v, want no error", err)
	}
}

func TestFirstAlgorithmIsTheDefault(t *testing.T) {
	for _, c := range []struct {
		algs []string
		want string
	}{{nil, "ES256"}, {[]string{EdDSA}, "EdDSA"}, {[]string{EdDSA, ES256, EdDSA}, "EdDSA ES256"},
		{[]string{ES256, EdDSA}, "ES256 EdDSA"}} {
		v, _ := verifier(t, c.algs...)
		if got := strings.Join(v.keys.Algs(), " "); got != c.want {
			t.Errorf("OpenKeys(%q).Algs() = %q, want %q", c.algs, got, c.want)
		}
		if got := header(t, mint(t, v.keys, nil))["alg"]; got != v.keys.Algs()[0] {
			t.Errorf("SignAccess() signs with %s, want %s", got, v.keys.Algs()[0])
		}
	}
}

func TestAlgorithmOfAnEarlierConfigurationStaysUsable(t *testing.T) {
	_, store := verifier(t, ES256)
	keys, err := OpenKeys(t.Context(), store, EdDSA)
	if err != nil {
		t.Fatalf("OpenKeys() = %v, want no error", err)
	}
	if got := strings.Join(keys.Algs(), " "); got != "EdDSA ES256" {
		t.Errorf("Algs() = %q, want %q", got, "EdDSA ES256")
	}
}

func TestOpenKeysSaysWhatIsWrong(t *testing.T) {
	retired := newKey(t, ES256, storage.KeyRetired)
	for name, c := range map[string]struct {
		store *fakeStore
		alg   string
	}{
		"the store is away":  {&fakeStore{err: errAway}, ES256},
		"HS256 has no keys":  {&fakeStore{}, HS256},
		"unknown algorithm":  {&fakeStore{}, "ES512"},
		"only a retired key": {&fakeStore{keys: []storage.SigningKey{retired}}, ES256},
		"a record with no secret": {&fakeStore{keys: []storage.SigningKey{{ID: "k", Alg: ES256, State: storage.KeyActive}}},
			ES256},
	} {
		if keys, err := OpenKeys(t.Context(), c.store, c.alg); err == nil || keys != nil {
			t.Errorf("OpenKeys(%s) = %v, %v, want an error only", name, keys, err)
		}
	}
	if _, err := OpenKeys(t.Context(), readOnly{&fakeStore{}}, ES256); !errors.Is(err, errAway) {
		t.Errorf("OpenKeys(a store that cannot be written) = %v, want %v", err, errAway)
	}
}

type readOnly struct{ *fakeStore }

func (readOnly) FirstKeys(context.Context, string, ...storage.SigningKey) error { return errAway }

func TestRotation(t *testing.T) {
	v, store := verifier(t, ES256)
	one, two := store.keys[0], store.keys[1]
	old := mint(t, v.keys, nil)
	v.Verify(t.Context(), old) // remembered

	one.State, one.RetiredAt, one.ExpiresAt = storage.KeyRetired, time.Now(), time.Now().Add(week)
	two.State = storage.KeyActive
	rotated, err := OpenKeys(t.Context(), &fakeStore{keys: []storage.SigningKey{one, two}}, ES256)
	if err != nil {
		t.Fatalf("OpenKeys() = %v, want no error", err)
	}
	if _, err := v.Verify(t.Context(), mint(t, rotated, nil)); err != nil {
		t.Errorf("Verify(token of a node that rotated first) = %v, want no error", err)
	}
	reload(t, v.keys, store, one, two)
	if got := header(t, mint(t, v.keys, nil))["kid"]; got != two.ID {
		t.Errorf("after rotation kid = %s, want the new active key", got)
	}
	if _, err := v.Verify(t.Context(), old); err != nil {
		t.Errorf("Verify(token of a retired key) = %v, want no error", err)
	}
	reload(t, v.keys, store, two)
	if _, err := v.Verify(t.Context(), old); !errors.Is(err, ErrInvalid) {
		t.Errorf("Verify(remembered token of a removed key) = %v, want ErrInvalid", err)
	}
	v.cache = newCache(0)
	if _, err := v.Verify(t.Context(), old); !errors.Is(err, ErrInvalid) {
		t.Errorf("Verify(token of a removed key) = %v, want ErrInvalid", err)
	}
}

func TestFailedReloadKeepsTheKeys(t *testing.T) {
	v, store := verifier(t, ES256)
	bearer := mint(t, v.keys, nil)
	lame := store.keys[0]
	lame.Private = storage.Secret{}
	for name, broken := range map[string]*fakeStore{
		"the store is away": {err: errAway, keys: store.keys},
		"no keys":           {},
		"no active key":     {keys: store.keys[1:]},
		"a damaged key":     {keys: []storage.SigningKey{lame}},
	} {
		v.keys.store = broken
		if err := v.keys.Reload(t.Context()); err == nil {
			t.Errorf("Reload(%s) = no error, want one", name)
		}
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("after Reload(%s) Verify() = %v, want no error", name, err)
		}
		mint(t, v.keys, nil)
	}
}

func TestRetiredKeyLeavesAtItsMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, store := verifier(t, ES256)
		one, two := store.keys[0], store.keys[1]
		three, four := newKey(t, ES256, storage.KeyRetired), newKey(t, ES256, storage.KeyRetired)
		three.CreatedAt, three.ExpiresAt = time.Now().Add(-1), time.Now().Add(2*week)
		four.CreatedAt, four.ExpiresAt = time.Now().Add(1), time.Now().Add(2*week)
		long := mint(t, v.keys, func(c *Claims) { c.ExpiresAt = time.Now().Add(2 * week) })
		one.State, one.ExpiresAt = storage.KeyRetired, time.Now().Add(week)
		two.State, two.ExpiresAt = storage.KeyActive, time.Now().Add(time.Hour) // of no meaning
		reload(t, v.keys, store, one, two, three, four)
		before := v.keys.JWKS().ETag()

		time.Sleep(week - 1)
		if _, err := v.Verify(t.Context(), long); err != nil {
			t.Errorf("Verify(just before its key leaves) = %v, want no error", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := v.Verify(t.Context(), long); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(when its key has left) = %v, want ErrInvalid", err)
		}
		body, after := v.keys.JWKS().Body(), v.keys.JWKS().ETag()
		if ids := kids(t, body); len(ids) != 3 || ids[0] != two.ID || slices.Contains(ids, one.ID) || before == after {
			t.Errorf("JWKS() = %v with etag %s, want all but %s and a new etag", ids, after, one.ID)
		}
		time.Sleep(week)
		if body = v.keys.JWKS().Body(); len(kids(t, body)) != 1 {
			t.Errorf("JWKS() = %s, want the active key only", body)
		}
		mint(t, v.keys, nil)
	})
}

func reload(t *testing.T, keys *Keys, store *fakeStore, now ...storage.SigningKey) {
	t.Helper()
	store.set(now...)
	if err := keys.Reload(t.Context()); err != nil {
		t.Fatalf("Reload() = %v, want no error", err)
	}
}

func kids(t testing.TB, jwks []byte) (ids []string) {
	t.Helper()
	var set struct{ Keys []struct{ Kid string } }
	if err := json.Unmarshal(jwks, &set); err != nil {
		t.Fatalf("JWKS() = %s: %v", jwks, err)
	}
	for _, k := range set.Keys {
		ids = append(ids, k.Kid)
	}
	return ids
}

func header(t testing.TB, token string) (h map[string]string) {
	t.Helper()
	head, _, _ := strings.Cut(token, ".")
	if err := json.Unmarshal(decode(t, head), &h); err != nil {
		t.Fatalf("header %s: %v", head, err)
	}
	return h
}

func TestAlgorithmGetsItsKeysWhenItIsFirstWanted(t *testing.T) {
	store := &fakeStore{}
	keys, err := OpenKeys(t.Context(), store, ES256)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Sign(EdDSA, TypeID, []byte(`{}`)); err == nil {
		t.Fatal("Sign(EdDSA) before Ensure = nil, want an error")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := keys.Ensure(t.Context(), EdDSA); err != nil {
				t.Errorf("Ensure(EdDSA) = %v, want no error", err)
			}
			if _, err := keys.Sign(EdDSA, TypeID, []byte(`{}`)); err != nil {
				t.Errorf("Sign(EdDSA) = %v, want no error", err)
			}
		})
	}
	wg.Wait()
	if len(store.keys) != 4 {
		t.Errorf("the store has %d keys, want an active and a next one of each algorithm", len(store.keys))
	}
	if err := keys.Ensure(t.Context(), "none"); err == nil {
		t.Error("Ensure(none) = nil, want an error")
	}
}
