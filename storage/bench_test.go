package storage_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/client"
)

// BenchmarkCreateApp makes applications with 16 writers. Its floor is what is neither counted nor searched.
func BenchmarkCreateApp(b *testing.B) {
	described := &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
		RedirectURIs: []string{"http://127.0.0.1/cb"}, Grants: []string{"authorization_code"}}
	for _, c := range []struct {
		name  string
		owner bool
		app   storage.App
	}{
		{"floor", false, storage.App{Public: true, Client: described}},
		{"counted", false, storage.App{Domains: []string{"a.example.com"}}},
		{"owned", true, storage.App{Domains: []string{"a.example.com"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			backend, err := bolt.Open(filepath.Join(b.TempDir(), "k.db"), bolt.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer backend.Close()
			s := nodesOver(b, backend, 1)[0]
			var made atomic.Int64
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					a, n := c.app, made.Add(1)
					a.Name = fmt.Sprint("Shop ", n)
					if c.app.Client != nil {
						a.ID = handle.NewClientID()
					}
					if c.owner {
						a.Owner = fmt.Sprint("owner", n)
					}
					if _, err := s.CreateApp(b.Context(), a, 0, storage.Quota{}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
