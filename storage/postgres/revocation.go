package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

// Revoke stores revocations, each joined with an older one of its kind and id.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	rs = joined(rs)
	if len(rs) == 0 {
		return s.idle(ctx)
	}
	n := len(rs)
	kinds, ids, before, until := make([]string, n), make([]string, n), make([][]byte, n), make([][]byte, n)
	for i, r := range rs {
		kinds[i], ids[i], before[i], until[i] = r.Kind, r.ID, stamp(r.Before), end(r.Until)
	}
	return s.run(ctx, revoke, func(ctx context.Context, c conn, _ bool) error {
		return c.exec(ctx, revoke, kinds, ids, before, until, s.hint(true))
	})
}

// joined joins what one call says twice about a kind and id, which a statement may not, into the
// place of the last.
func joined(rs []driver.Revocation) []driver.Revocation {
	type about struct{ kind, id string }
	seen := make(map[about]driver.Revocation, len(rs))
	last := make(map[about]int, len(rs))
	for i, r := range rs {
		of := about{r.Kind, r.ID}
		if older, twice := seen[of]; twice {
			r = r.Join(older)
		}
		seen[of], last[of] = r, i
	}
	if len(seen) == len(rs) {
		return rs
	}
	var whole []driver.Revocation
	for i, r := range rs {
		if of := (about{r.Kind, r.ID}); last[of] == i {
			whole = append(whole, seen[of])
		}
	}
	return slices.Clip(whole)
}

// Revocations returns the feed behind after.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	if after > math.MaxInt64 {
		return nil, s.idle(ctx)
	}
	return list(ctx, s, readRevocations, []any{int64(after), n}, scanRevocation)
}

func scanRevocation(row pgx.Rows) (r driver.Revocation, err error) {
	var before, until []byte
	if err = row.Scan(&r.Kind, &r.ID, &r.Seq, &before, &until); err == nil {
		err = read(before, &r.Before, until, &r.Until)
	}
	return r, err
}
