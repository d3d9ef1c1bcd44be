package storage_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestHMACKeyIsDrawnOnceAndSealed(t *testing.T) {
	s, backend := open(t)
	keys := make([]storage.Secret, 10)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			k, err := s.HMACKey(context.Background(), "a")
			must(t, err)
			keys[i] = k
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k.Reveal()) != 43 || !k.Equal(keys[0].Reveal()) {
			t.Errorf("a process has another key, of %d characters", len(k.Reveal()))
		}
	}
	other, err := s.HMACKey(context.Background(), "b")
	must(t, err)
	if other.Equal(keys[0].Reveal()) {
		t.Error("two names have one key")
	}
	d, err := backend.Get(context.Background(), "hmac", "a")
	must(t, err)
	if bytes.Contains(d.Data, []byte(keys[0].Reveal())) {
		t.Error("the key is stored as it is")
	}
}
