package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// aftermath holds what was found when nobody asked for anything any more.
type aftermath struct {
	Bills   map[string]billed `json:"bills"`
	Mails   mails             `json:"mails"`
	Audit   string            `json:"audit"`
	Storage string            `json:"storage"`
	Tables  []table           `json:"tables,omitempty"`
}

// billed are the charged calls of a product.
type billed struct{ Answered, Counted, Sent int64 }

// mails are those that were promised, and those that came.
type mails struct{ Asked, Came int }

// look asks for all that must be right at the end.
func (s *soak) look(ctx context.Context) error {
	s.after.Bills = map[string]billed{}
	for product, b := range s.world.bills {
		if err := s.reckon(ctx, product, b); err != nil {
			return err
		}
	}
	s.countMails(ctx)
	s.verifyTrail(ctx)
	if err := s.checkStorage(ctx); err != nil {
		return err
	}
	for _, n := range s.site.nodes {
		if line := bad.FindString(n.said()); line != "" {
			s.violated("node %d says: %s", n.id, line)
		}
	}
	var err error
	if s.site.database != nil {
		s.after.Tables, err = s.site.tables(ctx)
	}
	return err
}

// verifyTrail has the program verify the chains of the audit trail.
func (s *soak) verifyTrail(ctx context.Context) {
	out, err := s.site.tool(ctx, "audit", "verify", "--json")
	var is struct {
		Whole         bool
		Records, Lost int
		Heads         []any
	}
	if failed := json.Unmarshal([]byte(firstLine(out)), &is); err != nil || failed != nil || !is.Whole || is.Records == 0 {
		s.violated("audit verify: %v\n%s", err, out)
	}
	s.after.Audit = fmt.Sprintf("%d records in %d chains, %d lost", is.Records, len(is.Heads), is.Lost)
}

// bad matches a line that a log must never have.
var bad = regexp.MustCompile(`(?m)^.*(panic|goroutine \d+ \[|fatal error|DATA RACE|too many open files).*$`)

func (s *soak) violated(format string, args ...any) {
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// counts is the time within which all nodes have handed what they counted to their database.
const counts = 20 * time.Second

// reckon compares what is counted of a product with what was sent and answered.
func (s *soak) reckon(ctx context.Context, product string, b *bill) error {
	is := billed{Answered: b.answered.Load(), Sent: b.sent.Load()}
	err := until(ctx, counts, func() (err error) {
		if is.Counted, err = s.counted(product); err == nil && is.Counted < is.Answered {
			err = errFewer
		}
		return err
	})
	s.after.Bills[product] = is
	if err != nil && err != errFewer {
		return err
	}
	if is.Counted < is.Answered || is.Counted > is.Sent {
		s.violated("charged calls of %s: %d were answered, %d are counted, and %d were sent", product, is.Answered,
			is.Counted, is.Sent)
	}
	return nil
}

var errFewer = fmt.Errorf("fewer calls are counted than were answered")

// counted asks for the usage of the application that calls.
func (s *soak) counted(product string) (int64, error) {
	p := s.people[0]
	if !p.program() {
		return 0, fmt.Errorf("the application that calls gets no token")
	}
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)},
		"to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	a := p.get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+p.machine)
	var usage struct {
		Data struct{ Totals map[string]int64 }
	}
	if err := json.Unmarshal(a.body, &usage); err != nil || a.status != http.StatusOK {
		return 0, fmt.Errorf("usage is answered %v", a)
	}
	return usage.Data.Totals[product], nil
}

// mailLease is the time after which a mail must have come, also if the node that had it in hand was
// killed.
const mailLease = 3 * time.Minute

// countMails counts the mails that came. Those that are not late yet are waited for a little.
func (s *soak) countMails(ctx context.Context) {
	m := &s.world.mailed
	until(ctx, 5*time.Second, func() error { // what has not come then is counted as that
		s.after.Mails = mails{Asked: len(m.asked)}
		for _, a := range m.asked {
			if s.site.mails.has(a.to) {
				s.after.Mails.Came++
			}
		}
		if s.after.Mails.Came < s.after.Mails.Asked {
			return fmt.Errorf("some are missing")
		}
		return nil
	})
	for _, a := range m.asked {
		if age := time.Since(a.at); age > mailLease && !s.site.mails.has(a.to) {
			s.violated("a mail to %s was promised %.0f s ago, and has not come", a.to, age.Seconds())
		}
	}
}

// checkStorage has the program check its storage. That of a test is no safe one in every regard: what counts
// is that its counters are right, and that nothing is found that the test has not made so.
func (s *soak) checkStorage(ctx context.Context) error {
	// its exit is what it has found
	out, _ := s.site.tool(ctx, "storage", "check", "--json", "--base-url", origin, "--trusted-proxies", proxies)
	var is struct {
		Findings []struct{ Name, State, Says string }
	}
	if err := json.Unmarshal([]byte(firstLine(out)), &is); err != nil {
		return fmt.Errorf("storage check prints %s", out)
	}
	states := map[string]int{}
	for _, f := range is.Findings {
		states[f.State]++
		if f.State == "unsafe" || f.State == "unknown" {
			s.violated("storage check: %s: %s: %s", f.Name, f.State, f.Says)
		}
	}
	s.after.Storage = fmt.Sprintf("%d findings: %d safe, %d notes, %d unsafe", len(is.Findings), states["safe"],
		states["note"], states["unsafe"])
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
