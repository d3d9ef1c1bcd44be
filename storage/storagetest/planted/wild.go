package planted

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// like matches as LIKE does in SQL.
func like(pattern, text string) bool {
	pattern = regexp.QuoteMeta(pattern)
	pattern = strings.NewReplacer("%", "(?s:.*)", "_", "(?s:.)").Replace(pattern)
	is, _ := regexp.MatchString("^"+pattern+"$", text)
	return is
}

// wildBugs read a text as a pattern, or a place as a number of rows.
func wildBugs() []bug {
	const wild = "texts/a wildcard, a quote"
	return []bug{
		{name: "List finds entries by LIKE", caught: wild, plant: listLike(like)},
		{name: "List finds entries by a glob", caught: wild, plant: listLike(func(pattern, text string) bool {
			return like(strings.NewReplacer("*", "%", "?", "_").Replace(pattern), text)
		})},
		{name: "List finds entries by a regular expression", caught: wild, plant: listLike(func(pattern, text string) bool {
			is, err := regexp.MatchString("^"+pattern+"$", text)
			return is || err != nil && pattern == text
		})},
		{name: "usage finds products by LIKE", caught: wild, plant: func(b *parts) {
			usage := b.usage
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				pattern := q.Product
				q.Product = ""
				rows, err := usage(ctx, q)
				return slices.DeleteFunc(rows, func(c driver.Count) bool { return pattern != "" && !like(pattern, c.Product) }), err
			}
		}},
		{name: "Exchange finds revocations by LIKE", caught: wild,
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeGrant && like(r.ID, t.Grant)
			})},
		{name: "a backslash escapes what is behind it", caught: wild, plant: foldDocs(func(d *driver.Doc) {
			if len(d.ID) > 1 {
				d.ID = strings.Replace(d.ID, `\`, "", 1)
			}
		})},
		{name: "a quote ends a text", caught: wild, plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				for _, d := range docs {
					if strings.Count(d.ID, "'")%2 == 1 {
						return 0, errors.New("unterminated quoted string")
					}
				}
				return right(docs...)
			})},
		{name: "a text NULL is no text", caught: wild, plant: foldEntriesOut("NULL")},
		{name: "the application without a name is all of them", caught: "nothing/usage of the application without a name",
			plant: func(b *parts) {
				usage := b.usage
				b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
					rows, err := usage(ctx, q)
					if q.AppID == "" {
						q.AppID = "app"
						more, _ := usage(ctx, q)
						rows = append(rows, more...)
					}
					return rows, err
				}
			}},
		{name: "a page of documents begins so many rows on", caught: "List pages/a walk misses nothing", plant: offsets},
		{name: "a page of the feed begins so many rows on", caught: "Revocations/a joined revocation leaves its old Seq",
			plant: func(b *parts) {
				revocations := b.revocations
				b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
					all, err := revocations(ctx, 0, driver.Page)
					rest := all[min(after, uint64(len(all))):]
					return rest[:min(n, len(rest))], err
				}
			}},
		{name: "a page of the trail begins so many rows on", caught: "Prune/the oldest records go", plant: func(b *parts) {
			records := b.records
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				all, err := records(ctx, 0, driver.Page)
				rest := all[min(after, uint64(len(all))):]
				return rest[:min(n, len(rest))], err
			}
		}},
		{name: "gaps between Seqs are counted as records", caught: "Prune/about n go in one call", plant: func(b *parts) {
			prune, last := b.prune, uint64(0)
			b.prune = func(ctx context.Context, through uint64, n int) (int, error) {
				_, err := prune(ctx, through, n)
				removed := int(min(through-last, uint64(n)))
				last += uint64(removed)
				return removed + removed/7, err
			}
		}},
	}
}

// listLike finds what has exactly an entry by a pattern.
func listLike(matches func(pattern, text string) bool) func(*parts) {
	return func(b *parts) {
		list := b.list
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			entry, is := strings.CutSuffix(span.From, driver.Separator)
			if !is {
				return list(ctx, kind, span, n)
			}
			all, _, err := list(ctx, kind, driver.Between("\x01", "\xff"), driver.Page)
			all = slices.DeleteFunc(all, func(d driver.Doc) bool { return !matches(entry, d.Index[0]) })
			return all[:min(n, len(all))], "", err
		}
	}
}

func foldEntriesOut(entry string) func(*parts) {
	return foldDocs(func(d *driver.Doc) {
		d.Index = slices.DeleteFunc(slices.Clone(d.Index), func(e string) bool { return e == entry })
	})
}

// offsets goes on at a number of rows, not at a place.
func offsets(b *parts) {
	list, spans := b.list, map[string]driver.Span{}
	b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
		skip, from := 0, span.From
		if first, is := spans[from]; is {
			fmt.Sscanf(from, "row %d", &skip)
			span = first
		}
		all, _, err := list(ctx, kind, span, driver.Page)
		all = all[min(skip, len(all)):]
		if len(all) <= n {
			return all, "", err
		}
		next := fmt.Sprintf("row %d", skip+n)
		spans[next] = span
		return all[:n], next, err
	}
}
