package main

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// query asks the database for one row, as its owner.
func (s *site) query(ctx context.Context, statement string, into ...any) error {
	c, err := database.Open(ctx, s.database.URL())
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	return c.QueryRow(ctx, statement).Scan(into...)
}

// cutConnections ends all connections of the nodes, and returns how many there were.
func (s *site) cutConnections(ctx context.Context) (n int, err error) {
	return n, s.query(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`, &n)
}

func (s *sampler) measureDatabase(ctx context.Context) {
	var bytes int64
	if s.site.query(ctx, `SELECT pg_database_size(current_database())`, &bytes) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, size{time.Since(s.began), float64(bytes) / mb})
}

// table is one of the database, with what it takes.
type table struct {
	Name string  `json:"name"`
	MB   float64 `json:"mb"`
	Rows int64   `json:"rows"`
	Dead int64   `json:"dead"`
}

// tables are those that take most. Partitions are counted together with what they are parts of.
func (s *site) tables(ctx context.Context) (all []table, err error) {
	c, err := database.Open(ctx, s.database.URL())
	if err != nil {
		return nil, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	rows, err := c.Query(ctx, `SELECT coalesce(p.inhparent::regclass::text, s.relid::regclass::text) AS name,
		sum(pg_total_relation_size(s.relid))::float8 / 1048576, sum(n_live_tup)::bigint, sum(n_dead_tup)::bigint
		FROM pg_stat_user_tables s LEFT JOIN pg_inherits p ON p.inhrelid = s.relid GROUP BY 1 ORDER BY 2 DESC LIMIT 8`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t table
		if err := rows.Scan(&t.Name, &t.MB, &t.Rows, &t.Dead); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}
