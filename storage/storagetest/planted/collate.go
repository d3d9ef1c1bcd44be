package planted

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/storage/driver"
)

// collations make one text of those that databases take for the same.
var collations = []struct {
	name string
	fold func(string) string
}{
	{"without case", strings.ToLower},
	{"without the blanks behind them", func(s string) string { return strings.TrimRight(s, " ") }},
	{"composed (NFC)", composed.Replace},
	{"decomposed (NFD)", decomposed.Replace},
	{"without accents", func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, decomposed.Replace(s))
	}},
	{"without what has no width", strings.NewReplacer("\u200b", "", "\u200d", "", "\u00ad", "", "\ufeff", "", "\u200f", "",
		"\ufe0f", "").Replace},
	{"without regard to width", func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > 0xff00 && r < 0xff5f {
				return r - 0xfee0
			}
			return r
		}, s)
	}},
}

var (
	composed = strings.NewReplacer("a\u0301", "á", "e\u0301", "é", "a\u030a", "å", "o\u0308", "ö", "\u212b", "Å",
		"\u212a", "K", "\u2126", "Ω", "\u1100\u1161", "가", "か\u3099", "が")
	decomposed = strings.NewReplacer("á", "a\u0301", "é", "e\u0301", "å", "a\u030a", "ö", "o\u0308", "\u212a", "K",
		"\u2126", "Ω", "가", "\u1100\u1161", "が", "か\u3099")
)

// collationBugs compare or order texts as a language does.
func collationBugs() (bugs []bug) {
	const docs, revocations, usage = "texts/documents whose names look alike", "texts/revocations whose names look alike",
		"texts/applications, products and nodes"
	for _, c := range collations {
		for _, p := range []struct {
			of, caught string
			plant      func(*parts)
		}{
			{"ids of documents", docs, foldDocs(func(d *driver.Doc) { d.ID = c.fold(d.ID) })},
			{"kinds of documents", docs, foldDocs(func(d *driver.Doc) { d.Kind = c.fold(d.Kind) })},
			{"entries", docs, foldEntries(c.fold)},
			{"ids of revocations", revocations, foldRevocations(c.fold)},
			{"applications", usage, eachCount(func(n *driver.Count) { n.AppID = c.fold(n.AppID) })},
			{"products", usage, eachCount(func(n *driver.Count) { n.Product = c.fold(n.Product) })},
			{"nodes", usage, counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Node = c.fold(b.Node)
				return counts
			})},
		} {
			bugs = append(bugs, bug{name: p.of + " are found " + c.name, caught: p.caught, plant: p.plant})
		}
	}
	return append(bugs, orderBugs()...)
}

func foldDocs(fold func(*driver.Doc)) func(*parts) {
	return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		docs = slices.Clone(docs)
		for i := range docs {
			fold(&docs[i])
		}
		return right(docs...)
	})
}

// foldEntries finds a document by what its entries are folded to.
func foldEntries(fold func(string) string) func(*parts) {
	return func(b *parts) {
		list := b.list
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			entry, is := strings.CutSuffix(span.From, driver.Separator)
			if !is {
				return list(ctx, kind, span, n)
			}
			all, _, err := list(ctx, kind, driver.Between("\x01", "\xff"), driver.Page)
			all = slices.DeleteFunc(all, func(d driver.Doc) bool { return fold(d.Index[0]) != fold(entry) })
			return all[:min(n, len(all))], "", err
		}
	}
}

func foldRevocations(fold func(string) string) func(*parts) {
	return func(b *parts) {
		judging(func(r driver.Revocation, t driver.Token) bool {
			r.ID, t.Grant, t.AppID, t.UserID = fold(r.ID), fold(t.Grant), fold(t.AppID), fold(t.UserID)
			return r.Covers(t)
		})(b)
	}
}

// letters leaves of a text the part that many languages order by first: neither case, nor accents, nor marks.
func letters(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, decomposed.Replace(s)))
}

func orderBugs() []bug {
	const order = "texts/texts are listed in the order"
	by := func(key func(driver.Doc) string) func(*parts) {
		return sorted(func(a, b driver.Doc) int { return cmp.Compare(key(a), key(b)) })
	}
	ofUsage := func(key func(string) string) func(*parts) {
		return rowsOut(func(rows []driver.Count) []driver.Count {
			slices.SortStableFunc(rows, func(a, b driver.Count) int {
				return cmp.Or(a.At.Compare(b.At), cmp.Compare(key(a.Product), key(b.Product)))
			})
			return rows
		})
	}
	const usage = "texts/applications, products and nodes"
	return []bug{
		{name: "List orders as a dictionary does", caught: order,
			plant: by(func(d driver.Doc) string { return letters(d.ID) })},
		{name: "List orders decomposed", caught: order,
			plant: by(func(d driver.Doc) string { return decomposed.Replace(d.ID) })},
		{name: "List orders small letters before large ones", caught: order, plant: by(func(d driver.Doc) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsUpper(r) {
					return unicode.ToLower(r)*2 + 1
				}
				return r * 2
			}, d.ID)
		})},
		{name: "List orders numbers by their value", caught: order, plant: by(func(d driver.Doc) string {
			var n int
			if _, err := fmt.Sscan(d.ID, &n); err == nil {
				return fmt.Sprintf("%09d", n)
			}
			return d.ID
		})},
		{name: "List orders without blanks in front", caught: order,
			plant: by(func(d driver.Doc) string { return strings.TrimSpace(d.ID) })},
		{name: "List orders by bytes with a sign", caught: order, plant: by(func(d driver.Doc) string {
			signed := []byte(d.ID)
			for i := range signed {
				signed[i] ^= 0x80
			}
			return string(signed)
		})},
		{name: "List orders by length first", caught: order,
			plant: by(func(d driver.Doc) string { return fmt.Sprintf("%05d%s", len(d.ID), d.ID) })},
		{name: "usage orders products as a dictionary does", caught: usage, plant: ofUsage(letters)},
		{name: "usage orders products without case", caught: usage, plant: ofUsage(strings.ToLower)},
		{name: "usage orders products decomposed", caught: usage, plant: ofUsage(decomposed.Replace)},
		{name: "usage orders products backwards", caught: usage, plant: rowsOut(func(rows []driver.Count) []driver.Count {
			slices.SortStableFunc(rows, func(a, b driver.Count) int {
				return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Product, a.Product))
			})
			return rows
		})},
		{name: "a span's end is compared as letters", caught: "List/from counts, to does not",
			plant: listCalled(func(span driver.Span) driver.Span {
				if strings.Contains(span.To, "=") {
					span.To = strings.TrimRight(span.To, "0123456789")
				}
				return span
			})},
		{name: "a span that is no text is refused", caught: "texts/a span may begin and end with bytes",
			plant: spanFails(func(s string) bool { return s != strings.ToValidUTF8(s, "") })},
		{name: "a span with 0x00 is refused", caught: "texts/a span may begin and end with bytes",
			plant: spanFails(func(s string) bool { return strings.Contains(s, "\x00") })},
	}
}

var errBytes = fmt.Errorf("invalid byte sequence for encoding %q at %v", "UTF8", time.Time{})

func spanFails(bad func(string) bool) func(*parts) {
	return func(b *parts) {
		list := b.list
		b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
			if bad(span.From) || bad(span.To) {
				return nil, "", errBytes
			}
			return list(ctx, kind, span, n)
		}
	}
}
