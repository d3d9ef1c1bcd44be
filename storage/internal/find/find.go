// Package find makes index entries by which documents are found by the beginning of a text, and
// reads pages of what was found.
package find

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/storage/driver"
)

const (
	maxEntry = 64   // bytes of a text that are in its entry
	maxText  = 1024 // bytes of a text that are looked at
)

// Fold is a text as it is compared: by the rules of usernames, without what cannot be seen.
// Of a very long one it is the beginning.
func Fold(text string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && !unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f {
			return -1
		}
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut(text, maxText), ""))
	return confusable.Key(seen)
}

// cut is the beginning of a text, of whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Entries returns the index entries of a list by which one of the texts is found. A text with
// which another one begins has none of its own: whoever looks for it finds that one.
func Entries(list string, texts ...string) (entries []string) {
	for _, text := range texts {
		if folded := cut(Fold(text), maxEntry); folded != "" {
			entries = append(entries, list+folded)
		}
	}
	slices.Sort(entries)
	kept := entries[:0]
	for i, e := range entries {
		if i+1 == len(entries) || !strings.HasPrefix(entries[i+1], e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Query asks for a page of the documents that have an entry in a list which begins with a text.
// Each document comes once, at the first of its entries that do.
type Query struct {
	list, text string
	span       driver.Span
}

// New makes a Query from the start, or from the next of a page before. Its error wraps
// driver.ErrInvalid: from is no next of this query.
func New(list, text, from string) (Query, error) {
	q := Query{list: list, text: Fold(text)}
	begin := list + cut(q.text, maxEntry)
	q.span = driver.Between(begin, begin+"\xff") // no text has that byte
	if from == "" {
		return q, nil
	}
	at, err := base64.RawURLEncoding.DecodeString(from)
	if err != nil || string(at) <= q.span.From || string(at) >= q.span.To {
		return q, fmt.Errorf("%w: from is the next of the page before, with the same text", driver.ErrInvalid)
	}
	q.span.From = string(at)
	return q, nil
}

// Span returns the range that is to be listed.
func (q Query) Span() driver.Span { return q.span }

// Begins reports whether one of the texts begins as it is asked for. An entry does not tell that of
// a long one.
func (q Query) Begins(texts ...string) bool {
	return len(q.text) <= maxEntry || slices.ContainsFunc(texts,
		func(t string) bool { return strings.HasPrefix(Fold(t), q.text) })
}

// Page picks up to n documents out of what was listed, in which a document stands as often as it has
// entries. more says that there may be others behind them. next is where to continue, "" at the end.
func (q Query) Page(listed []driver.Doc, n int, more bool) (page []driver.Doc, next string) {
	times, last := map[string]int{}, ""
	for i, d := range listed {
		keys := q.keys(d)
		here := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key < q.span.From })
		time := times[d.ID]
		times[d.ID]++
		if time >= len(here) {
			continue // an adapter that lists what is not in the span
		}
		last = here[time]
		if last == keys[0] {
			page = append(page, d)
		}
		if len(page) == n && i+1 < len(listed) {
			more = true
			break
		}
	}
	if more && last != "" {
		next = base64.RawURLEncoding.EncodeToString([]byte(last + "\x00"))
	}
	return page, next
}

// keys returns the places at which a document stands in the list, in order.
func (q Query) keys(d driver.Doc) (keys []string) {
	begin := q.list + cut(q.text, maxEntry)
	for _, e := range d.Index {
		if strings.HasPrefix(e, begin) {
			keys = append(keys, e+driver.Separator+d.ID)
		}
	}
	slices.Sort(keys)
	return keys
}
