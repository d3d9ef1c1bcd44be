package importacts_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/importacts"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
)

// Users a second that are imported into a file, 1000 at a time: 10^5 in two minutes are 833.
func BenchmarkImport(b *testing.B) {
	backend, err := bolt.Open(filepath.Join(b.TempDir(), "x.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	store, err := storage.Open(b.Context(), backend, storage.NewMasterKey())
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	trail, err := audit.Open(b.Context(), audit.Config{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	defer trail.Close(b.Context())
	acts := importacts.New(importacts.Config{Store: store, Recorder: admin.Recorder{Trail: trail},
		Adopt: users.New(store, nil).Adopt, Mailbox: users.NormalizeEmail})
	var rows []importacts.Row
	send := func() {
		out, err := acts.Import(b.Context(), admin.CommandLine(), rows, false)
		if err != nil || out[0].Is != importacts.Made {
			b.Fatal(out, err)
		}
		rows = nil
	}
	i := 0
	for b.Loop() {
		rows = append(rows, importacts.Row{Username: fmt.Sprint("user", i), Email: fmt.Sprintf("user%d@example.com", i),
			EmailVerified: true, Name: fmt.Sprint("Number ", i), Groups: []string{"all", fmt.Sprint("team-", i%50)},
			PasswordHash: "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
			Attributes:   map[string]string{"dept": fmt.Sprint(i % 7)},
			ExternalIDs:  []string{fmt.Sprint("oidc:https://id.example.com:", i)}})
		if i++; len(rows) == 1000 {
			send()
		}
	}
	if len(rows) > 0 {
		send()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "users/s")
}
