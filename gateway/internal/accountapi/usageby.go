package accountapi

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
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

// namedRow has one of the four names.
type namedRow struct {
	At     string `json:"at"`
	Member string `json:"member,omitempty"`
	Tool   string `json:"tool,omitempty"`
	User   string `json:"user,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
}

// omitted counts the names that are not in an answer because it has enough.
type omitted struct {
	Names int   `json:"names"`
	Calls int64 `json:"calls"`
}

// usageBy serves GET /api/v1/usage?by=: who of an application's users has called, which tools, or which agents.
// That is for the application itself, for its owner, and for the person whose account it is.
//
// The application's other users learn nothing of each other. It is no bill: calls of the application for no
// user are of no user, and while a store is away for long, calls are counted by product alone (package ledger).
// A user who calls adds a row an hour for themselves and one for each tool they call, and no more than one for
// each call that is charged; rows of hours go after 400 days, those of days stay. One answer holds the 1,000
// names with the most calls and 10,000 rows; it is summed up a few days at a time, two answers at a time.
func (e *Endpoints) usageBy(w http.ResponseWriter, r *http.Request, q usageQuery) error {
	caller, account, err := e.c.Caller(r)
	if err != nil {
		return err
	}
	by, whole := q.By, false
	switch personal := q.ClientID != caller.AppID; {
	case personal && by == usage.ByUser: // one user has all of it
		q.By, whole = usage.ByProduct, true
	case !personal && !e.mayRead(r, caller, account):
		return notOwner
	}
	a, err := e.c.Reader.Usage(r.Context(), q.Query)
	if err != nil {
		return badUsage(err)
	}
	if whole {
		a = wholly(a, caller.UserID)
	}
	record := namedAnswer(a, by)
	if q.csv {
		return writeNamedCSV(w, record)
	}
	return reply.Success(w, record)
}

// wholly returns an answer by product as that of one user.
func wholly(a usage.Answer, user string) usage.Answer {
	rows := a.Series
	a.Series, a.Totals = nil, map[string]int64{}
	for _, row := range rows {
		row.Name = user
		a.Totals[user] = driver.Count{Calls: a.Totals[user]}.Plus(driver.Count{Calls: row.Calls}).Calls
		if last := len(a.Series) - 1; last >= 0 && a.Series[last].At.Equal(row.At) {
			sum := driver.Count{Calls: a.Series[last].Calls, Errors: a.Series[last].Errors}.Plus(driver.Count{Calls: row.Calls,
				Errors: row.Errors})
			a.Series[last].Calls, a.Series[last].Errors = sum.Calls, sum.Errors
			continue
		}
		a.Series = append(a.Series, row)
	}
	return a
}

// mayRead reports whether a caller may learn who has called an application: by the application's own
// token, or by one of it that its owner has.
func (e *Endpoints) mayRead(r *http.Request, caller storage.Caller, account storage.App) bool {
	by := admin.Actor{User: storage.User{Sub: caller.UserID},
		Manages: admin.Managing(r.Context(), e.c.Groups, caller.UserID)}
	return caller.UserID == "" || by.Owns(account.Owner)
}

// namedAnswer makes the answer.
func namedAnswer(a usage.Answer, by string) usageBy {
	u := usageBy{
		From: a.From.Format(adminapi.ISO8601), To: a.To.Format(adminapi.ISO8601), Granularity: granularity(a), By: by,
		Series: []namedRow{}, Totals: a.Totals, Omitted: omitted{a.Omitted.Names, a.Omitted.Calls},
	}
	for _, row := range a.Series {
		out := namedRow{At: row.At.Format(adminapi.ISO8601), Calls: row.Calls, Errors: row.Errors}
		switch by {
		case usage.ByMember:
			out.Member = row.Name
		case usage.ByTool:
			out.Tool = row.Name
		case usage.ByAgent:
			out.Agent = row.Name
		default:
			out.User = row.Name
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
		out.Write([]string{row.At, adminapi.Cell(row.Member + row.Tool + row.User + row.Agent),
			strconv.FormatInt(row.Calls, 10), strconv.FormatInt(row.Errors, 10)})
	}
	out.Flush()
	return sendCSV(w, text.String())
}
