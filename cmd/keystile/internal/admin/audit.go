package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/wholefile"
)

// auditCommands have lines that no operator types: what the two below read.
var auditCommands = []command{
	{name: "audit records", words: []string{"AFTER", "N"}, summary: "Read a page of the audit trail", do: auditPage,
		hidden: true},
	{name: "audit state", summary: "Read what stands for removed records", do: auditState, hidden: true},
}

func auditLines(opener Opener) []cli.Command {
	return []cli.Command{
		{
			Name: "audit verify", Summary: "Check that the audit trail is whole",
			Details: "Every record is chained to the one before it. What is printed as heads is worth keeping where\n" +
				"a person who can write to the database cannot change it: with --head, a trail that was cut or\n" +
				"written anew since is found out. A head whose record was removed in order since, by its age or\n" +
				"the trail's size, is named behind_checkpoint: it can no longer be proven, and nothing speaks\n" +
				"against it. unended are the chains of processes that run, were killed, or whose last records are\n" +
				"lost: " + audit.KillNote + ".\nNeither the folder nor the database need be writable.",
			Examples: []string{"keystile audit verify", "keystile audit verify --head ufz3w:42:9f86d081884c7d65...:1042 --json"},
			Flags: append([]cli.Flag{{Name: "head", Value: "HEAD", Help: "a head that an earlier verify printed",
				Many: true}}, common()...),
			Run: func(ctx context.Context, call cli.Call) error { return verifyTrail(ctx, call, opener) },
		},
		{
			Name: "audit export", Summary: "Write the audit trail as JSON lines or CSV",
			Details: "It goes to the standard output, or to a file that must not be there yet.",
			Examples: []string{"keystile audit export --from 2026-11-01 --out november.jsonl",
				"keystile audit export --format csv --app ksabcdefghij0123456789"},
			Flags: append([]cli.Flag{
				{Name: "out", Value: "FILE", Help: "where to (the standard output)"},
				{Name: "format", Value: "FORMAT", Help: "jsonl or csv (jsonl)"},
				{Name: "from", Value: "TIME", Help: "the first moment, such as 2026-11-21 or 2026-11-21T15:00:00Z"},
				{Name: "to", Value: "TIME", Help: "the moment to end before"},
				{Name: "kind", Value: "KIND", Help: "signin, token, call, tool, registration, admin or revocation"},
				{Name: "app", Value: "CLIENT_ID", Help: "of one application"},
				{Name: "user", Value: "SUB", Help: "of one user"},
				{Name: "agent", Value: "CLIENT_ID", Help: "of one that acted, as the application or by delegation; a sub, too"},
			}, common()...),
			Run: func(ctx context.Context, call cli.Call) error { return exportTrail(ctx, call, opener) },
		},
	}
}

func verifyTrail(ctx context.Context, call cli.Call, opener Opener) error {
	var kept []audit.Head
	for _, text := range call.Args.Flags["head"] {
		head, err := audit.ParseHead(text)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		kept = append(kept, head)
	}
	var report audit.Report
	err := opener.trail(ctx, call, func(r audit.Archive) (err error) {
		report, err = audit.Verify(ctx, r, kept...)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(say(call, verdictOf(report, call.On("json"))), report.Err())
}

// maxShown bounds how many heads of one kind a person is shown.
const maxShown = 20

// verdictOf says what was found. Without JSON it is for people, who are told what it means.
func verdictOf(report audit.Report, asJSON bool) answer {
	heads, unended, behind, breaks := []string{}, []string{}, []string{}, []string{}
	for _, h := range report.Heads {
		heads = append(heads, h.String())
	}
	for _, h := range report.Unended() {
		unended = append(unended, h.Chain)
	}
	for _, h := range report.Behind {
		behind = append(behind, h.String())
	}
	for _, b := range report.Breaks {
		breaks = append(breaks, b.String())
	}
	said := answer{
		{"whole", report.Broken == 0}, {"records", int64(report.Records)}, {"repeated", int64(report.Repeated)},
		{"lost", int64(report.Lost)}, {"breaks", breaks}, {"heads", heads},
	}
	if c := report.Removed; c.Through > 0 || asJSON {
		said = append(said, answer{
			{"removed", int64(c.Removed)}, {"removed_through_seq", int64(c.Through)}, {"removed_until", when(c.Last)},
			{"removed_since", when(c.Since)}, {"removed_at", when(c.At)}, {"removed_breaks", int64(c.Broken)},
		}...)
	}
	if len(behind) > 0 || asJSON {
		said = append(said, field{"behind_checkpoint", behind})
	}
	if len(unended) > 0 || asJSON {
		said = append(said, field{"unended", unended})
	}
	if asJSON {
		return said
	}
	if len(behind) > 0 {
		said = append(said, field{"", "behind_checkpoint: the records of these heads were removed in order; they can no " +
			"longer be proven, and nothing speaks against them"})
	}
	if len(unended) > 0 {
		said = append(said, field{"",
			"unended: the process of such a chain runs, was killed, or the end of the chain is lost; " + audit.KillNote})
	}
	for i, f := range said {
		if list, is := f.value.([]string); is && f.name != "heads" && f.name != "breaks" && len(list) > maxShown {
			said[i].value = append(list[:maxShown:maxShown], fmt.Sprintf("and %d more (--json)", len(list)-maxShown))
		}
	}
	return said
}

func exportTrail(ctx context.Context, call cli.Call, opener Opener) error {
	filter := audit.Filter{Kind: call.Get("kind"), App: call.Get("app"), User: call.Get("user"), Agent: call.Get("agent")}
	var err error
	if filter.From, err = moment(call.Get("from")); err != nil {
		return err
	}
	if filter.To, err = moment(call.Get("to")); err != nil {
		return err
	}
	format := audit.Format(call.Get("format"))
	switch format {
	case "":
		format = audit.JSONL
	case audit.JSONL, audit.CSV:
	default:
		return cli.Usage("--format is jsonl or csv")
	}
	to := func(w io.Writer) error {
		return opener.trail(ctx, call, func(r audit.Archive) error { return audit.Export(ctx, r, w, filter, format) })
	}
	if call.Get("out") == "" {
		if terminal.Is(call.Stdout) { // where the records show how far it is
			call.Stderr = io.Discard
		}
		return to(call.Stdout)
	}
	path, err := filepath.Abs(call.Get("out"))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already; choose another name", path)
	}
	return wholefile.Place(path, false, to)
}

func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cli.Usage("%q is no time; write 2026-11-21 or 2026-11-21T15:00:00Z", text)
}
