package planted

import (
	"bytes"
	"context"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

func copyBugs() []bug {
	const in, out = "copies/documents that were handed in", "copies/documents that were handed out"
	return []bug{
		{name: "Put keeps the caller's Data", caught: in, plant: sharing(func(d driver.Doc) driver.Doc {
			d.Index = slices.Clone(d.Index)
			return d
		})},
		{name: "Put keeps the caller's Index", caught: in, plant: sharing(func(d driver.Doc) driver.Doc {
			d.Data = slices.Clone(d.Data)
			return d
		})},
		{name: "Get hands out the store's Data and Index", caught: out, plant: sharing(func(d driver.Doc) driver.Doc {
			d.Data, d.Index = slices.Clone(d.Data), slices.Clone(d.Index)
			return d
		})},
		{name: "List hands one document out twice", caught: out, plant: func(b *parts) {
			list := b.list
			b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
				docs, next, err := list(ctx, kind, span, n)
				for i := range docs {
					docs[i].Data = docs[0].Data
				}
				return docs, next, err
			}
		}},
		{name: "Records hands out the store's Data", caught: "copies/records that were handed in or out",
			plant: sharingRecords(bytes.Clone)},
		{name: "Append keeps the caller's Data", caught: "copies/records that were handed in or out",
			plant: sharingRecords(func(data []byte) []byte { return data })},
	}
}

// sharing hands out again and again what keep made of a document at its Put.
func sharing(keep func(driver.Doc) driver.Doc) func(*parts) {
	return func(b *parts) {
		kept := map[string]driver.Doc{}
		put, get := b.put, b.get
		b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
			for _, d := range docs {
				kept[d.ID] = keep(d)
			}
			return put(ctx, docs...)
		}
		b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
			d, err := get(ctx, kind, id)
			d.Data, d.Index = kept[id].Data, kept[id].Index
			return d, err
		}
	}
}

func sharingRecords(keep func([]byte) []byte) func(*parts) {
	return func(b *parts) {
		var kept [][]byte
		add, records := b.append, b.records
		b.append = func(ctx context.Context, rs ...driver.Record) error {
			for _, r := range rs {
				kept = append(kept, keep(r.Data))
			}
			return add(ctx, rs...)
		}
		b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
			page, err := records(ctx, after, n)
			for i, r := range page {
				page[i].Data = kept[r.Seq-1]
			}
			return page, err
		}
	}
}
