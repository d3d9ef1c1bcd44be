package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
	"github.com/keystile/keystile/storage/transfer"
)

// RowsRead says what CheckRows has read.
type RowsRead struct {
	Rows     int
	Unsummed int     // documents that have no checksum: a version without has written them last
	Damaged  []error // each names a row; up to a hundred, and then how many more
}

// maxDamaged bounds how many damaged rows are named.
const maxDamaged = 100

// CheckRows reads the tokens and documents of a store that is shared, and compares each with its checksum. It takes as
// long as a copy. It fails where the adapter has no list of its rows (transfer.Adapter).
func (s *Store) CheckRows(ctx context.Context) (r RowsRead, err error) {
	from, ok := adapter[transfer.Adapter](s.writes.Backend)
	if !ok {
		return r, fmt.Errorf("%w: its adapter has no list of its rows", ErrInvalid)
	}
	more := 0
	met := func(err error) {
		if len(r.Damaged) < maxDamaged {
			r.Damaged = append(r.Damaged, err)
		} else {
			more++
		}
	}
	for _, table := range []transfer.Table{transfer.Tokens, transfer.Documents} {
		if err := r.table(ctx, from, table, met); err != nil {
			return r, unavailable("read the rows of "+string(table), err)
		}
	}
	if more > 0 {
		r.Damaged = append(r.Damaged, fmt.Errorf("and %d more", more))
	}
	return r, nil
}

// table reads one table. A page that fails at a damaged row is read again row by row, and on behind that one.
func (r *RowsRead) table(ctx context.Context, from transfer.Adapter, table transfer.Table, met func(error)) error {
	var after []byte
	for n := transfer.PageRows; ; {
		rows, err := from.Rows(ctx, table, after, n)
		var row driver.Damaged
		var keyed interface{ RowKey() []byte }
		switch {
		case errors.As(err, &row) && n > 1:
			n = 1
			continue
		case errors.As(err, &row):
			met(err)
			if errors.As(err, &keyed) {
				after, n = keyed.RowKey(), transfer.PageRows
				continue
			}
			return fmt.Errorf("what is behind it was not read: %w", err)
		case err != nil:
			return err
		case len(rows) == 0:
			return nil
		}
		for _, row := range rows {
			r.Rows++
			if table == transfer.Documents {
				if err := r.document(row); err != nil {
					met(err)
				}
			}
		}
		after = rows[len(rows)-1].Key
	}
}

func (r *RowsRead) document(row transfer.Row) error {
	d, err := row.Doc()
	if err != nil {
		return err
	}
	if _, _, form := rowsum.CutText(d.Data, rowsum.Before); form == rowsum.None {
		r.Unsummed++
	}
	return openSum(&d)
}
