package oauth_test

import (
	"encoding/json"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// Keys are rotated while applications get tokens and services verify them: every token
// that was handed out stays good, and the key set always shows the key that signed it.
func TestRotationUnderLoadRefusesNoToken(t *testing.T) {
	h := newFixture(t)
	var stop atomic.Bool
	var wg sync.WaitGroup
	var issued atomic.Int64
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				text := h.token("grant_type", "client_credentials").text("access_token")
				if _, err := h.tokens.Verify(t.Context(), text); err != nil {
					t.Errorf("Verify(a token just issued) = %v, want no error", err)
				}
				issued.Add(1)
			}
		})
	}
	early := h.token("grant_type", "client_credentials").tokens(t).text("access_token")
	for range 5 {
		want := issued.Load() + 20
		if _, err := token.Rotate(t.Context(), h.store, token.ES256, 169*time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := h.tokens.ReloadKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		for issued.Load() < want && !t.Failed() {
			h.token("grant_type", "client_credentials")
			issued.Add(1)
		}
	}
	stop.Store(true)
	wg.Wait()
	if _, err := h.tokens.Verify(t.Context(), early); err != nil {
		t.Errorf("Verify(a token from before five rotations) = %v, want no error", err)
	}
	count := map[string]int{}
	for _, k := range must(h.store.SigningKeys(t.Context()))(t) {
		count[k.State]++
	}
	var set struct{ Keys []json.RawMessage }
	json.Unmarshal(h.serve(httptest.NewRequest("GET", "/oauth/jwks", nil)).Body.Bytes(), &set)
	if count[storage.KeyActive] != 1 || count[storage.KeyNext] != 1 || count[storage.KeyRetired] != 5 ||
		len(set.Keys) != 7 {
		t.Errorf("keys = %v and %d published, want one active, one next, five retired, all published", count, len(set.Keys))
	}
}
