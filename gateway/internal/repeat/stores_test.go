package repeat

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

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
			b, err := postgres.OpenURL(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
		return all
	},
}

// Twelve attempts at each of ten calls are made at once, on two nodes.
func TestOneOfManyAttemptsAtOnceIsChargedInEveryStore(t *testing.T) {
	for name, open2 := range adapters {
		t.Run(name, func(t *testing.T) {
			key := storage.NewMasterKey()
			var nodes []*Keeper
			for _, b := range open2(t) {
				t.Cleanup(func() { b.Close() })
				nodes = append(nodes, New(open(t, b, key), many))
			}
			var all sync.WaitGroup
			bills := make([]bill, 10)
			for i := range bills {
				for n := range 12 {
					all.Go(func() { nodes[n%2].Charge(call(fmt.Sprint(i)), time.Now(), bills[i].charge) })
				}
			}
			all.Wait()
			for i := range bills {
				if n := bills[i].n.Load(); n != 1 {
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

func TestABodyIsKnownWhenItWasReadToItsEnd(t *testing.T) {
	sums := map[[32]byte]string{}
	for _, text := range []string{"", "a", "b", strings.Repeat("a", 100_000)} {
		for _, length := range []int64{int64(len(text)), -1} {
			b := NewBody(io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), length)
			if _, whole := b.Sum(); whole != (length == 0) {
				t.Errorf("a body of %d bytes is known %t before it was read", len(text), whole)
			}
			io.Copy(io.Discard, b)
			sum, whole := b.Sum()
			if other, there := sums[sum]; !whole || there && other != text {
				t.Errorf("of a body of %d bytes: known %t, and as %.5q", len(text), whole, other)
			}
			sums[sum] = text
		}
	}
	if len(sums) != 4 {
		t.Errorf("%d hashes of 4 bodies", len(sums))
	}
	known := NewBody(io.NopCloser(strings.NewReader("abc")), 3)
	if io.ReadFull(known, make([]byte, 3)); known.ended != true {
		t.Error("a body whose length was read is not known: many readers stop there")
	}
	cut := NewBody(io.NopCloser(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(io.ErrUnexpectedEOF))), 3)
	if io.Copy(io.Discard, cut); cut.ended {
		t.Error("a body that broke off is known")
	}
}
