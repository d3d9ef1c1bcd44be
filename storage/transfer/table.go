package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

func (c *copier) walkers(table Table) (source, target *walker) {
	return &walker{adapter: c.from, name: "the source", table: table, n: c.o.PageRows},
		&walker{adapter: c.to, name: "the target", table: table, n: c.o.PageRows}
}

func same(a, b *Row) bool {
	if a == nil || b == nil {
		return a == b
	}
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

// isMark reports whether rows are in the place of the mark, which is written at the end.
func isMark(table Table, a, b *Row) bool {
	r := a
	if r == nil {
		r = b
	}
	return table == Documents && bytes.Equal(r.Key, markKey)
}

// step collects the changes for one Load.
type step struct {
	rows  []Row
	gone  [][]byte
	bytes int
}

// table writes what differs in one table, and returns what the source had.
func (c *copier) table(ctx context.Context, t *TableReport) (Sum, error) {
	source, target := c.walkers(t.Table)
	sum, due, seen := newRowSummer(), step{}, 0
	err := merge(ctx, source, target, func(a, b *Row) error {
		if a != nil {
			seen++
		}
		if isMark(t.Table, a, b) {
			return nil
		}
		if a != nil {
			sum.add(*a)
		}
		switch {
		case same(a, b):
		case a == nil:
			due.gone = append(due.gone, b.Key)
		default:
			due.rows = append(due.rows, *a)
			due.bytes += len(a.Key) + len(a.Value)
		}
		if len(due.rows) < c.o.PageRows && len(due.gone) < c.o.PageRows && due.bytes < PageBytes {
			if seen%c.o.PageRows == 0 {
				c.tell(Progress{Table: t.Table, Rows: seen, Written: t.Written, Removed: t.Removed})
			}
			return nil
		}
		return c.load(ctx, t, &due, seen)
	})
	if err == nil {
		err = c.load(ctx, t, &due, seen)
	}
	return sum.sum(), err
}

func (c *copier) tell(p Progress) {
	if c.o.Progress != nil {
		c.o.Progress(p)
	}
}

func (c *copier) load(ctx context.Context, t *TableReport, due *step, seen int) error {
	if !c.o.DryRun && len(due.rows)+len(due.gone) > 0 {
		if err := c.write(ctx, t.Table, due.rows, due.gone); err != nil {
			return fmt.Errorf("writing %s to the target: %w", t.Table, err)
		}
	}
	t.Written += len(due.rows)
	t.Removed += len(due.gone)
	*due = step{}
	c.tell(Progress{Table: t.Table, Rows: seen, Written: t.Written, Removed: t.Removed})
	return nil
}

// smallStep limits the rows of a Load that is not tried again in two halves.
const smallStep = 128

// write loads rows, and in halves what failed as a whole: a target that is busy may have a limit of
// time for each call, and loading again does no harm.
func (c *copier) write(ctx context.Context, table Table, rows []Row, gone [][]byte) error {
	err := c.to.Load(ctx, table, rows, gone)
	if err == nil || ctx.Err() != nil || errors.Is(err, driver.ErrInvalid) || len(rows)+len(gone) <= smallStep {
		return err
	}
	r, g := len(rows)/2, len(gone)/2
	if err := c.write(ctx, table, rows[:r], gone[:g]); err != nil {
		return err
	}
	return c.write(ctx, table, rows[r:], gone[g:])
}

// verify reads a table on both sides and returns what the target has. The sums of the report are of
// the target as it will be when the features of the source are in the place of the mark.
func (c *copier) verify(ctx context.Context, t *TableReport, features *Row) (Sum, error) {
	source, target := c.walkers(t.Table)
	t.Changed = 0
	holds, there, here := newRowSummer(), newRowSummer(), newRowSummer()
	err := merge(ctx, source, target, func(a, b *Row) error {
		if isMark(t.Table, a, b) {
			var err error
			if a, err = served(a); err != nil {
				return err
			}
			if b = features; b != nil {
				here.add(*b)
			}
		} else if b != nil {
			holds.add(*b)
			here.add(*b)
		}
		if a != nil {
			there.add(*a)
		}
		if !same(a, b) {
			t.Changed++
		}
		if there.rows%c.o.PageRows == 0 {
			c.tell(Progress{Table: t.Table, Verifying: true, Rows: there.rows, Written: t.Written, Removed: t.Removed})
		}
		return nil
	})
	t.Source, t.Target = there.sum(), here.sum()
	if err == nil {
		c.tell(Progress{Table: t.Table, Verifying: true, Rows: there.rows, Written: t.Written, Removed: t.Removed})
	}
	return holds.sum(), err
}
