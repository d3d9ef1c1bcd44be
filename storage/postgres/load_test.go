package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/transfer"
)

// The plans of a copy are made while the tables are small, and are kept while it fills them.
func TestCopyLooksUpItsRowsByTheirKeysHoweverManyThereAre(t *testing.T) {
	dsn, schema, ctx := address(t, direct), newSchema(t), t.Context()
	source := memory.New()
	defer source.Close()
	const n = 4000
	const all = 2 * (1 + 4 + 2 + 1) * n // a document with four entries, two rows of usage, a revocation, twice
	hour, later := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < n; i += driver.MaxPut {
		var docs []driver.Doc
		var counts []driver.Count
		var ends []driver.Revocation
		for j := range driver.MaxPut {
			id := fmt.Sprintf("d%05d", i+j)
			docs = append(docs, driver.Doc{Kind: "thing", ID: id, Index: []string{"all", "a=" + id, "b=" + id, "c=" + id},
				Data: []byte("{}")})
			counts = append(counts, driver.Count{AppID: id, At: hour, Product: "p", Calls: 1})
			ends = append(ends, driver.Revocation{Kind: driver.RevokeGrant, ID: id, Before: hour, Until: later})
		}
		_, err := source.Put(ctx, docs...)
		must(t, err)
		must(t, source.Count(ctx, driver.Batch{Node: "n", Seq: uint64(i + 1)}, counts))
		must(t, source.Revoke(ctx, ends...))
	}
	s := open(t, dsn, postgres.Options{Schema: schema, Conns: 1})
	defer s.Close()
	admin := database.Connect(t)
	defer admin.Close(ctx)
	for _, table := range []transfer.Table{transfer.Documents, transfer.Usage, transfer.Revocations} {
		var after []byte
		for loaded, most := 0, 5; ; most = 400 {
			rows, err := source.Rows(ctx, table, after, most)
			must(t, err)
			if len(rows) == 0 {
				break
			}
			must(t, s.Load(ctx, table, rows, nil))
			must(t, s.Load(ctx, table, rows, nil)) // as they are replaced
			if loaded == 0 {
				_, err := admin.Exec(ctx, "ANALYZE "+schema+".doc, "+schema+".entry, "+schema+".usage, "+schema+".revocation")
				must(t, err)
			}
			after, loaded = rows[len(rows)-1].Key, loaded+len(rows)
		}
	}
	page, _, err := s.List(ctx, "thing", driver.Is("b=d03999"), 10)
	if err != nil || len(page) != 1 {
		t.Errorf("%d documents are found, %v", len(page), err)
	}
	must(t, s.Close()) // a connection tells what it has read when it ends
	var read, written int
	for range 100 {
		must(t, admin.QueryRow(ctx, `SELECT sum(seq_tup_read), sum(n_tup_ins) FROM pg_sleep(0.05), pg_stat_user_tables
			WHERE schemaname = $1 AND relname IN ('doc', 'entry', 'usage', 'revocation')`, schema).Scan(&read, &written))
		if written >= all {
			break
		}
	}
	if written < all || read > n {
		t.Errorf("%d rows were written, and %d read one after the other", written, read)
	}
}
