package trail

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/event"
)

const (
	maxExport   = 100_000 // records of one file
	maxSearches = 2_000   // for one file: a rare kind is not looked for all over a long trail
)

var columns = []string{"seq", "at", "kind", "request_id", "client_id", "sub", "product", "method", "path", "ip",
	"detail", "status", "latency_us", "bytes", "count", "act"}

// export serves GET /api/console/audit/export?format=jsonl|csv with the filters of the list. The first page
// is read before anything is sent, so that what is wrong with the question is said.
func (t *Trail) export(w http.ResponseWriter, r *http.Request, who admin.Actor) error {
	q, err := t.query(r, who)
	if err != nil {
		return err
	}
	format := r.URL.Query().Get("format")
	if format != "" && format != "jsonl" && format != "csv" {
		return adminapi.BadQuery.Saying("format is jsonl or csv")
	}
	q.Limit = event.MaxLimit
	page, err := t.c.Archive.Search(r.Context(), q)
	if err != nil {
		return adminapi.Refusal(err, noRecord)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/jsonl; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	var out sink = lines{json.NewEncoder(w)}
	if format == "csv" {
		h.Set("Content-Type", "text/csv; charset=utf-8")
		h.Set("Content-Disposition", `attachment; filename="audit.csv"`)
		out = newTable(w)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	written, searches := 0, 1
	for {
		for _, e := range page.Entries {
			if err := out.record(recordOf(e)); err != nil {
				return nil // the reader has gone away
			}
		}
		if out.flush() != nil {
			return nil
		}
		http.NewResponseController(w).Flush()
		written += len(page.Entries)
		if page.Next == 0 {
			return nil
		}
		if written >= maxExport || searches >= maxSearches {
			out.more(page.Next, "there are more: ask again with after")
			return nil
		}
		q.Before = page.Next
		if page, err = t.c.Archive.Search(r.Context(), q); err != nil {
			out.more(q.Before, "the trail could not be read any further: ask again with after")
			return nil
		}
		searches++
	}
}

// sink is a file.
type sink interface {
	record(r record) error
	more(next uint64, why string)
	flush() error
}

// lines is a file of JSON lines.
type lines struct{ to *json.Encoder }

func (l lines) record(r record) error { return l.to.Encode(r) }

func (l lines) more(next uint64, why string) {
	l.to.Encode(map[string]string{"next": nextOf(next), "msg": why})
}

func (lines) flush() error { return nil }

// table is a file of CSV.
type table struct{ to *csv.Writer }

func newTable(w io.Writer) table {
	t := table{csv.NewWriter(w)}
	t.to.Write(columns) // a csv.Writer keeps its first error
	return t
}

func (t table) record(r record) error {
	n := func(n int64) string { return strconv.FormatInt(n, 10) }
	cells := []string{strconv.FormatUint(r.Seq, 10), r.At}
	for _, text := range []string{r.Kind, r.RequestID, r.App, r.User, r.Product, r.Method, r.Path, r.IP, r.Detail} {
		cells = append(cells, cell(text))
	}
	cells = append(cells, n(int64(r.Status)), n(r.Micros), n(r.Bytes), n(r.Count))
	return t.to.Write(append(cells, cell(strings.Join(r.Act, " "))))
}

func (t table) more(next uint64, why string) {
	row := make([]string, len(columns))
	row[0], row[2], row[10] = nextOf(next), "next", why
	t.to.Write(row)
	t.to.Flush()
}

func (t table) flush() error { t.to.Flush(); return t.to.Error() }

// cell makes a text harmless in a spreadsheet, which takes some beginnings for a formula, blanks before
// them or not.
func cell(text string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
	if strings.IndexAny(text, "\t\r\n") == 0 || strings.IndexAny(strings.TrimLeftFunc(text, unicode.IsSpace),
		"=+-@＝＋－＠") == 0 {
		return "'" + shown
	}
	return shown
}
