package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/cmd/keystile/internal/userfile"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/importacts"
)

const (
	formatFlag = "format"
	issuerFlag = "issuer"
	dryRunFlag = "dry-run"
)

func importLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "user import", Words: []string{"FILE"}, Summary: "Make the users of another product, with their passwords",
		Details: "The formats are " + strings.Join(userfile.Formats, ", ") + ". keystile is JSON on each line, with\n" +
			"username, email, email_verified, name, nickname, password_hash, groups, attributes, external_ids and\n" +
			"disabled; csv has these names in its first line, and blanks between the values of a list; the others are\n" +
			"what the product exports. external_ids are oidc:ISSUER:SUB, or METHOD:SUBJECT of another connector.\n" +
			"Passwords are bcrypt, argon2i, argon2id, scrypt or PBKDF2. They go on working, and are hashed anew when the\n" +
			"user signs in. Roles and second factors are never taken from a file. Groups that are missing are made.\n" +
			"\n" +
			"A username or a verified address that is somebody's refuses the row, which is told with its line. A row\n" +
			"that an earlier import has made is passed over: what was broken off is run again. Nothing of a row is\n" +
			"half done. If a row was refused, the command ends with 1.",
		Examples: []string{"keystile user import realm.json --format keycloak --dry-run",
			"keystile user import users.jsonl"},
		Flags: append([]cli.Flag{
			{Name: formatFlag, Value: "FORMAT", Help: "how the file is written (keystile)"},
			{Name: dryRunFlag, Help: "check every row, and write nothing"},
			{Name: issuerFlag, Value: "PROVIDER=URL", Many: true,
				Help: "the issuer of a provider that the file names; without a URL it is left out"},
		}, common()...),
		Run: func(ctx context.Context, call cli.Call) error { return importUsers(ctx, call, opener) },
	}
}

func importUsers(ctx context.Context, call cli.Call, opener Opener) error {
	conf, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	run, err := newUserImport(call)
	if err != nil {
		return err
	}
	defer run.stop()
	kind, err := opener.Kind(conf)
	if err != nil {
		return err
	}
	f, done, err := opener.find(conf, kind)
	if err != nil {
		return err
	}
	defer done()
	run.meter = terminal.Watch(call.Stderr, "user import", "rows")
	err = opener.reach(ctx, conf, f, func(socket string) error {
		return run.all(func(part importPart) (importDone, error) { return sendPart(ctx, socket, part) })
	}, func(target Target) error {
		target = target.by(admin.CommandLine())
		return run.all(func(part importPart) (importDone, error) { return target.importPart(ctx, part) })
	})
	run.meter.End()
	if err != nil && run.totals == (importacts.Totals{Format: run.totals.Format}) {
		return err
	}
	if err == nil && run.totals.Refused > 0 {
		err = fmt.Errorf("%d rows were refused: mend them, and run the same again", run.totals.Refused)
	}
	return errors.Join(say(call, run), err)
}

// userImport is an import on its way, from a file to wherever the store is.
type userImport struct {
	call   cli.Call
	next   func() (userfile.Item, error, bool)
	stop   func()
	dry    bool
	claims importacts.Claims // in a dry run: what earlier rows would have
	meter  *terminal.Meter

	totals  importacts.Totals
	refused []answer // the first ones, for JSON

	part importPart // that is on its way: it goes again to whoever takes the next one
	at   []int      // the lines of its rows
	ends bool       // there is nothing behind it
	bad  error      // why nothing more is read
}

func newUserImport(call cli.Call) (*userImport, error) {
	format := call.Get(formatFlag)
	if format == "" {
		format = userfile.Formats[0]
	}
	issuers := map[string]string{}
	for _, one := range call.Flags[issuerFlag] {
		name, issuer, is := strings.Cut(one, "=")
		if !is || name == "" {
			return nil, cli.Usage("--%s %s: give PROVIDER=URL", issuerFlag, one)
		}
		issuers[name] = issuer
	}
	f, err := userfile.Open(call.Words[0], format, issuers)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	u := &userImport{call: call, dry: call.On(dryRunFlag), claims: importacts.Claims{},
		totals: importacts.Totals{Format: format}}
	u.next, u.stop = iter.Pull2(f.Items())
	return u, nil
}

// Bounds of a part, so that an answer comes soon: rows, and bytes of their texts.
const (
	partRows  = 1000
	partBytes = 4 << 20
)

// read reads the next part, unless the one before was not taken yet.
func (u *userImport) read() {
	for size := 0; !u.ends && len(u.part.Rows) < partRows && size < partBytes; {
		item, err, more := u.next()
		switch {
		case !more:
			u.ends = true
		case err != nil:
			u.ends, u.bad = true, err
		case item.Refused != "":
			u.refuse(item.Line, item.Refused)
		default:
			u.part.Rows, u.at = append(u.part.Rows, item.Row), append(u.at, item.Line)
			size += 1024 + sizeOf(item.Row)
		}
	}
	u.part.Dry = u.dry
}

func sizeOf(r importacts.Row) (n int) {
	for name, value := range r.Attributes {
		n += len(name) + len(value)
	}
	return n + len(strings.Join(r.Groups, " ")) + len(strings.Join(r.ExternalIDs, " "))
}

// all sends part after part, until there is nothing left, and then the totals.
func (u *userImport) all(send func(importPart) (importDone, error)) error {
	for {
		if len(u.part.Rows) == 0 {
			u.read()
		}
		if len(u.part.Rows) == 0 {
			break
		}
		done, err := send(u.part)
		if err != nil {
			return err
		}
		for i, o := range done.Rows {
			u.count(u.at[i], o)
		}
		u.part, u.at = importPart{}, nil
		if done.Unrecorded != "" {
			return errors.New(done.Unrecorded)
		}
	}
	if u.bad != nil {
		return u.bad
	}
	if u.dry {
		return nil
	}
	done, err := send(importPart{End: &u.totals})
	if err == nil && done.Unrecorded != "" {
		err = errors.New(done.Unrecorded)
	}
	return err
}

func (u *userImport) count(line int, o importacts.Outcome) {
	u.meter.Add(1)
	if o.Is == importacts.Made && u.dry {
		switch same, taken := u.claims.Take(o.Names, o.Mark); {
		case same:
			o.Is = importacts.Passed
		case taken:
			o = importacts.Outcome{Is: importacts.Refused, Reason: importacts.TwiceInFile}
		}
	}
	switch o.Is {
	case importacts.Made:
		u.totals.Made++
	case importacts.Passed:
		u.totals.Passed++
	default:
		u.refuse(line, o.Reason)
	}
}

// mostTold is the number of refused rows that stand in the answer, too.
const mostTold = 1000

func (u *userImport) refuse(line int, reason string) {
	u.totals.Refused++
	fmt.Fprintf(u.call.Stderr, "keystile: line %d: %s\n", line, reason)
	if len(u.refused) < mostTold {
		u.refused = append(u.refused, answer{{"line", line}, {"reason", reason}})
	}
}

// text is the answer. In JSON the first refused rows are in it.
func (u *userImport) text(asJSON bool) (string, error) {
	a := answer{{"format", u.totals.Format}, {"dry_run", u.dry}, {"made", u.totals.Made},
		{"passed_over", u.totals.Passed}, {"refused", u.totals.Refused}}
	if asJSON {
		a = append(a, field{"rows_refused", append([]answer{}, u.refused...)})
	}
	return a.text(asJSON)
}
