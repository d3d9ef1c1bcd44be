package planted

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf16"

	"github.com/keystile/keystile/storage/driver"
)

// listCalled changes the arguments of List, listOut its answer.
func listCalled(edit func(driver.Span) driver.Span) func(*parts) {
	return func(b *parts) {
		list := b.list
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			return list(ctx, kind, edit(span), n)
		}
	}
}

func listOut(change func(b *parts, kind string, span driver.Span, n int, docs []driver.Doc,
	next string) ([]driver.Doc, string)) func(*parts) {
	return func(b *parts) {
		list := b.list
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			docs, next, err := list(ctx, kind, span, n)
			docs, next = change(b, kind, span, n, docs, next)
			return docs, next, err
		}
	}
}

func sorted(order func(a, b driver.Doc) int) func(*parts) {
	return listOut(func(_ *parts, _ string, _ driver.Span, _ int, docs []driver.Doc, next string) ([]driver.Doc, string) {
		slices.SortStableFunc(docs, order)
		return docs, next
	})
}

func place(d driver.Doc) string { return d.Index[0] + driver.Separator + d.ID }

func listBugs() []bug {
	const order = "List/the order is by bytes"
	return []bug{
		{name: "List is in the order of ids", caught: order,
			plant: sorted(func(a, b driver.Doc) int { return cmp.Compare(a.ID, b.ID) })},
		{name: "List is in the order of letters", caught: order, plant: sorted(func(a, b driver.Doc) int {
			return cmp.Compare(strings.ToLower(place(a)), strings.ToLower(place(b)))
		})},
		{name: "List is in the order of UTF-16", caught: order, plant: sorted(func(a, b driver.Doc) int {
			return slices.Compare(utf16.Encode([]rune(place(a))), utf16.Encode([]rune(place(b))))
		})},
		{name: "List matches a prefix", caught: "List/an entry does not find its neighbours",
			plant: listCalled(func(span driver.Span) driver.Span {
				if entry, is := strings.CutSuffix(span.From, driver.Separator); is {
					return driver.Between(entry, entry+"\xff")
				}
				return span
			})},
		{name: "List counts the end of a span in", caught: "List/from counts, to does not",
			plant: listCalled(func(span driver.Span) driver.Span {
				span.To += driver.Separator + "\xff"
				return span
			})},
		{name: "List leaves the start of a span out", caught: "List/from counts, to does not",
			plant: listCalled(func(span driver.Span) driver.Span {
				if !strings.Contains(span.From, driver.Separator) {
					span.From += driver.Separator + "\xff"
				}
				return span
			})},
		{name: "an empty end is no end", caught: "List/an empty or a reversed span",
			plant: listCalled(func(span driver.Span) driver.Span {
				span.To = cmp.Or(span.To, "\xff")
				return span
			})},
		{name: "List mixes kinds", caught: "List/kinds do not mix",
			plant: listOut(func(b *parts, kind string, span driver.Span, n int, docs []driver.Doc,
				next string) ([]driver.Doc, string) {
				if kind == "thing" {
					more, _, _ := b.list(context.Background(), "thing2", span, n)
					return append(docs, more...), next
				}
				return docs, next
			})},
		{name: "List shows a document once", caught: "List/a document is listed once for each",
			plant: listOut(func(_ *parts, _ string, _ driver.Span, _ int, docs []driver.Doc,
				next string) ([]driver.Doc, string) {
				seen := map[string]bool{}
				return slices.DeleteFunc(docs, func(d driver.Doc) bool { defer func() { seen[d.ID] = true }(); return seen[d.ID] }),
					next
			})},
		{name: "List shows half a Put", caught: "List/a page never shows half a Put", plant: halfPut},
	}
}

// halfPut takes the first document of a Put away for a moment.
func halfPut(b *parts) {
	var away atomic.Value
	var readers looks
	put, list := b.put, b.list
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		away.Store(docs[0].ID)
		readers.awaitOne()
		defer away.Store("")
		return put(ctx, docs...)
	}
	b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
		defer readers.one()
		docs, next, err := list(ctx, kind, span, n)
		return slices.DeleteFunc(docs, func(d driver.Doc) bool { return d.ID == away.Load() }), next, err
	}
}
