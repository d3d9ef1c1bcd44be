package storage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestRekeyLeavesAllReadableByTheNewKeyAlone(t *testing.T) {
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

func TestRekeyWithBothKeysReadsTheOldAndWritesTheNew(t *testing.T) {
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

func TestMasterKeyThatIsWrongIsAnErrorThatNamesTheRightOne(t *testing.T) {
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

// A rekey may die at any write, before it or right behind it: the key file opens everything with what it holds
// by then, and doing it again ends the rekey.
func TestRekeyThatIsKilledAnywhereLosesNothingAndIsTakenUp(t *testing.T) {
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

func TestRekeyTouchesNothingThatWasTamperedWithOrMoved(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	for name, spoil := range map[string]func(map[string][]byte){
		"a bit":           func(f map[string][]byte) { f["secret.0"][30] ^= 1 },
		"a foreign field": func(f map[string][]byte) { f["secret.1"] = f["secret.0"] },
		"no key's text":   func(f map[string][]byte) { f["secret.0"][3] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVault(t, old)
			page, _, err := v.backend.List(t.Context(), "app", driver.Is("all"), 1)
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
			if _, err := rekey(t.Context(), v.open(v.backend, old), fresh, old); !errors.Is(err, storage.ErrUnavailable) ||
				!strings.Contains(err.Error(), page[0].ID) {
				t.Errorf("rekey = %v, want it to name the document", err)
			}
			after, err := v.backend.Get(t.Context(), "app", page[0].ID)
			if err != nil || string(after.Data) != string(page[0].Data) {
				t.Errorf("the document was written over, %v", err)
			}
		})
	}
}

func TestRekeyWantsTheKeyOfTheStoreAmongTheReadableOnes(t *testing.T) {
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
