package storage_test

import (
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// wrapping is a Backend that passes on what another one can do besides.
type wrapping struct{ driver.Backend }

func (w wrapping) Unwrap() driver.Backend { return w.Backend }

// large is an adapter that says what it is.
type large struct{ *memory.Store }

func (large) Describe() (kind, version, at string) {
	return "Vault", "7.1", "vault.example.com:99/keystile"
}
func (large) Size() int64 { return 4096 }

// silent hides what its adapter says.
type silent struct{ driver.Backend }

func TestStoreSaysWhatItsAdapterSaysOfItself(t *testing.T) {
	for name, c := range map[string]struct {
		backend           driver.Backend
		kind, version, at string
		bytes             int64
	}{
		"an adapter": {large{memory.New()}, "Vault", "7.1", "vault.example.com:99/keystile", 4096},
		"a wrapped one": {wrapping{wrapping{large{memory.New()}}}, "Vault", "7.1", "vault.example.com:99/keystile",
			4096},
		"memory":                {wrapping{memory.New()}, "memory", "", "", 0},
		"one that says nothing": {wrapping{silent{large{memory.New()}}}, "", "", "", 0},
	} {
		s, err := storage.Open(t.Context(), c.backend, storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		if kind, version, at, bytes := s.Describe(); kind != c.kind || version != c.version || at != c.at ||
			bytes != c.bytes {
			t.Errorf("%s is %q %q at %q with %d bytes", name, kind, version, at, bytes)
		}
	}
}
