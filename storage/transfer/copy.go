package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

var (
	// ErrUnable: an adapter has no Rows and Load.
	ErrUnable = errors.New("its adapter cannot be copied")
	// ErrNotEmpty: the target holds something, and is no copy that this run could go on with.
	ErrNotEmpty = errors.New("the target is not empty")
	// ErrChanged: the source was written to while it was copied. The rows that were copied stay,
	// and the next run is short.
	ErrChanged = errors.New("the source changed while it was copied")
	// ErrDiffers: the target does not hold what was written to it.
	ErrDiffers = errors.New("the target does not hold what was written to it")
)

// Copy makes the target equal to the source, verifies that it is, and takes the mark away that
// kept the target from being served. It may be stopped at any time, by ctx or by a kill; the next
// run goes on where the stores differ.
//
// The target must be empty, or a copy of the same store that was begun before and is not finished.
// Nobody else may write to it; that nobody writes to the source any more is the caller's to see
// to, or to tell by Options.Live, and Options.Leave marks the source so that nobody does it by mistake.
//
// The Report is also returned with an error, as far as it got.
func Copy(ctx context.Context, source, target driver.Backend, o Options) (Report, error) {
	c, err := newCopier(source, target, o)
	if err != nil {
		return Report{}, err
	}
	if err := c.begin(ctx); err != nil {
		return Report{}, err
	}
	for range attempts {
		if err = c.run(ctx); !errors.Is(err, ErrDiffers) {
			break
		}
	}
	return c.report, err
}

// attempts bound how often the target is compared anew. A row that had to give way to another one,
// as a revocation does to the one whose Seq it has, is written in the second.
const attempts = 3

type copier struct {
	source, target driver.Backend
	from, to       Adapter
	o              Options
	report         Report
}

func newCopier(source, target driver.Backend, o Options) (*copier, error) {
	c := &copier{source: source, target: target, o: o}
	var ok bool
	if c.from, ok = source.(Adapter); !ok {
		return nil, fmt.Errorf("the source: %w: %T does not implement transfer.Adapter", ErrUnable, source)
	}
	if c.to, ok = target.(Adapter); !ok {
		return nil, fmt.Errorf("the target: %w: %T does not implement transfer.Adapter", ErrUnable, target)
	}
	if c.o.PageRows < 1 || c.o.PageRows > PageRows {
		c.o.PageRows = PageRows
	}
	for _, table := range Tables() {
		c.report.Tables = append(c.report.Tables, TableReport{Table: table})
	}
	return c, nil
}

// begin looks whether these two may be copied, and marks the target.
func (c *copier) begin(ctx context.Context) error {
	if mark, err := ReadMark(ctx, c.source); err != nil || mark != nil {
		if err == nil {
			err = mark.Err()
		}
		return fmt.Errorf("the source: %w", err)
	}
	store, err := identity(ctx, c.source)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	mark, err := ReadMark(ctx, c.target)
	switch {
	case err != nil:
		return fmt.Errorf("the target: %w", err)
	case mark != nil && mark.Store != store:
		return fmt.Errorf("%w: it is an unfinished copy of another store (%s, begun at %s), or the master key has changed "+
			"since; empty it, or choose another target", ErrNotEmpty, mark.Source, mark.BegunAt.Format(time.RFC3339))
	case mark == nil:
		if err := c.free(ctx, store); err != nil {
			return err
		}
	}
	if c.o.DryRun || mark != nil {
		return nil
	}
	row, err := Mark{Store: store, Source: c.o.Source, BegunAt: time.Now().UTC().Truncate(time.Second)}.row()
	if err == nil {
		err = c.to.Load(ctx, Documents, []Row{row}, nil)
	}
	if err != nil {
		return fmt.Errorf("marking the target: %w", err)
	}
	return nil
}

