package admin

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// trail reads the trail in the caller's process, through the running server or out of its
// file.
func (h Opener) trail(ctx context.Context, call cli.Call, do func(audit.Archive) error) error {
	m := terminal.Watch(call.Stderr, "reading the audit trail", "records")
	defer m.End()
	return h.looking(ctx, call, func(d *distant) error { return do(countedTrail{d, m}) },
		func(target Target, _ Kind) error { return do(countedTrail{target.Store, m}) })
}

// looking has the running server read its trail, or reads it here.
func (h Opener) looking(ctx context.Context, call cli.Call, there func(*distant) error,
	here func(Target, Kind) error) error {
	conf, kind, err := h.kind(call)
	if err != nil {
		return err
	}
	f, done, err := h.find(conf, kind)
	if err != nil {
		return err
	}
	defer done()
	return h.reading().reach(ctx, conf, f, func(socket string) error { return there(&distant{socket: socket}) },
		func(target Target) error { return here(target, kind) })
}

// distant is the trail of a running server.
type distant struct {
	socket string
	begun  bool
}

func (d *distant) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	return page, d.ask(ctx, &page, "audit records", strconv.FormatUint(after, 10), strconv.Itoa(n))
}

func (d *distant) Appended(ctx context.Context) (uint64, error) {
	var s state
	err := d.ask(ctx, &s, "audit state")
	return s.Appended, err
}

func (d *distant) Checkpoint(ctx context.Context) (storage.Checkpoint, error) {
	var s state
	err := d.ask(ctx, &s, "audit state")
	if err == nil && s.Forged {
		err = storage.ErrCheckpoint
	}
	return storage.Checkpoint{Text: storage.NewSecret(s.Checkpoint), Version: s.Version}, err
}

// ask has the server run one of the commands above, and reads its answer.
func (d *distant) ask(ctx context.Context, into any, command string, words ...string) error {
	args := cli.Args{Words: words, Flags: map[string][]string{"json": {"true"}}}
	text, err := ask(ctx, d.socket, requestOf(command, args), 0)
	if errors.Is(err, errNobody) && d.begun { // to begin anew with the file would tell the beginning twice
		err = errors.New("the server has gone away in between; do it again")
	}
	if err != nil {
		return err
	}
	d.begun = true
	return json.Unmarshal([]byte(text), into)
}

// state holds what audit verify reads beside the records. The socket is for users who
// may do anything, so the checkpoint goes over it opened.
type state struct {
	Appended   uint64 `json:"appended"`
	Checkpoint string `json:"checkpoint"`
	Version    int64  `json:"version"`
	Forged     bool   `json:"forged"`
}

func (s state) text(bool) (string, error) { return line(s) }

func auditState(ctx context.Context, target Target, _ cli.Args) (output, error) {
	given, err := target.Store.Appended(ctx)
	if err != nil {
		return nil, err
	}
	c, err := target.Store.Checkpoint(ctx)
	if errors.Is(err, storage.ErrCheckpoint) {
		return state{Appended: given, Forged: true}, nil
	}
	return state{Appended: given, Checkpoint: c.Text.Reveal(), Version: c.Version}, err
}

func auditPage(ctx context.Context, target Target, args cli.Args) (output, error) {
	after, err := strconv.ParseUint(args.Words[0], 10, 64)
	n, bad := strconv.Atoi(args.Words[1])
	if err = errors.Join(err, bad); err != nil || n < 1 || n > driver.Page {
		return nil, cli.Usage("AFTER and N are numbers, N up to %d", driver.Page)
	}
	records, err := target.Store.Records(ctx, after, n)
	return page(records), err
}

type page []driver.Record

func (p page) text(bool) (string, error) {
	if p == nil {
		p = page{}
	}
	return line(p)
}

// countedTrail is an audit trail that shows how much of it has been read.
type countedTrail struct {
	audit.Archive
	meter *terminal.Meter
}

func (c countedTrail) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	page, err := c.Archive.Records(ctx, after, n)
	c.meter.Add(len(page))
	return page, err
}
