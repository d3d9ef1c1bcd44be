package gateway

import (
	"cmp"
	"context"
	"encoding/csv"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Bounds of one answer of usage by user, tool or member. Names are in it with all their rows, those
// with the most calls first.
const (
	maxNames    = 1_000
	maxNamed    = 10_000    // rows
	maxSummed   = 1_000_000 // rows that are read for it: about 100 MB
	summers     = 2         // answers that are made at a time
	maxSpan     = 64        // days that are read at once
	fewRows     = 2_000     // after which more days are read at once
	summingWait = 5 * time.Second
)

// usageBy is the answer of GET /api/v1/usage?by=.
type usageBy struct {
	From        string           `json:"from"` // inclusive
	To          string           `json:"to"`   // exclusive
	Granularity string           `json:"granularity"`
	By          string           `json:"by"`
	Series      []namedRow       `json:"series"` // rows without calls are left out
	Totals      map[string]int64 `json:"totals"` // calls by name
	Omitted     omitted          `json:"omitted"`
}

// namedRow has one of the three names.
type namedRow struct {
	At     string `json:"at"`
	Member string `json:"member,omitempty"`
	Tool   string `json:"tool,omitempty"`
	User   string `json:"user,omitempty"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
}

// omitted counts the names that are not in an answer because it has enough.
type omitted struct {
	Names int   `json:"names"`
	Calls int64 `json:"calls"`
}

// dimensionsOf are the values of by.
var dimensionsOf = map[string]ledger.Dimension{"member": ledger.ByMember, "tool": ledger.ByTool, "user": ledger.ByUser}

// usageBy serves GET /api/v1/usage?by=: who of an application's users has called, or which tools.
// That is for the application itself, for its owner, and for the person whose account it is.
func (g *Gateway) usageBy(w http.ResponseWriter, r *http.Request, q usageQuery) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	id, d := caller.Account(), dimensionsOf[q.by]
	rename := ""
	switch personal := id != caller.AppID; {
	case personal && d == ledger.ByUser: // one user has all of it
		d, rename = ledger.ByProduct, caller.UserID
	case !personal && !mayRead(caller, account):
		return notOwner
	}
	ctx, cancel := context.WithTimeout(r.Context(), summingWait)
	defer cancel()
	select {
	case g.summing <- struct{}{}:
		defer func() { <-g.summing }()
	case <-ctx.Done():
		return busySumming
	}
	sums, err := g.sum(r.Context(), ledger.By(id, d), q, rename)
	if err != nil {
		return err
	}
	record := sums.answer(q)
	if q.csv {
		return writeNamedCSV(w, record)
	}
	return reply.Success(w, record)
}

// mayRead reports whether a caller may learn who has called an application: by the application's own
// token, or by one of it that its owner has.
func mayRead(caller storage.Caller, account *account) bool {
	return caller.UserID == "" || caller.UserID == account.Owner
}

// named sums up the rows of names.
type named map[string]*sum

type sum struct {
	calls int64
	rows  []driver.Count // ascending
}

// sum reads the rows of a dimension, few days at a time: a store hands out all rows of a question.
func (g *Gateway) sum(ctx context.Context, id string, q usageQuery, rename string) (named, error) {
	all, rows, days := named{}, 0, 1
	for from := q.from; from.Before(q.to); {
		to := driver.Day(from).AddDate(0, 0, days)
		if to.After(q.to) {
			to = q.to
		}
		page, err := g.ledger.Series(ctx, driver.UsageQuery{AppID: id, From: from, To: to, Daily: q.daily})
		if err != nil {
			return nil, err
		}
		if rows += len(page); rows > maxSummed {
			return nil, badQuery.Saying("this is too much for one answer: ask for a shorter span")
		}
		for _, row := range page {
			if rename != "" {
				row.Product = rename
			}
			all.add(row)
		}
		if from, days = to, 1; len(page) < fewRows {
			days = min(2*int(to.Sub(q.from)/(24*time.Hour))+1, maxSpan)
		}
	}
	return all, nil
}

func (n named) add(row driver.Count) {
	s := n[row.Product]
	if s == nil {
		s = &sum{}
		n[row.Product] = s
	}
	s.calls = driver.Count{Calls: s.calls}.Plus(row).Calls
	if last := len(s.rows) - 1; last >= 0 && s.rows[last].At.Equal(row.At) {
		s.rows[last] = s.rows[last].Plus(row)
		return
	}
	row.AppID = ""
	s.rows = append(s.rows, row)
}

// answer makes the answer of the names with the most calls.
func (n named) answer(q usageQuery) usageBy {
	u := usageBy{
		From: q.from.Format(iso8601), To: q.to.Format(iso8601), Granularity: "hour", By: q.by,
		Series: []namedRow{}, Totals: map[string]int64{},
	}
	if q.daily {
		u.Granularity = "day"
	}
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b].calls, n[a].calls), cmp.Compare(a, b))
	})
	var rows []driver.Count
	for i, name := range names {
		if i > 0 && (i >= maxNames || len(rows)+len(n[name].rows) > maxNamed || u.Omitted.Names > 0) {
			u.Omitted.Names++
			u.Omitted.Calls = driver.Count{Calls: u.Omitted.Calls}.Plus(driver.Count{Calls: n[name].calls}).Calls
			continue
		}
		u.Totals[name] = n[name].calls
		rows = append(rows, n[name].rows...)
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	for _, row := range rows {
		out := namedRow{At: row.At.Format(iso8601), Calls: row.Calls, Errors: row.Errors}
		switch q.by {
		case "member":
			out.Member = row.Product
		case "tool":
			out.Tool = row.Product
		default:
			out.User = row.Product
		}
		u.Series = append(u.Series, out)
	}
	return u
}

// headerOmitted tells how many names are not in a table.
const headerOmitted = "X-Keystile-Omitted-Names"

func writeNamedCSV(w http.ResponseWriter, u usageBy) error {
	if u.Omitted.Names > 0 {
		w.Header().Set(headerOmitted, strconv.Itoa(u.Omitted.Names))
	}
	var text strings.Builder
	out := csv.NewWriter(&text)
	out.Write([]string{"at", u.By, "calls", "errors"})
	for _, row := range u.Series {
		out.Write([]string{row.At, cell(row.Member + row.Tool + row.User), strconv.FormatInt(row.Calls, 10), strconv.FormatInt(row.Errors, 10)})
	}
	out.Flush()
	return sendCSV(w, text.String())
}

// cell returns a name as a spreadsheet shows it and does not run it: a host's own subs may begin
// with anything.
func cell(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(name[0])) {
		return "'" + name
	}
	return name
}
