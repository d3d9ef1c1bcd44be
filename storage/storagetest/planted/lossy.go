package planted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

var errNull = errors.New("null value violates not-null constraint")

// lossyBugs keep bytes and texts in columns that have an opinion about them.
func lossyBugs() []bug {
	const plain, empty, names, long = "nothing/Data is kept byte for byte", "nothing/empty Data and Index",
		"nothing/an empty grant", "texts/other names may have"
	data := func(change func([]byte) []byte) func(*parts) {
		return docOut(func(d *driver.Doc) { d.Data = change(d.Data) })
	}
	records := func(change func([]byte) []byte) func(*parts) {
		return trailOut(func(page []driver.Record) {
			for i := range page {
				page[i].Data = change(page[i].Data)
			}
		})
	}
	normal := func(data []byte) []byte {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return data
		}
		text, _ := json.Marshal(v)
		return text
	}
	compact := func(data []byte) []byte {
		var out bytes.Buffer
		if json.Compact(&out, data) != nil {
			return data
		}
		return out.Bytes()
	}
	null := func(covers func(r driver.Revocation) bool) func(*parts) {
		return judging(func(r driver.Revocation, t driver.Token) bool { return covers(r) && r.Covers(t) })
	}
	return []bug{
		{name: "Data is kept as a parsed document", caught: plain, plant: data(normal)},
		{name: "Data is kept without the blanks of JSON", caught: plain, plant: data(compact)},
		{name: "a record is kept as a parsed document", caught: plain, plant: records(normal)},
		{name: "a record is kept without the blanks of JSON", caught: plain, plant: records(compact)},
		{name: "Data is text", caught: plain,
			plant: data(func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\ufffd")) })},
		{name: "Data ends at 0x00", caught: plain,
			plant: data(func(b []byte) []byte { b, _, _ = bytes.Cut(b, []byte{0}); return b })},
		{name: "Data is padded with 0x00", caught: plain,
			plant: data(func(b []byte) []byte { return bytes.TrimRight(b, "\x00") })},
		{name: "Data is padded with blanks", caught: plain,
			plant: data(func(b []byte) []byte { return bytes.TrimRight(b, " ") })},
		{name: "Data that begins with a backslash is hexadecimal", caught: plain, plant: data(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\x41`), []byte("A")) })},
		{name: "Data has the line ends of another system", caught: plain,
			plant: data(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) })},
		{name: "Data loses its byte order mark", caught: plain,
			plant: data(func(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) })},
		{name: "Data is composed (NFC)", caught: plain,
			plant: data(func(b []byte) []byte { return []byte(composed.Replace(string(b))) })},
		{name: "a document without Data is refused", caught: empty, plant: putFails(func(d driver.Doc) error {
			if d.Data == nil && !d.Deleted {
				return errNull
			}
			return nil
		})},
		{name: "a document without entries is refused", caught: empty, plant: putFails(func(d driver.Doc) error {
			if d.Index == nil && !d.Deleted {
				return errNull
			}
			return nil
		})},
		{name: "no Data is the text null", caught: empty, plant: data(func(b []byte) []byte {
			if len(b) == 0 {
				return []byte("null")
			}
			return b
		})},
		{name: "no entries are one empty entry", caught: empty, plant: docOut(func(d *driver.Doc) {
			if len(d.Index) == 0 {
				d.Index = []string{""}
			}
		})},
		{name: "a record without Data is refused", caught: empty, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, records ...driver.Record) error {
				for _, r := range records {
					if r.Data == nil {
						return errNull
					}
				}
				return add(ctx, records...)
			}
		}},
		{name: "an empty grant is no grant", caught: names,
			plant: null(func(r driver.Revocation) bool { return r.Kind != driver.RevokeGrant || r.ID != "" })},
		{name: "an empty application is no application", caught: names,
			plant: null(func(r driver.Revocation) bool { return r.Kind != driver.RevokeApp || r.ID != "" })},
		{name: "an empty user is no user", caught: names,
			plant: null(func(r driver.Revocation) bool { return r.Kind != driver.RevokeUser || r.ID != "" })},
		{name: "the consent of nobody is no consent", caught: names,
			plant: null(func(r driver.Revocation) bool { return r.Kind != driver.RevokeConsent || r.ID != "=" })},
		{name: "an empty revocation covers all", caught: "nothing/an empty grant",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.ID == "" && r.Kind != driver.RevokeJTI
			})},
		{name: "an empty text becomes a text", caught: "Issue and Token/empty fields stay empty",
			plant: tokenOut(func(t *driver.Token) {
				if t.Nonce == "" {
					t.Nonce = "null"
				}
			})},
		{name: "Scope is cut to 255 letters", caught: long,
			plant: tokenOut(func(t *driver.Token) { t.Scope = t.Scope[:min(255, len(t.Scope))] })},
		{name: "RedirectURI is cut to 2,048 bytes", caught: long,
			plant: tokenOut(func(t *driver.Token) { t.RedirectURI = t.RedirectURI[:min(2048, len(t.RedirectURI))] })},
		{name: "a revocation's id is cut to 255 letters", caught: long,
			plant: foldRevocations(func(s string) string { return s[:min(255, len(s))] })},
		{name: "a product is cut to 64 letters", caught: long,
			plant: eachCount(func(c *driver.Count) { c.Product = c.Product[:min(64, len(c.Product))] })},
		{name: "a node is cut to 64 letters", caught: long,
			plant: counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Node = b.Node[:min(64, len(b.Node))]
				return counts
			})},
		{name: "an application and a product have 1,500 bytes together", caught: long, plant: func(b *parts) {
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				for _, c := range counts {
					if len(c.AppID)+len(c.Product) > 1500 {
						return errRow
					}
				}
				return count(ctx, batch, counts)
			}
		}},
		{name: "a kind, an entry and an id have 2,704 bytes together", caught: "texts/a kind, an id and entries",
			plant: putFails(func(d driver.Doc) error {
				for _, e := range d.Index {
					if len(d.Kind)+len(d.ID)+len(e) > 2704 {
						return errRow
					}
				}
				return nil
			})},
		{name: "an entry is found by its first 255 letters", caught: "texts/a kind, an id and entries",
			plant: foldEntries(func(s string) string { return s[:min(255, len(s))] })},
		{name: "an id is cut to 255 letters", caught: "texts/a kind, an id and entries",
			plant: foldDocs(func(d *driver.Doc) { d.ID = string([]rune(d.ID)[:min(255, len([]rune(d.ID)))]) })},
		{name: "a kind is cut to 255 letters", caught: "texts/a kind, an id and entries",
			plant: foldDocs(func(d *driver.Doc) { d.Kind = string([]rune(d.Kind)[:min(255, len([]rune(d.Kind)))]) })},
		{name: "an entry that is given twice fails", caught: "List/an entry that is given twice",
			plant: putFails(func(d driver.Doc) error {
				if len(d.Index) == 2 && d.Index[0] == d.Index[1] {
					return errTwice
				}
				return nil
			})},
		{name: "a token's texts lose what HTML escapes", caught: "Issue and Token/every field of an issued",
			plant: tokenOut(func(t *driver.Token) {
				t.Nonce = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(t.Nonce)
			})},
		{name: "a token's texts lose their control characters", caught: "Issue and Token/every field of an issued",
			plant: tokenOut(func(t *driver.Token) {
				t.RedirectURI = strings.ReplaceAll(t.RedirectURI, "\x01", "")
			})},
	}
}

var errRow = errors.New("index row size exceeds maximum")

func putFails(wrong func(driver.Doc) error) func(*parts) {
	return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		for _, d := range docs {
			if err := wrong(d); err != nil {
				return 0, err
			}
		}
		return right(docs...)
	})
}

// nothingBugs make something of nothing.
func nothingBugs() []bug {
	const put, none = "nothing/Put of nothing is version 0", "nothing/an empty list is nothing"
	answers := func(version int64, err error) func(*parts) {
		return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
			docs []driver.Doc) (int64, error) {
			if len(docs) == 0 {
				return version, err
			}
			return right(docs...)
		})
	}
	syntax := errors.New("syntax error at end of input")
	return []bug{
		{name: "Put of nothing takes a version", caught: put, plant: answers(7, nil)},
		{name: "Put of nothing is version -1", caught: put, plant: answers(-1, nil)},
		{name: "Put of nothing fails", caught: put, plant: answers(0, syntax)},
		{name: "Put of nothing is invalid", caught: put, plant: answers(0, driver.ErrInvalid)},
		{name: "Issue of nothing fails", caught: none, plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				if len(tokens) == 0 {
					return syntax
				}
				return issue(ctx, tokens...)
			}
		}},
		{name: "Exchange for nothing fails", caught: none, plant: func(b *parts) {
			exchange := b.exchange
			b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
				if len(next) == 0 {
					return syntax
				}
				return exchange(ctx, key, at, next...)
			}
		}},
		{name: "Revoke of nothing fails", caught: none, plant: func(b *parts) {
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				if len(rs) == 0 {
					return syntax
				}
				return revoke(ctx, rs...)
			}
		}},
		{name: "Append of nothing fails", caught: none, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, rs ...driver.Record) error {
				if len(rs) == 0 {
					return syntax
				}
				return add(ctx, rs...)
			}
		}},
		{name: "Append of nothing takes a Seq", caught: none, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, rs ...driver.Record) error {
				if len(rs) == 0 {
					rs = []driver.Record{{}}
				}
				return add(ctx, rs...)
			}
		}},
		{name: "Count of nothing remembers its batch", caught: none, plant: func(b *parts) {
			count, highest := b.count, map[string]uint64{}
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				if batch.Seq <= highest[batch.Node] {
					return nil
				}
				highest[batch.Node] = batch.Seq
				return count(ctx, batch, counts)
			}
		}},
		{name: "Count of nothing fails", caught: none, plant: func(b *parts) {
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				if len(counts) == 0 {
					return syntax
				}
				return count(ctx, batch, counts)
			}
		}},
	}
}
