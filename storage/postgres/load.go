package postgres

import (
	"math"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// loading collects the steps of one Load: it removes what has the keys of new rows and of those that go, and
// writes the new ones.
type loading struct {
	steps []step
	weeks []time.Time
}

type step struct {
	text string
	args []any
}

func (l *loading) add(text string, args ...any) { l.steps = append(l.steps, step{text, args}) }

var loaders = map[transfer.Table]func(l *loading, rows []transfer.Row, gone [][]byte) error{
	transfer.Tokens:      loadTokens,
	transfer.Revocations: loadRevocations,
	transfer.Usage:       loadUsage,
	transfer.Batches:     loadBatches,
	transfer.Audit:       loadRecords,
	transfer.Documents:   loadDocs,
	transfer.Counters:    loadCounters,
}

// each reads all rows.
func each[T any](rows []transfer.Row, parse func(transfer.Row) (T, error)) ([]T, error) {
	all := make([]T, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = parse(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func loadTokens(l *loading, rows []transfer.Row, gone [][]byte) error {
	tokens, err := each(rows, transfer.Row.Token)
	if err != nil {
		return err
	}
	keys := make([][]byte, 0, len(rows)+len(gone))
	for _, t := range tokens {
		keys = append(keys, t.Key[:])
	}
	for _, key := range gone {
		if _, err := transfer.TokenKey(key); err != nil {
			return err
		}
		keys = append(keys, key)
	}
	given, err := columnsOf(tokens)
	if err != nil {
		return err
	}
	l.weeks = weeksOf(tokens)
	l.add(`DELETE FROM ks.token WHERE key = ANY ($1::bytea[])`, keys)
	l.add(`INSERT INTO ks.token (`+tokenColumns+`) SELECT * FROM `+givenTokens, given...)
	return nil
}

func loadRevocations(l *loading, rows []transfer.Row, gone [][]byte) error {
	all, err := each(rows, transfer.Row.Revocation)
	if err != nil {
		return err
	}
	n := len(all)
	kinds, ids, seqs, before, until := make([]string, n), make([]string, n), make([]int64, n), make([][]byte, n),
		make([][]byte, n)
	for i, r := range all {
		kinds[i], ids[i], before[i], until[i] = r.Kind, r.ID, stamp(r.Before), end(r.Until)
		if seqs[i], err = signed(r.Seq); err != nil {
			return err
		}
	}
	goneKinds, goneIDs, err := pairs(gone, transfer.RevocationKey)
	if err != nil {
		return err
	}
	l.add(removing("revocation", `unnest($1::text[], $2::text[]) AS w(kind, id)`, `t.kind = w.kind AND t.id = w.id`),
		append(goneKinds, kinds...), append(goneIDs, ids...))
	l.add(`DELETE FROM ks.revocation WHERE seq = ANY ($1::bigint[])`, seqs)
	l.add(`INSERT INTO ks.revocation SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::bytea[])`, kinds, ids, seqs, before, until)
	return nil
}

// removing returns a statement that removes what is in a table t for each of the rows wanted. Each is looked up by
// itself, which LIMIT has the planner do: it plans a join by what it knows of a table, and a plan for a small one,
// which is kept while the table is filled, reads all of it for each page.
func removing(table, wanted, its string) string {
	return `DELETE FROM ks.` + table + ` WHERE ctid = ANY (ARRAY(
		SELECT t.at FROM ` + wanted + ` CROSS JOIN LATERAL (SELECT t.ctid AS at FROM ks.` + table + ` t WHERE ` + its + ` LIMIT 1) AS t))`
}

// pairs reads keys of two texts.
func pairs(keys [][]byte, parse func([]byte) (string, string, error)) (first, second []string, err error) {
	for _, key := range keys {
		a, b, err := parse(key)
		if err != nil {
			return nil, nil, err
		}
		first, second = append(first, a), append(second, b)
	}
	return first, second, nil
}

// signed returns a number as a column has it.
func signed(n uint64) (int64, error) {
	if n > math.MaxInt64 {
		return 0, tooLarge(n)
	}
	return int64(n), nil
}

func loadUsage(l *loading, rows []transfer.Row, gone [][]byte) error {
	all, err := each(rows, func(r transfer.Row) (usageRow, error) {
		c, daily, err := r.Usage()
		return usageRow{c, daily}, err
	})
	if err != nil {
		return err
	}
	remove := all
	for _, key := range gone {
		app, daily, at, product, err := transfer.UsageKey(key)
		if err != nil {
			return err
		}
		remove = append(remove[:len(remove):len(remove)], usageRow{driver.Count{AppID: app, At: at, Product: product}, daily})
	}
	apps, daily, at, products, _, _ := usageColumns(remove)
	l.add(removing("usage", `unnest($1::text[], $2::boolean[], $3::bytea[], $4::text[]) AS w(app, daily, at, product)`,
		`t.app = w.app AND t.daily = w.daily AND t.at = w.at AND t.product = w.product`), apps, daily, at, products)
	apps, daily, at, products, calls, errors := usageColumns(all)
	l.add(`INSERT INTO ks.usage SELECT * FROM unnest($1::text[], $2::boolean[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[])`, apps, daily, at, products, calls, errors)
	return nil
}

func loadBatches(l *loading, rows []transfer.Row, gone [][]byte) error {
	all, err := each(rows, transfer.Row.Batch)
	if err != nil {
		return err
	}
	var nodes, remove []string
	var seqs []int64
	for _, b := range all {
		seq, err := signed(b.Seq)
		if err != nil {
			return err
		}
		nodes, seqs = append(nodes, b.Node), append(seqs, seq)
	}
	for _, key := range gone {
		node, err := transfer.BatchKey(key)
		if err != nil {
			return err
		}
		remove = append(remove, node)
	}
	l.add(`DELETE FROM ks.batch WHERE node = ANY ($1::text[])`, append(remove, nodes...))
	l.add(`INSERT INTO ks.batch SELECT * FROM unnest($1::text[], $2::bigint[])`, nodes, seqs)
	return nil
}

func loadRecords(l *loading, rows []transfer.Row, gone [][]byte) error {
	all, err := each(rows, transfer.Row.Record)
	if err != nil {
		return err
	}
	var seqs, remove []int64
	var at, data [][]byte
	for _, r := range all {
		seq, err := signed(r.Seq)
		if err != nil {
			return err
		}
		seqs, at, data = append(seqs, seq), append(at, stamp(r.At)), append(data, notNull(r.Data))
	}
	for _, key := range gone {
		n, err := transfer.RecordKey(key)
		if err != nil {
			return err
		}
		if seq, err := signed(n); err == nil { // no larger one can be here
			remove = append(remove, seq)
		}
	}
	l.add(`DELETE FROM ks.record WHERE seq = ANY ($1::bigint[])`, append(remove, seqs...))
	l.add(`INSERT INTO ks.record SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])`, seqs, at, data)
	return nil
}

func loadDocs(l *loading, rows []transfer.Row, gone [][]byte) error {
	docs, err := each(rows, transfer.Row.Doc)
	if err != nil {
		return err
	}
	goneKinds, goneIDs, err := pairs(gone, transfer.DocKey)
	if err != nil {
		return err
	}
	c := docColumnsOf(docs)
	kinds, ids := append(goneKinds, c.kinds...), append(goneIDs, c.ids...)
	const wanted = `unnest($1::text[], $2::text[]) AS w(kind, id) JOIN ks.kind k ON k.name = w.kind`
	l.add(removing("entry", wanted+` CROSS JOIN LATERAL (SELECT d.kind, d.id, d.entries FROM ks.doc d WHERE d.kind = k.n AND d.id = w.id LIMIT 1) AS d, unnest(d.entries) AS old(name)`,
		`t.kind = d.kind AND t.place = `+placeOf("old.name", "d.id")), kinds, ids)
	l.add(removing("doc", wanted, `t.kind = k.n AND t.id = w.id`), kinds, ids)
	l.add(`INSERT INTO ks.kind (name) SELECT DISTINCT w.name FROM unnest($1::text[]) AS w(name) WHERE NOT EXISTS (SELECT FROM ks.kind k WHERE k.name = w.name) ON CONFLICT DO NOTHING`, c.kinds)
	l.add(`INSERT INTO ks.doc (kind, id, version, ends, entries, data)
		SELECT k.n, w.id, w.version, w.ends,
			coalesce((SELECT array_agg(n.name ORDER BY n.at) FROM unnest($6::integer[], $7::text[]) WITH ORDINALITY AS n(i, name, at) WHERE n.i = w.i), '{}'), w.data
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::bytea[]) WITH ORDINALITY AS w(kind, id, version, ends, data, i) JOIN ks.kind k ON k.name = w.kind`,
		c.kinds, c.ids, c.versions, c.ends, c.data, c.entryOf, c.entries)
	l.add(`INSERT INTO ks.entry (kind, place, id) SELECT k.n, `+placeOf("n.name", "w.id")+`, w.id
		FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(kind, id, i) JOIN unnest($3::integer[], $4::text[]) AS n(i, name) ON n.i = w.i
		JOIN ks.kind k ON k.name = w.kind ON CONFLICT DO NOTHING`, c.kinds, c.ids, c.entryOf, c.entries)
	return nil
}

// placeOf returns where List finds a document by one of its entries.
func placeOf(entry, id string) string {
	return `convert_to(` + entry + `, 'UTF8') || '\x1f'::bytea || convert_to(` + id + `, 'UTF8')`
}

func loadCounters(l *loading, rows []transfer.Row, gone [][]byte) error {
	if len(gone) > 0 {
		return errCountersStay
	}
	for _, row := range rows {
		name, n, err := row.Counter()
		if err != nil {
			return err
		}
		last, err := signed(n)
		if err != nil {
			return err
		}
		switch name {
		case transfer.LastVersion:
			l.add(`SELECT setval('ks.version', greatest($1::bigint, 1), $1::bigint > 0)`, last)
		case transfer.LastRecord:
			l.add(`UPDATE ks.number SET n = $1 WHERE name = 'record'`, last)
		case transfer.LastRevocation:
			l.add(`UPDATE ks.number SET n = $1 WHERE name = 'revocation'`, last)
		}
	}
	return nil
}
