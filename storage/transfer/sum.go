package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Sum stands for the rows of a table: equal tables have equal sums, on every adapter.
type Sum struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

// rowSummer makes a Sum of rows in the order of their keys.
type rowSummer struct {
	rows int
	hash hash.Hash
}

func newRowSummer() *rowSummer { return &rowSummer{hash: sha256.New()} }

func (s *rowSummer) add(r Row) {
	s.rows++
	for _, part := range [][]byte{r.Key, r.Value} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		s.hash.Write(size[:])
		s.hash.Write(part)
	}
}

func (s *rowSummer) sum() Sum { return Sum{s.rows, hex.EncodeToString(s.hash.Sum(nil))} }

// walker reads a table row by row, holding one page.
type walker struct {
	adapter Adapter
	name    string // of the side, for errors
	table   Table
	n       int
	page    []Row
	after   []byte
	ended   bool
}

// row returns the current row, nil behind the last.
func (w *walker) row(ctx context.Context) (*Row, error) {
	if len(w.page) == 0 && !w.ended {
		if err := w.fill(ctx); err != nil {
			return nil, fmt.Errorf("reading %s from %s: %w", w.table, w.name, err)
		}
	}
	if w.ended {
		return nil, nil
	}
	return &w.page[0], nil
}

func (w *walker) next() { w.page = w.page[1:] }

// fill reads the next page. Rows that are not in order would make two stores look different
// that are not, or keep a walk from ending.
func (w *walker) fill(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.page, err = w.adapter.Rows(ctx, w.table, w.after, w.n)
	if err != nil {
		return err
	}
	for i, r := range w.page {
		if (w.after != nil || i > 0) && bytes.Compare(w.after, r.Key) >= 0 {
			return fmt.Errorf("the adapter lists the key %x behind %x, which is a mistake in it: keys ascend by their bytes",
				r.Key, w.after)
		}
		w.after = r.Key
	}
	w.ended = len(w.page) == 0
	return nil
}

// merge walks a table of two stores and calls visit with the two rows of each key; one of them is
// nil where the store has none.
func merge(ctx context.Context, a, b *walker, visit func(a, b *Row) error) error {
	for {
		x, err := a.row(ctx)
		if err != nil {
			return err
		}
		y, err := b.row(ctx)
		if err != nil {
			return err
		}
		order := 0
		switch {
		case x == nil && y == nil:
			return nil
		case x == nil:
			order = 1
		case y == nil:
			order = -1
		default:
			order = bytes.Compare(x.Key, y.Key)
		}
		if order > 0 {
			x = nil
		}
		if order < 0 {
			y = nil
		}
		if err := visit(x, y); err != nil {
			return err
		}
		if x != nil {
			a.next()
		}
		if y != nil {
			b.next()
		}
	}
}
