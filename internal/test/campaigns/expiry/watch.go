package main

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/internal/test/database"
)

const heading = "  days  rotations      swept   heap MB  index MB  partitions  rows (est.)  dead  vacuums"

// watch reads the sizes of the tables of tokens.
type watch struct {
	conn   *database.Conn
	schema string
}

func newWatch(ctx context.Context, url, schema string) (*watch, error) {
	c, err := database.Open(ctx, url)
	return &watch{c, schema}, err
}

func (w *watch) close() { _ = w.conn.Close(context.Background()) }

const sizes = `SELECT coalesce(sum(pg_relation_size(relid)), 0), coalesce(sum(pg_indexes_size(relid)), 0), count(*),
	coalesce(sum(n_live_tup), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(autovacuum_count), 0)::bigint
	FROM pg_stat_user_tables WHERE schemaname = $1 AND relname LIKE 'token\_%'`

// line returns the size in MB, and a line about it.
func (w *watch) line() (mb float64, line string, err error) {
	var heap, index, partitions, rows, dead, vacuums int64
	if err := w.conn.QueryRow(context.Background(), sizes, w.schema).Scan(&heap, &index, &partitions, &rows, &dead,
		&vacuums); err != nil {
		return 0, "", err
	}
	const m = 1 << 20
	return float64(heap+index) / m, fmt.Sprintf("%9.0f %9.0f %11d %12d %5d %8d", float64(heap)/m, float64(index)/m,
		partitions, rows, dead, vacuums), nil
}
