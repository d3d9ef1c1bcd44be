package document

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// sums gives the documents of an adapter that keeps no checksums of its own one each, inside their Data, and checks
// that of each document which has one. It covers kind, id, end, index entries and data: not the version, which the
// adapter gives. A copy of a store brings it along.
//
// It stands behind the JSON of a document, as 32 blanks and tabs: so every adapter has it for nothing, and
// versions before read past it. A damaged document is an ErrUnavailable that is a driver.Damaged. Data that is
// no JSON has none: the mark of the master key, which is sealed and does not open if it is damaged, and the
// index of the trail, whose finds are compared with their records.
type sums struct {
	driver.Backend
	own bool // the adapter's rows have checksums
}

func newSums(b driver.Backend) sums {
	_, own := driver.As[driver.Summed](b)
	return sums{b, own}
}

// Unwrap lets the store see what the adapter can do besides.
func (s sums) Unwrap() driver.Backend { return s.Backend }

func (s sums) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	d, err := s.Backend.Get(ctx, kind, id)
	if err == nil {
		err = openSum(&d)
	}
	if err != nil {
		return driver.Doc{}, err
	}
	return d, nil
}

func (s sums) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	docs, next, err := s.Backend.List(ctx, kind, span, n)
	if err == nil {
		err = openSums(docs)
	}
	if err != nil {
		return nil, "", err
	}
	return docs, next, nil
}

func (s sums) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if !s.own {
		docs = slices.Clone(docs)
		for i, d := range docs {
			if n := len(d.Data); n > 1 && n+rowsum.TextSize <= driver.MaxData && d.Data[0] == '{' && d.Data[n-1] == '}' {
				docs[i].Data = rowsum.AppendText(slices.Grow(slices.Clip(d.Data), rowsum.TextSize), sumOf(d), rowsum.Before)
			}
		}
	}
	return s.Backend.Put(ctx, docs...)
}

func openSums(docs []driver.Doc) error {
	for i := range docs {
		if err := openSum(&docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// openSum takes the checksum from a document, if it has one, and fails if it is not the document's.
func openSum(d *driver.Doc) error {
	body, sum, form := rowsum.CutText(d.Data, rowsum.Before)
	if form == rowsum.None {
		return nil
	}
	whole := *d
	whole.Data = body
	if form != rowsum.Whole || sum != sumOf(whole) {
		return &damagedDoc{d.Kind, d.ID}
	}
	d.Data = body
	return nil
}

func sumOf(d driver.Doc) uint32 {
	head := append(append(append(make([]byte, 0, 256), d.Kind...), 0), d.ID...)
	head = binary.BigEndian.AppendUint64(append(head, 0), uint64(d.ExpiresAt.Unix()))
	head = binary.BigEndian.AppendUint32(head, uint32(d.ExpiresAt.Nanosecond()))
	index := d.Index
	if !slices.IsSorted(index) {
		index = slices.Sorted(slices.Values(index))
	}
	for _, entry := range index {
		head = append(append(head, entry...), 0)
	}
	return rowsum.Of(rowsum.Of(0, head), d.Data)
}

// damagedDoc is a driver.Damaged.
type damagedDoc struct{ kind, id string }

// Damaged returns which document it is.
func (d *damagedDoc) Damaged() (table, key string) {
	return "documents", fmt.Sprintf("%s %q", d.kind, d.id)
}

func (d *damagedDoc) Error() string {
	return fmt.Sprintf("%s %q is damaged: it is not what was written. "+
		"Neither it nor an answer without it is served; everything else is. "+
		"Let keystile storage check name all damaged rows, and bring them back from a backup of the database", d.kind, d.id)
}
