package storagetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// texts are promises about what databases like to be clever about: an order of letters, what
// is the same letter, blanks, wildcards, the length of a key.
func texts() []promise {
	return []promise{
		{name: "texts are listed in the order of their bytes, whatever a language says", test: orderOfBytes},
		{name: "documents whose names look alike are different", test: alikeDocs},
		{name: "revocations whose names look alike are different, and end no other's tokens", test: alikeRevocations},
		{name: "applications, products and nodes whose names look alike are different", test: alikeUsage},
		{name: "a wildcard, a quote or a backslash stands for itself", test: wildcards},
		{name: "a span may begin and end with bytes that are no text", test: anyBytes},
		{name: "a kind, an id and entries of 1,024 bytes at once are listed, page by page, and removed", test: longNames},
		{name: "other names may have 1,024 bytes too", test: longOthers},
	}
}

// traps are different texts that some order, some comparison or some normal form of Unicode
// takes for one another.
func traps() []string {
	return []string{
		"a", "A", "a ", "a  ", " a", "aa", "AA", "Aa", "aA", "a\x01", "a\x7f", "a!", "a-a", "a_a", "aa-", "-aa", "a.a", "a'a",
		"a\ta",
		"á", "a\u0301", "à", "ä", "Ä", "ae", "æ", "Æ", "å", "a\u030a", "\u212b", "ａ", "Ａ", // composed, decomposed, wide
		"e", "é", "e\u0301", "E", "ê", "ß", "ss", "SS", "ẞ", "ſ", "s", "S", "i", "I", "İ", "ı", "ﬁ", "fi",
		"1", "01", "10", "2", "9", "１", "①", "²", "Ⅸ", "٣",
		"o", "ö", "o\u0308", "ø", "z", "Z", "z\u0335", "ž", "þ", "th",
		"\u200ba", "a\u200b", "a\u200d", "a\u00ad", "a\u00a0", "a\u3000", "\ufeffa", "a\ufe0f", "\u200fa",
		"K", "\u212a", "k", "Ω", "\u2126", "ω", "σ", "ς", "Σ", "µ", "μ",
		"가", "\u1100\u1161", "が", "か\u3099", "カ", "ｶ", "か",
		"中", "丶", "\U00020000", "\uffee", "\ufffd", "𐍈", "\U0010ffff", "😀", "😀\ufe0f", "\ue000", "\ud7ff",
	}
}

// shuffled is the same texts in an order that is neither that of bytes nor that of letters.
func shuffled(texts []string) []string {
	var out []string
	for i := range texts {
		out = append(out, texts[i*37%len(texts)])
	}
	return out
}

func orderOfBytes(t testing.TB, b driver.Backend) {
	all := traps()
	slices.Sort(all)
	if all = slices.Compact(all); len(all)%37 == 0 {
		t.Fatalf("%d traps are not shuffled by 37", len(all))
	}
	var docs []driver.Doc
	for _, text := range shuffled(all) {
		docs = append(docs, driver.Doc{Kind: "by id", ID: text, Index: []string{"all"}},
			driver.Doc{Kind: "by entry", ID: text, Index: []string{text}})
	}
	for part := range slices.Chunk(docs, driver.MaxPut) {
		put(t, b, part...)
	}
	byPlace := slices.Clone(all)
	slices.SortFunc(byPlace, func(x, y string) int {
		return cmp.Compare(x+driver.Separator+x, y+driver.Separator+y)
	})
	for kind, ids := range map[string][]string{"by id": all, "by entry": byPlace} {
		for _, n := range []int{len(ids), 7} {
			var walked []string
			for span := driver.Between("\x01", "\xff"); ; {
				page, next, err := b.List(t.Context(), kind, span, n)
				want(t, "List("+kind+")", err, nil)
				walked = append(walked, idsOf(page)...)
				if next == "" || len(walked) > len(ids) {
					break
				}
				span.From = next
			}
			if !slices.Equal(walked, ids) {
				t.Fatalf("List(%s) by pages of %d =\n%q, want\n%q", kind, n, walked, ids)
			}
		}
	}
	for i := 1; i < len(byPlace); i += 5 { // a span ends where the bytes do
		from, to := byPlace[i-1]+driver.Separator, byPlace[i]+driver.Separator
		page, _, err := b.List(t.Context(), "by entry", driver.Between(from, to), driver.Page)
		if want(t, "List(by entry)", err, nil); !slices.Equal(idsOf(page), byPlace[i-1:i]) {
			t.Fatalf("List(%q to %q) = %q, want %q alone", from, to, idsOf(page), byPlace[i-1])
		}
	}
}

