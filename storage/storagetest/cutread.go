package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// cutReads catches who takes the end of a broken answer for the end of the rows.
func cutReads(t testing.TB, b driver.Backend) {
	const n = 200
	x := token("a")
	issue(t, b, x)
	var docs []driver.Doc
	var rs []driver.Revocation
	var counts []driver.Count
	for i := range n {
		if docs = append(docs, doc(fmt.Sprintf("%03d", i), "all")); len(docs) == driver.MaxPut {
			put(t, b, docs...)
			docs = nil
		}
		rs, counts = append(rs, grantEnd(fmt.Sprint(i))), append(counts, calls(fmt.Sprint(i), at(0), 10))
		record(t, b, "a", "b")
	}
	revoke(t, b, rs...)
	count(t, b, "node", 1, counts...)
	of := func(call string, err error, found, all int) error {
		if err == nil && found != all {
			t.Errorf("%s, canceled, answers nil and %d of %d", call, found, all)
		}
		return err
	}
	for round := range rounds {
		for _, call := range []func(ctx context.Context) error{
			func(ctx context.Context) error {
				got, err := b.Token(ctx, x.Key)
				return of("Token", err, len(got.Grant), len(x.Grant))
			},
			func(ctx context.Context) error {
				d, err := b.Get(ctx, "thing", "007")
				return of("Get", err, len(d.Data), len("data of 007"))
			},
			func(ctx context.Context) error {
				page, _, err := b.List(ctx, "thing", driver.Is("all"), driver.Page)
				return of("List", err, len(page), n)
			},
			func(ctx context.Context) error {
				page, err := b.Records(ctx, 0, driver.Page)
				return of("Records", err, len(page), 2*n)
			},
			func(ctx context.Context) error {
				page, err := b.Revocations(ctx, 0, driver.Page)
				return of("Revocations", err, len(page), n)
			},
			func(ctx context.Context) error {
				rows, err := b.Usage(ctx, hours("app"))
				return of("Usage", err, len(rows), n)
			},
		} {
			cut(t, round, call)
		}
	}
}

func cutBeside(t testing.TB, b driver.Backend) {
	for round := range rounds / 2 {
		ctx, cancel := context.WithCancel(t.Context())
		together(17, func(i int) error {
			if i == 16 {
				cancel()
				return nil
			}
			mine, id := t.Context(), fmt.Sprint(round, " ", i)
			if i%2 == 1 {
				mine = ctx
			}
			_, err := b.Put(mine, doc(id, "all"))
			if i%2 == 0 || err != nil && !errors.Is(err, context.Canceled) {
				if err != nil {
					t.Errorf("Put(document) beside canceled ones = %v", err)
				}
			}
			return err
		})
		cancel()
		for i := 0; i < 16; i += 2 {
			get(t, b, fmt.Sprint(round, " ", i))
		}
	}
}
