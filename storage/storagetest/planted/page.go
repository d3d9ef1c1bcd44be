package planted

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

func pageBugs() []bug {
	const cover = "List pages/pages of every size"
	nextIs := func(change func(docs []driver.Doc, n int, next string) string) func(*parts) {
		return listOut(func(_ *parts, _ string, _ driver.Span, n int, docs []driver.Doc, next string) ([]driver.Doc, string) {
			return docs, change(docs, n, next)
		})
	}
	return []bug{
		{name: "the next page repeats the last document", caught: cover,
			plant: nextIs(func(docs []driver.Doc, _ int, next string) string {
				if next == "" || len(docs) < 2 {
					return next
				}
				return place(docs[len(docs)-1])
			})},
		{name: "the next page skips a document", caught: cover,
			plant: nextIs(func(_ []driver.Doc, _ int, next string) string {
				if next == "" {
					return next
				}
				return next + "\x00"
			})},
		{name: "a page holds one more than n", caught: cover, plant: func(b *parts) {
			list := b.list
			b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
				return list(ctx, kind, span, n+1)
			}
		}},
		{name: "there is a next for ever", caught: cover,
			plant: listOut(func(_ *parts, _ string, span driver.Span, _ int, docs []driver.Doc,
				next string) ([]driver.Doc, string) {
				return docs, cmp.Or(next, span.To)
			})},
		{name: "there is a next behind a full page", caught: "List pages/the page that ends the span has no next",
			plant: nextIs(func(docs []driver.Doc, n int, next string) string {
				if next == "" && len(docs) == n {
					return place(docs[n-1]) + "\x00"
				}
				return next
			})},
		{name: "a walk finds its place by the document it stopped at", caught: "List pages/a walk goes on when the document",
			plant: func(b *parts) {
				list := b.list
				b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
					_, id, _ := strings.Cut(span.From, driver.Separator)
					if _, err := b.get(ctx, kind, id); id != "" && err != nil {
						return nil, "", nil
					}
					return list(ctx, kind, span, n)
				}
			}},
	}
}

func indexBugs() []bug {
	return []bug{
		{name: "a replaced document stays under its old entries", caught: "List/a replaced document leaves", plant: putting(
			func(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				for i, d := range docs {
					old, _ := b.get(ctx, d.Kind, d.ID)
					docs[i].Index = slices.Concat(d.Index, old.Index)
				}
				return right(docs...)
			})},
		{name: "a refused Put leaves its entries", caught: "Put refuses/replacing a version that is no more",
			plant: ghosts(func(put error) bool { return put != nil })},
		{name: "a removed document stays under its entries", caught: "List/a removed document leaves",
			plant: ghosts(func(put error) bool { return put == nil })},
		{name: "a swept document stays under its entries", caught: "Sweep/what ends is there to the last",
			plant: ghosts(func(put error) bool { return put == nil })},
	}
}

// ghosts lists documents that are not there as they were put.
func ghosts(haunt func(put error) bool) func(*parts) {
	return func(b *parts) {
		var mu sync.Mutex
		var all []driver.Doc
		put, list := b.put, b.list
		b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
			version, err := put(ctx, docs...)
			mu.Lock()
			defer mu.Unlock()
			if haunt(err) {
				all = append(all, docs...)
			}
			return version, err
		}
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			docs, next, err := list(ctx, kind, span, n)
			mu.Lock()
			defer mu.Unlock()
			for _, d := range all {
				stored, _ := b.get(ctx, kind, d.ID)
				for _, entry := range d.Index {
					if !slices.Contains(stored.Index, entry) && span.From <= entry+driver.Separator && entry < span.To {
						docs = append(docs, d)
					}
				}
			}
			return docs, next, err
		}
	}
}
