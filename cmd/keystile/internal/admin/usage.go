package admin

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway/usage"
)

var csvFlag = cli.Flag{Name: "csv", Help: "print a table for spreadsheets"}

var usageCommands = []command{
	{
		name: "usage", summary: "Show the charged calls, of all applications or of one", do: showUsage,
		details: "Without --app it is the whole service, with how long the calls took: half of them, 95 of\n" +
			"100 and 99 of 100 took no longer than this. Without --from it is the last 24 hours; with\n" +
			"--daily it is this month. Times are in UTC.",
		examples: []string{"keystile usage", "keystile usage --daily --from 2026-11-01 --csv",
			"keystile usage --app ksabcdefghij0123456789 --by tool --daily"},
		flags: []cli.Flag{
			{Name: "app", Value: "CLIENT_ID", Help: "of one application, one that was removed too"},
			{Name: "by", Value: "WHAT", Help: "with --app: product (default), member, tool, user or agent"},
			{Name: "product", Value: "NAME", Help: "of one product"},
			{Name: "from", Value: "TIME", Help: "from then on, such as 2026-11-21"},
			{Name: "to", Value: "TIME", Help: "until then, exclusive (now)"},
			{Name: "daily", Help: "by day instead of by hour"},
			csvFlag,
		},
	},
	{
		name: "usage top", summary: "Show who called most", do: showTop,
		details: "It is counted by each server as it goes, and stored each minute. A number with a + is one\n" +
			"that it is at least. A server that is killed forgets up to a minute.",
		examples: []string{"keystile usage top", "keystile usage top --tools --day 2026-11-21",
			"keystile usage top --users --days 30 --json"},
		flags: []cli.Flag{
			{Name: "apps", Help: "applications (default)"},
			{Name: "tools", Help: "tools"},
			{Name: "users", Help: "users, by sub"},
			{Name: "agents", Help: "agents: who acts by delegation, else the application"},
			{Name: "day", Value: "DATE", Help: "such as 2026-11-21, in UTC (today)"},
			{Name: "days", Value: "N", Help: "that day and those before it, N in all, up to 32 (1)"},
			{Name: "count", Value: "N", Help: "how many, up to 100 (10)"},
			csvFlag,
		},
	},
	{
		name: "usage forecast", words: []string{"CLIENT_ID"},
		summary: "Show where the quota of an application is going", do: showForecast,
		details:  "What is used of it is extended by the mean of the last seven days.",
		examples: []string{"keystile usage forecast ksabcdefghij0123456789"},
	},
}

func showUsage(ctx context.Context, target Target, args cli.Args) (output, error) {
	from, err := moment(args.Get("from"))
	if err != nil {
		return nil, err
	}
	to, err := moment(args.Get("to"))
	if err != nil {
		return nil, err
	}
	if from.IsZero() && !args.On("daily") {
		end := to
		if end.IsZero() {
			end = time.Now()
		}
		from = end.Add(-23 * time.Hour)
	}
	if args.Get("app") != "" {
		return showAppUsage(ctx, target, args, from, to)
	}
	if args.Get("by") != "" {
		return nil, cli.Usage("--by is of one application: name it with --app CLIENT_ID")
	}
	f, err := target.Usage.Figures(ctx, usage.FiguresQuery{From: from, To: to, Daily: args.On("daily"),
		Product: args.Get("product")})
	said := list{empty: "nothing was called"}
	for _, p := range append(f.Series, f.Total) {
		said.rows = append(said.rows, answer{
			{"at", when(p.At)}, {"calls", p.Calls}, {"errors", p.Errors}, {"p50", latency(p.P50)}, {"p95", latency(p.P95)},
			{"p99", latency(p.P99)},
		})
	}
	if err == nil && !args.On("json") && !args.On("csv") {
		said.rows[len(f.Series)][0].value = "total"
	} else if err == nil {
		said.rows = said.rows[:len(f.Series)]
	}
	return tabled(said, args), err
}

// latency is shown as people write it, and printed in seconds.
type latency time.Duration

func (d latency) String() string {
	if d == 0 {
		return "-"
	}
	return time.Duration(d).Round(10 * time.Microsecond).String()
}

func (d latency) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

