package audit

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Kinds that the trail itself writes.
const (
	begin = "audit.begin" // the first record of a chain
	end   = "audit.end"   // its last, if the process was closed in order
	lost  = "audit.lost"  // events that found the queue full
)

// Event is one thing that happened.
type Event = event.Event

// fields are the texts of an Event, in the order in which they are queued and written.
var fields = [...]struct {
	name  string
	limit int // bytes
}{
	{"kind", 64}, {"request_id", 128}, {"app", 192}, {"user", 256}, {"product", 128},
	{"method", 32}, {"path", maxPath}, {"ip", 64}, {"detail", 1024},
}

const (
	maxPath  = 256         // bytes
	pathLook = 4 * maxPath // that are looked at: some of them do not print
)

// texts returns the places of the fields.
func texts(e *Event) [len(fields)]*string {
	return [...]*string{
		&e.Kind, &e.RequestID, &e.App, &e.User, &e.Product, &e.Method, &e.Path, &e.IP, &e.Detail,
	}
}

// trim shortens the texts to what is worth queueing and returns their length. At least one
// byte more than the limit stays, so that tidy sees that there was more.
func trim(e *Event) (size int) {
	for _, mark := range [...]byte{'?', '#'} {
		if i := strings.IndexByte(e.Path, mark); i >= 0 {
			e.Path = e.Path[:i]
		}
	}
	for i, text := range texts(e) {
		most := fields[i].limit + 1
		if text == &e.Path {
			most = pathLook
		}
		*text = (*text)[:min(len(*text), most)]
		size += len(*text)
	}
	return size + weighActors(e)
}

// tidy makes an event what is written of it: of any two calls the second changes nothing.
func tidy(e *Event, now time.Time) {
	trim(e)
	e.Path = cleanPath(e.Path)
	for i, text := range texts(e) {
		*text = clean(*text, fields[i].limit)
	}
	tidyActors(e)
	if year := e.At.UTC().Year(); e.At.IsZero() || year < 0 || year > 9999 {
		e.At = now
	}
	e.At = e.At.UTC().Round(0)
	e.Status, e.Latency, e.Bytes = max(e.Status, 0), max(e.Latency, 0), max(e.Bytes, 0)
	e.Count, e.Span = max(e.Count, 0), max(e.Span, 0)
}

const ellipsis = "…"

func clean(text string, limit int) string {
	if len(text) <= limit && bareBytes(text) == len(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	n := limit - len(ellipsis)
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + ellipsis
}

// cleanPath drops what changes how a terminal or a page shows a line, and cuts what is too
// long between letters and escapes. Paths are the only text that strangers write at will.
func cleanPath(path string) string {
	if len(path) <= maxPath && bareBytes(path) == len(path) {
		return path
	}
	long := len(path) > maxPath
	path = strings.Map(func(c rune) rune {
		if c > ' ' && c < utf8.RuneSelf-1 {
			return c
		}
		if c == utf8.RuneError || unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return c
	}, path)
	if !long && len(path) <= maxPath {
		return path
	}
	n := min(len(path), maxPath-len(ellipsis))
	for n > 0 && n < len(path) && !utf8.RuneStart(path[n]) {
		n--
	}
	if i := strings.LastIndexByte(path[max(0, n-2):n], '%'); i >= 0 {
		n = max(0, n-2) + i
	}
	return path[:n] + ellipsis
}

// AsKept returns an event as it would be read from the trail: its texts have at most their lengths.
func AsKept(e Event) Event {
	tidy(&e, e.At)
	return e
}

// Decode reads the event of a record. Whether the record is as it was written Verify tells.
func Decode(r driver.Record) (Event, error) {
	e, _, _, err := decode(r.Data)
	if err != nil {
		return Event{}, fmt.Errorf("audit: record %d cannot be read: %w", r.Seq, err)
	}
	return e.Event, nil
}

// Last returns the Seq of the last record that is there; 0: there is none.
func Last(ctx context.Context, store Reader) (uint64, error) {
	r, err := last(ctx, store)
	return r.Seq, err
}
