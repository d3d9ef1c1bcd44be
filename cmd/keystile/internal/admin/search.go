package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/audit/search"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

var searchCommands = []command{
	{name: "audit find", words: []string{"QUERY"}, summary: "Read a page of what a query selects", do: findPage,
		hidden: true},
	{name: "audit whose", words: []string{"USER"}, summary: "Read whom a name means", do: findWhose, hidden: true},
	{
		name: "audit reindex", summary: "Make the index of the audit trail anew", do: reindexTrail, acts: true,
		details: "A running server does so in the background, else the next one that is started. Meanwhile a search\n" +
			"reads the records themselves, which takes longer. The records are not touched.",
		examples: []string{"keystile audit reindex"},
	},
}

func reindexTrail(ctx context.Context, target Target, _ cli.Args) (output, error) {
	if err := search.Reindex(ctx, target.Store); err != nil {
		return nil, err
	}
	return answer{{"reindexing", true}}, target.Recorder.Note(ctx, target.By,
		admin.Act{What: "audit reindex", On: "trail"})
}

// found is a page as it goes over the socket.
type found event.Page

func (f found) text(bool) (string, error) { return line(event.Page(f)) }

func findPage(ctx context.Context, target Target, args cli.Args) (output, error) {
	var q event.Query
	if err := json.Unmarshal([]byte(args.Words[0]), &q); err != nil {
		return nil, cli.Usage("QUERY is the JSON of a query: %v", err)
	}
	p, err := search.Find(ctx, target.Store, q)
	return found(p), err
}

// searcher is a trail that is searched, in this process or by the running server.
type searcher interface {
	audit.Reader
	find(ctx context.Context, q event.Query) (event.Page, error)
	sub(ctx context.Context, user string) (string, error)
}

func (d *distant) find(ctx context.Context, q event.Query) (page event.Page, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return page, err
	}
	return page, d.ask(ctx, &page, "audit find", string(text))
}

type near struct{ *storage.Store }

func (n near) find(ctx context.Context, q event.Query) (event.Page, error) {
	return search.Find(ctx, n.Store, q)
}

// searching opens the trail for a search. served is true if a server answers.
func (h Opener) searching(ctx context.Context, call cli.Call, do func(s searcher, served bool) error) error {
	return h.looking(ctx, call, func(d *distant) error { return do(d, true) },
		func(target Target, kind Kind) error { return do(near{target.Store}, !kind.Copies) })
}

// filterFlags select events.
var filterFlags = []cli.Flag{
	{Name: "user", Value: "SUB", Help: "of one user"},
	{Name: "for", Value: "USER", Help: "the same, by username or sub"},
	{Name: "app", Value: "CLIENT_ID", Help: "of one application"},
	{Name: "agent", Value: "CLIENT_ID", Help: "of one that acted, as the application or by delegation; a sub, too"},
	{Name: "kind", Value: "KIND", Help: "such as signin, token, call, tool, admin or revocation"},
	{Name: "request-id", Value: "ID", Help: "of one request"},
	{Name: "ip", Value: "ADDRESS", Help: "of one address"},
	{Name: "status", Value: "CLASS", Help: "answered with 2xx, 3xx, 4xx or 5xx"},
}

func searchLines(opener Opener) []cli.Command {
	return []cli.Command{
		{
			Name: "audit search", Summary: "Find events on the audit trail, the newest first",
			Details: "It reads an index, so it is quick however long the trail is. Give several of these to find what\n" +
				"they all fit. It works while the server runs or not.",
			Examples: []string{"keystile audit search --user usr4k2 --kind signin --limit 10",
				"keystile audit search --agent ksabcdefghij0123456789 --for ada",
				"keystile audit search --request-id 7f3a9c --json"},
			Flags: slices.Concat(filterFlags, []cli.Flag{
				{Name: "from", Value: "TIME", Help: "the first moment, such as 2026-11-21 or 2026-11-21T15:00:00Z"},
				{Name: "to", Value: "TIME", Help: "the moment to end before"},
				{Name: "before", Value: "SEQ", Help: "only events in front of this one"},
				{Name: "limit", Value: "N", Help: "how many at most (50)"},
			}, common()),
			Run: func(ctx context.Context, call cli.Call) error { return searchTrail(ctx, call, opener) },
		},
		{
			Name: "audit tail", Summary: "Show the last events of the audit trail, and those that come",
			Details:  "With --follow it goes on until it is ended, as with Ctrl+C. With --json each event is a line.",
			Examples: []string{"keystile audit tail --lines 50", "keystile audit tail --follow --status 5xx"},
			Flags: slices.Concat([]cli.Flag{
				{Name: "follow", Help: "go on with what is noted from now on"},
				{Name: "lines", Value: "N", Help: "how many to begin with (20)"},
			}, filterFlags, common()),
			Run: func(ctx context.Context, call cli.Call) error { return tailTrail(ctx, call, opener) },
		},
	}
}

