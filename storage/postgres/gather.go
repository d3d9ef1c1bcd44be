package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

// Gather answers several reads in one statement, which is one view of the store.
func (s *Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error) {
	args, some := argumentsOfAsks(asks)
	if !some {
		return make([]driver.Answer, len(asks)), s.idle(ctx)
	}
	err = s.run(ctx, gatherDocs, func(ctx context.Context, c conn, _ bool) error {
		all = make([]driver.Answer, len(asks))
		rows, err := c.Query(ctx, c.s.texts[gatherDocs], args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := gathered(rows, asks, all); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// gathered adds a row to the answer that it belongs to. The row behind a page tells where the next one begins.
func gathered(row pgx.Rows, asks []driver.Ask, all []driver.Answer) error {
	var i int
	var place, ends []byte
	var d driver.Doc
	if err := row.Scan(&i, &place, &d.ID, &d.Version, &ends, &d.Index, &d.Data); err != nil {
		return err
	}
	d.Kind = asks[i].Kind
	if err := read(ends, &d.ExpiresAt); err != nil {
		return err
	}
	if place != nil && len(all[i].Docs) == asks[i].N {
		all[i].Next = string(place)
		return nil
	}
	all[i].Docs = append(all[i].Docs, d)
	return nil
}

// argumentsOfAsks turns questions into the arguments of the statement; some: there is something to ask.
func argumentsOfAsks(asks []driver.Ask) (args []any, some bool) {
	var lists, ns, ids []int
	var kinds, names, kindOf []string
	var first, behind [][]byte
	for i, ask := range asks {
		if !driver.ValidName(ask.Kind) {
			continue
		}
		if len(ask.IDs) == 0 && ask.N > 0 {
			lists, kinds, ns = append(lists, i), append(kinds, ask.Kind), append(ns, ask.N+1)
			first, behind = append(first, []byte(ask.Span.From)), append(behind, []byte(ask.Span.To))
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ask.IDs))) {
			if driver.ValidName(id) {
				ids, kindOf, names = append(ids, i), append(kindOf, ask.Kind), append(names, id)
			}
		}
	}
	return []any{lists, kinds, first, behind, ns, ids, kindOf, names}, len(lists)+len(ids) > 0
}
