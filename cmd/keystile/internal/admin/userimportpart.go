package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/importacts"
	"github.com/keystile/keystile/oauth/signin/users"
)

// importPart is some rows of a file, or its end.
type importPart struct {
	Rows []importacts.Row   `json:"rows,omitempty"`
	Dry  bool               `json:"dry,omitempty"`
	End  *importacts.Totals `json:"end,omitempty"`
}

// importDone says what has become of a part.
type importDone struct {
	Rows       []importacts.Outcome `json:"rows,omitempty"`
	Unrecorded string               `json:"unrecorded,omitempty"` // why the audit trail lacks some of it
}

// importCommand has a server take a part.
const (
	importCommand = "user import part"
	partFlag      = "part"
)

var importCommands = []command{{name: importCommand, summary: "Make the users of some rows", hidden: true, acts: true,
	brings: true, flags: []cli.Flag{{Name: partFlag, Value: "JSON", Help: "the rows", Need: true}},
	do: func(ctx context.Context, target Target, args cli.Args) (output, error) {
		var part importPart
		if err := json.Unmarshal([]byte(args.Get(partFlag)), &part); err != nil {
			return nil, cli.Usage("the rows cannot be read: %w", err)
		}
		done, err := target.importPart(ctx, part)
		return asText{done}, err
	}}}

// asText is an output that is JSON in any case.
type asText struct{ value any }

func (a asText) text(bool) (string, error) { return line(a.value) }

// sendPart has the server behind a socket take a part.
func sendPart(ctx context.Context, socket string, part importPart) (done importDone, err error) {
	text, err := json.Marshal(part)
	if err != nil {
		return done, err
	}
	body, err := json.Marshal(requestOf(importCommand, cli.Args{Flags: map[string][]string{partFlag: {string(text)}}}))
	if err != nil {
		return done, err
	}
	said, err := exchange(ctx, socket, documentPath, documentWait, bytes.NewReader(body))
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal([]byte(said), &done); err != nil || len(done.Rows) != len(part.Rows) {
		return done, errors.Join(errors.New("the running server answers in another way: restart it"), err)
	}
	return done, nil
}

// importPart takes a part here.
func (r Target) importPart(ctx context.Context, part importPart) (done importDone, err error) {
	acts := importacts.New(importacts.Config{Store: r.Store, Recorder: r.Recorder, Forget: r.ForgetUser,
		Adopt: r.Users.Adopt, Mailbox: users.NormalizeEmail, Issuers: r.Issuers})
	if part.End != nil {
		err = acts.Finish(ctx, r.By, *part.End)
	} else {
		done.Rows, err = acts.Import(ctx, r.By, part.Rows, part.Dry)
	}
	open := func(o importacts.Outcome) bool { return o.Is == "" }
	if unrecorded := (*admin.Unrecorded)(nil); errors.As(err, &unrecorded) && !slices.ContainsFunc(done.Rows, open) {
		done.Unrecorded, err = err.Error(), nil
	}
	if err != nil {
		err = fmt.Errorf("%w; what was made stays: run the same again", err)
	}
	return done, err
}