// queryOf returns what is searched for, but for the user, whom a name may mean: see ofPerson.
func queryOf(call cli.Call) event.Query {
	return event.Query{
		App: call.Get("app"), Agent: call.Get("agent"), Kind: call.Get("kind"),
		RequestID: call.Get("request-id"), IP: call.Get("ip"), Status: call.Get("status"),
	}
}

const maxFound = 10_000

// amount reads a flag that is a number from least to maxFound.
func amount(call cli.Call, flag string, least, otherwise int) (int, error) {
	text := call.Get(flag)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > maxFound {
		return 0, cli.Usage("--%s is a number from %d to %d; for more there is keystile audit export", flag, least, maxFound)
	}
	return n, nil
}

func searchTrail(ctx context.Context, call cli.Call, opener Opener) (err error) {
	q := queryOf(call)
	if q.From, err = moment(call.Get("from")); err != nil {
		return err
	}
	if q.To, err = moment(call.Get("to")); err != nil {
		return err
	}
	if text := call.Get("before"); text != "" {
		if q.Before, err = strconv.ParseUint(text, 10, 63); err != nil || q.Before == 0 {
			return cli.Usage("--before is the number of an event, as in the column SEQ")
		}
	}
	limit, err := amount(call, "limit", 1, 50)
	if err != nil {
		return err
	}
	var all []event.Entry
	more := uint64(0)
	err = opener.searching(ctx, call, func(s searcher, _ bool) (err error) {
		if q.User, err = ofPerson(ctx, call, s); err != nil {
			return err
		}
		all, more, err = some(ctx, s, q, limit)
		return err
	})
	if err != nil {
		return err
	}
	text, err := eventList(all).text(call.On("json"))
	if err != nil {
		return err
	}
	if more > 0 && !call.On("json") {
		fmt.Fprintf(call.Stderr, "there may be more: --before %d shows what is older\n", more)
	}
	_, err = fmt.Fprint(call.Stdout, text)
	return err
}

// some reads up to n events, page by page. more is where to go on.
func some(ctx context.Context, s searcher, q event.Query, n int) (all []event.Entry, more uint64, err error) {
	for {
		q.Limit = min(n-len(all), event.MaxLimit)
		page, err := s.find(ctx, q)
		if errors.Is(err, driver.ErrInvalid) {
			return nil, 0, plain(err)
		}
		if err != nil {
			return nil, 0, err
		}
		all = append(all, page.Entries...)
		if page.Next == 0 || len(all) == n {
			return all, page.Next, nil
		}
		q.Before = page.Next
	}
}

// eventList is events as a table or as one line of JSON.
type eventList []event.Entry

func (l eventList) text(asJSON bool) (string, error) {
	if asJSON {
		return line(append([]event.Entry{}, l...))
	}
	rows := list{empty: "no event fits"}
	for _, e := range l {
		rows.rows = append(rows.rows, cellsOf(e))
	}
	return rows.text(false)
}

// cellsOf returns the cells of an event.
func cellsOf(e event.Entry) answer {
	what := e.Detail
	if e.Path != "" {
		what = e.Method + " " + e.Path
	}
	if e.Count > 1 {
		what += fmt.Sprintf(" (%d times)", e.Count)
	}
	status := ""
	if e.Status > 0 {
		status = strconv.Itoa(e.Status)
	}
	return answer{
		{"seq", int64(e.Seq)}, {"at", when(e.At.Truncate(time.Second))}, {"kind", e.Kind}, {"status", status},
		{"user", e.User},
		{"app", e.App}, {"act", strings.Join(e.Actors, " ")}, {"ip", e.IP}, {"request_id", e.RequestID}, {"what", what},
	}
}
