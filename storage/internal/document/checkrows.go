package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
	"github.com/keystile/keystile/storage/transfer"
)

// rowsRead holds what CheckRows has read.
type rowsRead struct{ rows, unsummed int }

// maxDamaged bounds how many damaged rows are named.
const maxDamaged = 100

// CheckRows reads the tokens and documents of a store that is shared, and compares each with its checksum. It returns
// how many there are, how many documents have no checksum because a version without has written them last, and an error
// for each damaged row that names it, up to a hundred of them. It takes as long as a copy, and fails where the adapter
// has no list of its rows (transfer.Adapter).
func (s *Store) CheckRows(ctx context.Context) (rows, unsummed int, damaged []error, err error) {
	from, ok := driver.As[transfer.Adapter](s.writes.Backend)
	if !ok {
		return 0, 0, nil, fmt.Errorf("%w: its adapter has no list of its rows", ErrInvalid)
	}
	var r rowsRead
	more := 0
	met := func(err error) {
		if len(damaged) < maxDamaged {
			damaged = append(damaged, err)
		} else {
			more++
		}
	}
	for _, table := range []transfer.Table{transfer.Tokens, transfer.Documents} {
		if err := r.table(ctx, from, table, met); err != nil {
			return r.rows, r.unsummed, damaged, Unavailable("read the rows of "+string(table), err)
		}
	}
	if more > 0 {
		damaged = append(damaged, fmt.Errorf("and %d more", more))
	}
	return r.rows, r.unsummed, damaged, nil
}

// table reads one table. A page that fails at a damaged row is read again row by row, and on behind that one.
func (r *rowsRead) table(ctx context.Context, from transfer.Adapter, table transfer.Table, met func(error)) error {
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
			r.rows++
			if table == transfer.Documents {
				if err := r.document(row); err != nil {
					met(err)
				}
			}
		}
		after = rows[len(rows)-1].Key
	}
}

func (r *rowsRead) document(row transfer.Row) error {
	d, err := row.Doc()
	if err != nil {
		return err
	}
	if _, _, form := rowsum.CutText(d.Data, rowsum.Before); form == rowsum.None {
		r.unsummed++
	}
	return openSum(&d)
}