func showAppUsage(ctx context.Context, target Target, args cli.Args, from, to time.Time) (output, error) {
	id := args.Get("app")
	a, err := target.Usage.Usage(ctx, usage.Query{
		ClientID: id, From: from, To: to, Daily: args.On("daily"), By: args.Get("by"), Product: args.Get("product"),
	})
	if err = unknownApp(id, err); err != nil {
		return nil, err
	}
	said := list{empty: "nothing was called"}
	for _, row := range a.Series {
		said.rows = append(said.rows, answer{{"at", when(row.At)}, {a.By, row.Name}, {"calls", row.Calls},
			{"errors", row.Errors}})
	}
	return tabled(said, args), nil
}

func showTop(ctx context.Context, target Target, args cli.Args) (output, error) {
	q := usage.TopQuery{Of: usage.Apps}
	asked := 0
	for _, of := range []string{usage.Apps, usage.Tools, usage.Users, usage.Agents} {
		if args.On(of) {
			q.Of = of
			asked++
		}
	}
	if asked > 1 {
		return nil, cli.Usage("--apps, --tools, --users and --agents exclude each other")
	}
	day, err := moment(args.Get("day"))
	if err != nil {
		return nil, err
	}
	days, err := number(args, "days", 1, usage.MaxTopDays)
	if err != nil {
		return nil, err
	}
	if q.N, err = number(args, "count", 10, 100); err != nil {
		return nil, err
	}
	if day.IsZero() {
		day = time.Now()
	}
	day = day.UTC().Truncate(24 * time.Hour)
	q.From, q.To = day.AddDate(0, 0, 1-days), day.AddDate(0, 0, 1)
	top, err := target.Usage.Top(ctx, q)
	said := list{empty: "nothing was called"}
	for _, e := range top {
		row := answer{{strings.TrimSuffix(q.Of, "s"), e.Name}, {"calls", e.Calls}, {"errors", e.Errors},
			{"at_least", e.AtLeast}}
		if !args.On("json") && !args.On("csv") {
			row = row[:3]
			if e.AtLeast {
				row[1].value, row[2].value = fmt.Sprint(e.Calls, "+"), fmt.Sprint(e.Errors, "+")
			}
		}
		said.rows = append(said.rows, row)
	}
	return tabled(said, args), err
}

// number reads a flag, which is from 1 to most.
func number(args cli.Args, name string, fallback, most int) (int, error) {
	text := args.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, cli.Usage("--%s %s: it is a number from 1 to %d", name, text, most)
	}
	return n, nil
}

func showForecast(ctx context.Context, target Target, args cli.Args) (output, error) {
	f, err := target.Usage.Forecast(ctx, args.Words[0])
	if err = unknownApp(args.Words[0], err); err != nil {
		return nil, err
	}
	said := answer{
		{"client_id", args.Words[0]}, {"tier", f.Plan.Tier}, {"limit", f.Plan.Calls}, {"used", f.Used},
		{"reset_at", when(f.ResetAt)},
		{"calls_per_day", f.PerDay}, {"expected", f.Expected}, {"over", f.Over}, {"over_fen", f.OverFen},
		{"runs_out_at", when(f.RunsOut)},
	}
	return said, nil
}

// tabled prints a list as a table for spreadsheets where that is asked for.
func tabled(l list, args cli.Args) output {
	if args.On("csv") {
		return csvList{l}
	}
	return l
}

// csvList is a list as CSV.
type csvList struct{ list }

func (l csvList) text(asJSON bool) (string, error) {
	if asJSON {
		return "", cli.Usage("--csv and --json exclude each other")
	}
	var text strings.Builder
	out := csv.NewWriter(&text)
	for i, row := range l.rows {
		var head, cells []string
		for _, f := range row {
			head, cells = append(head, f.name), append(cells, inCell(f))
		}
		if i == 0 {
			out.Write(head)
		}
		out.Write(cells)
	}
	out.Flush()
	return text.String(), out.Error()
}

// inCell returns a value as a spreadsheet shows it and does not run it: names may begin with anything.
func inCell(f field) string {
	if d, ok := f.value.(latency); ok {
		return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64)
	}
	text := f.shown()
	if text != "" && strings.ContainsRune("=+-@|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