func alikeDocs(t testing.TB, b driver.Backend) {
	var docs []driver.Doc
	for _, text := range traps() {
		docs = append(docs, driver.Doc{Kind: "thing", ID: text, Index: []string{text}, Data: []byte(text)},
			driver.Doc{Kind: text, ID: "thing", Index: []string{"x"}, Data: []byte(text)})
	}
	for part := range slices.Chunk(docs, driver.MaxPut) {
		put(t, b, part...)
	}
	for _, d := range docs {
		got, err := b.Get(t.Context(), d.Kind, d.ID)
		want(t, fmt.Sprintf("Get(%q, %q)", d.Kind, d.ID), err, nil)
		d.Version = got.Version
		sameDoc(t, got, d)
		page, next, err := b.List(t.Context(), d.Kind, driver.Is(d.Index[0]), 2)
		if want(t, "List(entry)", err, nil); len(page) != 1 || next != "" || page[0].ID != d.ID {
			t.Fatalf("List(%q, %q) = %q, want %q alone", d.Kind, d.Index[0], idsOf(page), d.ID)
		}
	}
}

func alikeRevocations(t testing.TB, b driver.Backend) {
	for i, text := range traps() {
		x := token(text)
		x.Grant, x.AppID, x.UserID = text, text, text
		issue(t, b, x)
		kind := []string{driver.RevokeGrant, driver.RevokeApp, driver.RevokeUser}[i%3]
		want(t, fmt.Sprintf("Exchange(token of %q) before its revocation", text), b.Exchange(t.Context(), x.Key, at(1)), nil)
		revoke(t, b, driver.Revocation{Kind: kind, ID: text, Before: at(600), Until: at(i + 1)})
		y := x
		y.Key = token(text).Key
		issue(t, b, y)
		want(t, fmt.Sprintf("Exchange(token of %q) behind its revocation", text), b.Exchange(t.Context(), y.Key, at(1)),
			driver.ErrRevoked)
	}
	all := feed(t, b, 0)
	for i, text := range traps() {
		if i >= len(all) || all[i].ID != text || !same(all[i].Until, at(i+1)) {
			t.Fatalf("Revocations(0) has not %q with an end of its own at %d of %d", text, i, len(all))
		}
	}
}

func alikeUsage(t testing.TB, b driver.Backend) {
	all, hour := slices.Clone(traps()), driver.Hour(at(0))
	slices.Sort(all)
	var rows []driver.Count
	for i, text := range shuffled(all) {
		c := driver.Count{AppID: text, Product: "ai", At: at(0), Calls: int64(i + 1)}
		count(t, b, text, uint64(9), calls(text, at(0), 10), c)
		count(t, b, text, uint64(9), calls(text, at(0), 1000))
		c.At = hour
		usage(t, b, hours(text), c)
	}
	for _, text := range all {
		row := calls(text, hour, 10)
		rows = append(rows, row)
		q := hours("app")
		q.Product = text
		usage(t, b, q, row)
	}
	usage(t, b, hours("app"), rows...)
}

func wildcards(t testing.TB, b driver.Backend) {
	wild := []string{"%", "_", "*", "?", "a%", "a_", "%a", `\`, `\%`, `a\`, "'", `"`, "''", "`", ";", "--", "$1", ":a", "@a", "[a]", "^a", "{}", "()", "a|b", "NULL", "null", "0x41", `\x41`, `\u0041`, "&amp;", "E'a'"}
	for i, text := range wild {
		put(t, b, doc(text, text), driver.Doc{Kind: text, ID: "b", Index: []string{"all"}})
		x := token("w")
		x.Grant, x.Scope, x.Nonce, x.RedirectURI = text, text, text, text
		issue(t, b, x)
		sameToken(t, read(t, b, x.Key), x)
		count(t, b, text, uint64(i+1), calls(text, at(0), 10))
	}
	put(t, b, doc("a", "a"), doc("abc", "abc"), doc("b", "b"))
	count(t, b, "node", 1, calls("a", at(0), 10), calls("abc", at(0), 10))
	for _, text := range wild {
		lists(t, b, driver.Is(text), text)
		page, _, err := b.List(t.Context(), text, driver.Is("all"), 9)
		if want(t, "List(kind)", err, nil); !slices.Equal(idsOf(page), []string{"b"}) {
			t.Fatalf("List(%q, all) = %q, want b alone", text, idsOf(page))
		}
		q := hours("app")
		q.Product = text
		usage(t, b, q, calls(text, driver.Hour(at(0)), 10))
		revoke(t, b, grantEnd(text))
		x := token("plain " + text)
		issue(t, b, x)
		want(t, "Exchange(token beside a revocation of "+text+")", b.Exchange(t.Context(), x.Key, at(1)), nil)
	}
}

func anyBytes(t testing.TB, b driver.Backend) {
	put(t, b, doc("a", "x"), doc("b", "é"), doc("c", "\U0010ffff"))
	for _, c := range []struct {
		span driver.Span
		ids  []string
	}{
		{driver.Between("\x00", "\xff"), []string{"a", "b", "c"}},
		{driver.Between("x", "x\xff"), []string{"a"}},
		{driver.Between("\xc3", "\xc3\xaa"), []string{"b"}}, // half of a letter
		{driver.Between("\xc3\xa9\x1fb\x00", "\xff\xff\xff"), []string{"c"}},
		{driver.Between("\xff", "\xff\xff"), nil},
		{driver.Between("", strings.Repeat("\xff", 4*driver.MaxName)), []string{"a", "b", "c"}},
	} {
		lists(t, b, c.span, c.ids...)
	}
}
