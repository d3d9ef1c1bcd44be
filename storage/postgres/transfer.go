package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

var _ transfer.Adapter = (*Store)(nil)

// listing lists a table in the order of its keys, from behind a key.
type listing struct {
	text string
	args func(after []byte) ([]any, error) // $1 and on; the last is how many rows
	row  func(pgx.Rows) (transfer.Row, error)
}

// largeRows keeps what a page of documents or records does not hold in the database: a page ends with
// the row that fills it.
const largeRows = `SELECT %s FROM (SELECT *, sum(octet_length(data)) OVER (ORDER BY %s ROWS UNBOUNDED PRECEDING) - octet_length(data) AS so_far FROM (%s) AS listed) AS page
	WHERE so_far < 4194304 ORDER BY %s`

var listings = map[transfer.Table]listing{
	transfer.Tokens: {
		`SELECT key, grant_id, app, usr, granted, ends, spent, rest FROM ks.token WHERE key > $1 ORDER BY key LIMIT $2`,
		func(after []byte) ([]any, error) { return []any{notNull(after)}, nil },
		func(row pgx.Rows) (transfer.Row, error) {
			var t driver.Token
			var key, granted, ends, spent, more []byte
			if err := row.Scan(&key, &t.Grant, &t.AppID, &t.UserID, &granted, &ends, &spent, &more); err != nil {
				return transfer.Row{}, err
			}
			copy(t.Key[:], key)
			if err := read(granted, &t.GrantedAt, ends, &t.ExpiresAt, spent, &t.SpentAt); err != nil {
				return transfer.Row{}, err
			}
			err := decodeWhole(more, &t)
			return transfer.TokenRow(t), err
		},
	},
	transfer.Revocations: {
		`SELECT kind, id, seq, before, until FROM ks.revocation WHERE (kind, id) > ($1, $2) ORDER BY kind, id LIMIT $3`,
		func(after []byte) ([]any, error) { return behind(after, transfer.RevocationKey) },
		func(row pgx.Rows) (transfer.Row, error) {
			r, err := scanRevocation(row)
			return transfer.RevocationRow(r), err
		},
	},
	transfer.Usage: {
		`SELECT app, daily, at, product, calls, errors FROM ks.usage WHERE (app, daily, at, product) > ($1, $2, $3, $4) ORDER BY app, daily, at, product LIMIT $5`,
		func(after []byte) ([]any, error) {
			if after == nil {
				return []any{"", false, []byte{}, ""}, nil
			}
			app, daily, at, product, err := transfer.UsageKey(after)
			return []any{app, daily, stamp(at), product}, err
		},
		func(row pgx.Rows) (transfer.Row, error) {
			var c driver.Count
			var daily bool
			var at []byte
			err := row.Scan(&c.AppID, &daily, &at, &c.Product, &c.Calls, &c.Errors)
			if err == nil {
				err = read(at, &c.At)
			}
			return transfer.UsageRow(c, daily), err
		},
	},
	transfer.Batches: {
		`SELECT node, seq FROM ks.batch WHERE $1::text IS NULL OR node > $1 ORDER BY node LIMIT $2`,
		func(after []byte) ([]any, error) {
			if after == nil {
				return []any{(*string)(nil)}, nil
			}
			node, err := transfer.BatchKey(after)
			return []any{&node}, err
		},
		func(row pgx.Rows) (transfer.Row, error) {
			var b driver.Batch
			err := row.Scan(&b.Node, &b.Seq)
			return transfer.BatchRow(b), err
		},
	},
	transfer.Audit: {
		fmt.Sprintf(largeRows, "seq, at, data", "seq",
			"SELECT seq, at, data FROM ks.record WHERE seq > $1 ORDER BY seq LIMIT $2", "seq"),
		func(after []byte) ([]any, error) {
			if after == nil {
				return []any{int64(math.MinInt64)}, nil
			}
			seq, err := transfer.RecordKey(after)
			return []any{int64(min(seq, math.MaxInt64))}, err
		},
		func(row pgx.Rows) (transfer.Row, error) {
			r, err := scanRecord(row)
			return transfer.RecordRow(r), err
		},
	},
	transfer.Documents: {
		fmt.Sprintf(largeRows, "name, id, version, ends, entries, data", "name, id", `
			SELECT k.name, d.id, d.version, d.ends, d.entries, d.data FROM ks.kind k
			CROSS JOIN LATERAL (SELECT * FROM ks.doc d WHERE d.kind = k.n AND d.id > CASE WHEN k.name = $1 THEN $2 ELSE '' END ORDER BY d.id LIMIT $3) AS d
			WHERE k.name >= $1 ORDER BY k.name, d.id LIMIT $3`, "name, id"),
		func(after []byte) ([]any, error) { return behind(after, transfer.DocKey) },
		func(row pgx.Rows) (transfer.Row, error) {
			var d driver.Doc
			var ends []byte
			err := row.Scan(&d.Kind, &d.ID, &d.Version, &ends, &d.Index, &d.Data)
			if err == nil {
				err = read(ends, &d.ExpiresAt)
			}
			return transfer.DocRow(d), err
		},
	},
	// A sequence that has given nothing yet has the number 1 in store.
	transfer.Counters: {
		`SELECT name, n FROM (SELECT CASE name WHEN 'record' THEN 'audit' ELSE name END AS name, n FROM ks.number
			UNION ALL SELECT 'version', CASE WHEN is_called THEN last_value ELSE 0 END FROM ks.version) AS all_of_them
			WHERE name COLLATE "C" > $1 ORDER BY name COLLATE "C" LIMIT $2`,
		func(after []byte) ([]any, error) {
			if after == nil {
				return []any{""}, nil
			}
			name, err := transfer.CounterKey(after)
			return []any{name}, err
		},
		func(row pgx.Rows) (transfer.Row, error) {
			var name string
			var n int64
			err := row.Scan(&name, &n)
			return transfer.CounterRow(name, uint64(n)), err
		},
	},
}

