package stores_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
)

// adapters open one empty store, twice if it can be shared.
var adapters = map[string]func(*testing.T) []driver.Backend{
	"memory": func(t *testing.T) []driver.Backend { b := memory.New(); return []driver.Backend{b, b} },
	"bolt": func(t *testing.T) []driver.Backend {
		b, err := bolt.Open(filepath.Join(t.TempDir(), "keystile.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return []driver.Backend{b, b}
	},
	"postgres": func(t *testing.T) (all []driver.Backend) {
		url := database.WithSchema(t)
		for range 2 {
			b, err := postgres.Open(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
		return all
	},
}

// Twelve attempts at each of ten calls are made at once, on two nodes.
func TestIdempotentAttemptsAtOnceAreChargedOnceInEveryStore(t *testing.T) {
	for name, open2 := range adapters {
		t.Run(name, func(t *testing.T) {
			key := storage.NewMasterKey()
			var nodes []*repeat.Keeper
			for _, b := range open2(t) {
				t.Cleanup(func() { b.Close() })
				store, err := storage.Open(t.Context(), b, key)
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, repeat.New(store, 100))
			}
			var all sync.WaitGroup
			charged := make([]atomic.Int64, 10)
			for i := range charged {
				call := repeat.Call{Account: "app", Product: "ai", Key: fmt.Sprint(i), Method: "POST", Path: "/ai/x"}
				charge := func() error { charged[i].Add(1); return nil }
				for n := range 12 {
					all.Go(func() { nodes[n%2].Charge(call, time.Now(), charge) })
				}
			}
			all.Wait()
			for i := range charged {
				if n := charged[i].Load(); n != 1 {
					t.Errorf("call %d was charged %d times, want 1", i, n)
				}
			}
			for _, k := range nodes {
				if err := k.Close(context.Background()); err != nil {
					t.Error(err)
				}
				if _, unknown := k.Stats(); unknown != 0 {
					t.Errorf("%d attempts are unknown, want 0", unknown)
				}
			}
		})
	}
}