// free fails unless the target is empty, or is the store that moved to the source and the caller says that it may be
// written over.
func (c *copier) free(ctx context.Context, store string) error {
	move, err := ReadMove(ctx, c.target)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	if move == nil {
		return c.empty(ctx)
	}
	is, err := identity(ctx, c.target)
	switch {
	case err != nil:
		return fmt.Errorf("the target: %w", err)
	case is != store:
		return fmt.Errorf("%w: it is another store, which has moved to %s", ErrNotEmpty, move.To)
	case !c.o.Back:
		return fmt.Errorf("%w: it is this store as it was when it moved to %s at %s; to write over it with what is there "+
			"now, give --back", ErrNotEmpty, move.To, move.At.Format(time.RFC3339))
	}
	return nil
}

// empty fails unless the target has no rows and has given no number.
func (c *copier) empty(ctx context.Context) error {
	for _, table := range Tables() {
		rows, err := c.to.Rows(ctx, table, nil, len(CounterNames()))
		if err != nil {
			return fmt.Errorf("the target: %w", err)
		}
		used := len(rows)
		if table == Counters {
			used = 0
			for _, r := range rows {
				if _, last, err := r.Counter(); err != nil || last > 0 {
					used++
				}
			}
		}
		if used > 0 {
			return fmt.Errorf("%w: it has rows in the table %s, and is no copy that was begun and not finished; a copy that "+
				"is finished is a store of its own. Empty it, or choose another target; nothing was changed", ErrNotEmpty, table)
		}
	}
	return nil
}

// run makes the target equal once, and verifies it.
func (c *copier) run(ctx context.Context) error {
	c.report.Verified = false
	written := map[Table]Sum{}
	for i := range c.report.Tables {
		sum, err := c.table(ctx, &c.report.Tables[i])
		if err != nil {
			return err
		}
		written[c.report.Tables[i].Table] = sum
	}
	if c.o.DryRun {
		return nil
	}
	features, err := featuresOf(ctx, c.source)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	changed := 0
	for i := range c.report.Tables {
		t := &c.report.Tables[i]
		holds, err := c.verify(ctx, t, features)
		if err != nil {
			return err
		}
		if holds != written[t.Table] {
			return fmt.Errorf("%w: the table %s has %d rows where %d were written; see that nobody else writes to it, and run "+
				"the copy again", ErrDiffers, t.Table, holds.Rows, written[t.Table].Rows)
		}
		changed += t.Changed
	}
	if changed == 0 {
		if changed, err = c.moved(ctx); err != nil {
			return err
		}
	}
	c.report.Verified = changed == 0
	switch {
	case c.o.Live:
		return nil
	case changed > 0:
		return fmt.Errorf("%w: %d rows differ by now; stop the server that writes to it and run the copy again, which is "+
			"short", ErrChanged, changed)
	}
	if c.o.Leave != nil {
		if err := c.o.Leave(ctx); err != nil {
			return fmt.Errorf("marking the source as moved: %w", err)
		}
	}
	return c.finish(ctx, features)
}

// moved returns how many counters the source has moved on since they were compared: what was
// written behind the second reading has left its number there. (A token or a usage row has none,
// but no server works for long without a record.)
func (c *copier) moved(ctx context.Context) (int, error) {
	rows, err := c.from.Rows(ctx, Counters, nil, PageRows)
	if err != nil {
		return 0, fmt.Errorf("the source: %w", err)
	}
	now := newRowSummer()
	for _, r := range rows {
		now.add(r)
	}
	t := &c.report.Tables[0]
	if now.sum() != t.Source {
		t.Changed++
	}
	return t.Changed, nil
}

// finish puts the source's list of features in the place of the mark.
func (c *copier) finish(ctx context.Context, features *Row) error {
	rows, gone := []Row(nil), [][]byte{markKey}
	if features != nil {
		rows, gone = []Row{*features}, nil
	}
	if err := c.to.Load(ctx, Documents, rows, gone); err != nil {
		return fmt.Errorf("taking the mark from the target: %w", err)
	}
	got, err := featuresOf(ctx, c.target)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	if !same(got, features) {
		return fmt.Errorf("%w: its list of features is another one", ErrDiffers)
	}
	c.report.Finished = true
	return nil
}