// behind returns a key of two texts.
func behind(after []byte, parse func([]byte) (string, string, error)) ([]any, error) {
	if after == nil {
		return []any{"", ""}, nil
	}
	a, b, err := parse(after)
	return []any{a, b}, err
}

// Rows returns a page of a table.
func (s *Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	l, known := listings[table]
	if !known {
		return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	}
	args, err := l.args(after)
	if err != nil {
		return nil, err
	}
	args = append(args, n)
	var rows []transfer.Row
	err = s.run(ctx, listTable, func(ctx context.Context, c conn, _ bool) (err error) {
		rows, err = collectText(ctx, c, s.inSchema(l.text), args, l.row)
		return err
	})
	return rows, err
}

// loadTimeout limits the writing of one page, on a database that has other work too.
const loadTimeout = time.Minute

// Load writes rows as they are and removes others, in one transaction.
func (s *Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	load, known := loaders[table]
	if !known {
		return fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	}
	var batch loading
	if err := load(&batch, rows, gone); err != nil {
		return err
	}
	return s.call(ctx, loadTable, loadTimeout, func(ctx context.Context, c conn, _ bool) error {
		if err := s.partitions.past(ctx, c.Conn, batch.weeks); err != nil {
			return err
		}
		return patiently(ctx, c.Conn, func(tx pgx.Tx) error {
			// The plans are kept, and made when the tables may be empty still.
			if _, err := tx.Exec(ctx, "SET LOCAL enable_seqscan = off", pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			for _, step := range batch.steps {
				if _, err := tx.Exec(ctx, s.inSchema(step.text), step.args...); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// weeksOf returns the weeks that tokens were issued in, as far as their keys tell.
func weeksOf(tokens []driver.Token) (weeks []time.Time) {
	for _, t := range tokens {
		at := binary.BigEndian.Uint64(t.Key[:])
		if at == 0 || at > math.MaxInt64 {
			continue
		}
		if start := monday(time.Unix(0, int64(at))); !slices.Contains(weeks, start) {
			weeks = append(weeks, start)
		}
	}
	return weeks
}
