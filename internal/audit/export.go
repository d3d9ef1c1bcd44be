package audit

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/storage/driver"
)

// Format is an output format of Export.
type Format string

const (
	// JSONL is a line for each record, as it is stored, its hash included.
	JSONL Format = "jsonl"
	// CSV is RFC 4180 with a header line, for spreadsheets: what would begin a formula
	// begins with an apostrophe instead, and what does not print becomes U+FFFD.
	CSV Format = "csv"
)

// Filter chooses events. Its zero value lets all pass, the trail's own records too.
type Filter struct {
	From            time.Time // inclusive; zero: from the beginning
	To              time.Time // exclusive; zero: to the end
	Kind, App, User string    // equal to; "": any
	Agent           string    // App, or one of Actors; "": any
}

func (f Filter) passes(e *Event) bool {
	return !e.At.Before(f.From) && (f.To.IsZero() || e.At.Before(f.To)) &&
		(f.Kind == "" || f.Kind == e.Kind) && (f.App == "" || f.App == e.App) && (f.User == "" || f.User == e.User) &&
		(f.Agent == "" || e.ActedBy(f.Agent))
}

// Export writes the records that pass a filter, in the order of the store, each once. It reads and verifies the
// whole trail, whatever the filter, from its checkpoint on, because it checks what it copies. If the trail is
// broken, all that can be read is written, and the error is that of Report.Err.
func Export(ctx context.Context, store Archive, w io.Writer, filter Filter, format Format) error {
	write, flush, err := writer(w, format)
	if err != nil {
		return err
	}
	report, err := walk(ctx, store, nil, func(r driver.Record, e entry) error {
		if !filter.passes(&e.Event) {
			return nil
		}
		if err := write(r, &e); err != nil {
			return fmt.Errorf("audit: write the export: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return fmt.Errorf("audit: write the export: %w", err)
	}
	return report.Err()
}

func writer(w io.Writer, format Format) (write func(driver.Record, *entry) error, flush func() error, err error) {
	switch format {
	case JSONL:
		out := bufio.NewWriter(w)
		write = func(r driver.Record, _ *entry) error {
			out.Write(r.Data) // a bufio.Writer keeps its first error
			return out.WriteByte('\n')
		}
		return write, out.Flush, nil
	case CSV:
		out := csv.NewWriter(w)
		write = func(r driver.Record, e *entry) error { return out.Write(row(r, e)) }
		flush = func() error { out.Flush(); return out.Error() }
		return write, flush, out.Write(columns)
	default:
		return nil, nil, fmt.Errorf("audit: there is no format %q: choose %s or %s", format, JSONL, CSV)
	}
}

var columns = []string{
	"seq", "at", "kind", "request_id", "app", "user", "product", "method", "path", "ip", "detail",
	"status", "latency_ns", "bytes", "lost", "chain", "n", "count", "span_ns", "act",
}

func row(r driver.Record, e *entry) []string {
	cells := []string{strconv.FormatUint(r.Seq, 10), e.At.Format(time.RFC3339Nano)}
	for _, text := range texts(&e.Event) {
		cells = append(cells, cell(*text))
	}
	for _, n := range []int64{int64(e.Status), int64(e.Latency), e.Bytes, int64(e.Lost)} {
		cells = append(cells, strconv.FormatInt(n, 10))
	}
	cells = append(cells, cell(e.Chain), strconv.FormatUint(e.N, 10))
	cells = append(cells, strconv.FormatInt(e.Count, 10), strconv.FormatInt(int64(e.Span), 10))
	return append(cells, cell(strings.Join(e.Actors, " ")))
}

// cell makes a text harmless in a spreadsheet, which takes what begins with one of these
// for a formula, blanks before it or not, and full-width ones in some languages.
func cell(text string) string {
	first := strings.TrimLeftFunc(text, unicode.IsSpace)
	shown := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
	if strings.IndexAny(text, "\t\r\n") == 0 || strings.IndexAny(first, "=+-@＝＋－＠") == 0 {
		return "'" + shown
	}
	return shown
}
