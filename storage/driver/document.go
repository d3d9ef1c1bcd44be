package driver

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits on documents, which CheckPut enforces, and their Separator.
const (
	MaxData  = 4 << 20 // bytes in one document
	MaxPut   = 100     // documents in one Put
	MaxName  = 1024    // bytes in a kind, an id or an index entry
	MaxIndex = 64      // index entries of one document

	// Separator stands between index entry and id in a List. It is in neither.
	Separator = "\x1f"
)

// Doc is a versioned document. (Kind, ID) is unique.
type Doc struct {
	Kind, ID  string
	Version   int64     // as stored; in a Put: 0 creates, else it must equal the stored one
	Index     []string  // entries that List finds the document by
	ExpiresAt time.Time // zero: never
	Data      []byte
	Deleted   bool // in a Put: remove the document
}

// Span is a half-open range of entry + Separator + id, by bytes. From and To are any bytes, also
// such as are no text.
type Span struct{ From, To string }

// Is spans the documents that have exactly this entry.
func Is(entry string) Span { return Span{entry + Separator, entry + "\x20"} }

// Between spans what lies in [from, to) by bytes: due times of one width, for example.
func Between(from, to string) Span { return Span{from, to} }

// After is the Span.From that goes on behind a document listed under entry.
func After(entry, id string) string { return entry + Separator + id + "\x00" }

// CheckPut returns an error for what no Put may hold: too much, the same document twice,
// names that cannot be ordered or told apart. Its errors wrap ErrInvalid.
func CheckPut(docs ...Doc) error {
	if len(docs) > MaxPut {
		return fmt.Errorf("%w: %d documents in one Put, at most %d", ErrInvalid, len(docs), MaxPut)
	}
	seen := make(map[[2]string]bool, len(docs))
	for _, d := range docs {
		name := [2]string{d.Kind, d.ID}
		if seen[name] {
			return fmt.Errorf("%w: %s %q twice in one Put", ErrInvalid, d.Kind, d.ID)
		}
		seen[name] = true
		if err := d.check(); err != nil {
			return fmt.Errorf("%w: %s %q: %w", ErrInvalid, d.Kind, d.ID, err)
		}
	}
	return nil
}

func (d Doc) check() error {
	switch {
	case !ValidName(d.Kind) || !ValidName(d.ID):
		return fmt.Errorf("kind and id are 1 to %d bytes of UTF-8 without 0x00 and 0x1F", MaxName)
	case d.Version < 0:
		return fmt.Errorf("version %d is negative", d.Version)
	case d.Deleted && d.Version == 0:
		return fmt.Errorf("to remove it, name the version that was read")
	case len(d.Data) > MaxData:
		return fmt.Errorf("%d bytes of data, at most %d", len(d.Data), MaxData)
	case len(d.Index) > MaxIndex:
		return fmt.Errorf("%d index entries, at most %d", len(d.Index), MaxIndex)
	case !slices.ContainsFunc(d.Index, func(e string) bool { return !ValidName(e) }):
		return nil
	}
	return fmt.Errorf("an index entry is 1 to %d bytes of UTF-8 without 0x00 and 0x1F", MaxName)
}

// ValidName reports whether a text may be a kind, an id or an index entry: 1 to MaxName bytes of
// UTF-8 without 0x00 and 0x1F. Nothing can be stored under any other.
func ValidName(s string) bool {
	return s != "" && len(s) <= MaxName && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\x1f")
}
