package postgres

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// State says what a Finding found.
type State string

// The states of a Finding.
const (
	Safe    State = "safe"
	Note    State = "note"    // it may be meant so, and costs something
	Unsafe  State = "unsafe"  // answered writes may be lost, or nodes stop serving
	Unknown State = "unknown" // it could not be looked at
)

// Finding says what Check has found out about one thing.
type Finding struct {
	Name  string // of a setting or a fact; the same in every version
	State State
	Says  string // what is so, and what it means
	Do    string // what to do about it; empty for what is safe
}

// Check looks at a database as the nodes that share it will find it, and says what is not safe: what
// was answered could be lost, or the nodes would stop serving. It connects as Open does and changes
// nothing. nodes is how many there are to be.
func Check(ctx context.Context, dsn string, o Options, nodes int) []Finding {
	o = o.filled()
	k := &checkup{options: o, dsn: dsn, nodes: max(nodes, 1)}
	if err := k.connect(ctx); err != nil {
		k.add("connection", Unknown, fmt.Sprint(explain(dsn, err)),
			"mend the address (storage_url) or the server, and check again")
		return k.found
	}
	defer k.conn.Close(context.WithoutCancel(ctx))
	k.add("connection", Safe, "the database answers and takes writes", "")
	for _, look := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"version", k.version}, {"tables", k.tables}, {"commits", k.commits}, {"standby", k.standby}, {"clock", k.clock},
		{"connections", k.connections}, {"timeouts", k.timeouts}, {"isolation", k.isolation}, {"autovacuum", k.autovacuum},
		{"listen", k.listen}, {"tls", k.tls},
	} {
		limited, cancel := context.WithTimeout(ctx, max(o.Timeout, heardWithin+time.Second))
		if err := look.do(limited); err != nil {
			k.add(look.name, Unknown, fmt.Sprint(explain(dsn, err)),
				"see that the user of the address may read this, and check again")
		}
		cancel()
	}
	return k.found
}

// checkup is one run of Check.
type checkup struct {
	options Options
	dsn     string
	nodes   int
	conns   int // of a node
	pooled  bool
	conn    *pgx.Conn
	found   []Finding
}

func (k *checkup) add(name string, s State, says, do string) {
	k.found = append(k.found, Finding{name, s, says, do})
}

func (k *checkup) connect(ctx context.Context) error {
	config, err := configure(k.dsn, k.options)
	if err != nil {
		return err
	}
	k.conns = int(config.MaxConns)
	k.conn, err = pgx.ConnectConfig(ctx, config.ConnConfig)
	if k.pooled = refusesSettings(err); k.pooled {
		clear(config.ConnConfig.RuntimeParams)
		k.conn, err = pgx.ConnectConfig(ctx, config.ConnConfig)
	}
	if err != nil {
		return err
	}
	var pid uint32
	err = k.read(ctx, "SELECT pg_backend_pid()", nil, &pid)
	k.pooled = k.pooled || pid != k.conn.PgConn().PID() // a pooler answers with a process id of its own
	return err
}

// read reads one row. Nothing is prepared, because a pooler may stand between.
func (k *checkup) read(ctx context.Context, statement string, args []any, into ...any) error {
	return k.conn.QueryRow(ctx, statement, append([]any{pgx.QueryExecModeExec}, args...)...).Scan(into...)
}

// setting reads a setting as a session of this user has it; "" if the server has none of that name.
func (k *checkup) setting(ctx context.Context, name string) (value string, err error) {
	err = k.read(ctx, "SELECT coalesce(current_setting($1, true), '')", []any{name}, &value)
	return value, err
}

func (k *checkup) version(ctx context.Context) error {
	var f facts
	err := k.read(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version'), "+
		"current_setting('server_encoding')", nil,
		&f.number, &f.version, &f.encoding)
	if err != nil {
		return err
	}
	if unfit := f.fit(); unfit != nil {
		k.add("version", Unsafe, unfit.Error(), "no node starts until then")
		return nil
	}
	k.add("version", Safe, fmt.Sprintf("PostgreSQL %s with %s", f.version, f.encoding), "")
	return nil
}

func (k *checkup) tables(ctx context.Context) error {
	steps, err := stepsOf(ctx, k.conn, k.options.Schema)
	if err != nil {
		return err
	}
	if err := newer(steps); err != nil {
		k.add("tables", Unsafe, err.Error(), "run the release that has made the tables, or a newer one")
		return nil
	}
	var missing []string
	for _, s := range steps {
		if s.At.IsZero() {
			missing = append(missing, s.Name)
		}
	}
	switch {
	case len(missing) == 0:
		k.add("tables", Safe, fmt.Sprintf("the tables have taken all %d steps of this version", len(steps)), "")
	case k.options.NeverMigrate:
		k.add("tables", Unsafe, fmt.Sprintf("the tables lack %s, and migrate=never keeps nodes from taking the steps: none "+
			"of this version starts", strings.Join(missing, ", ")),
			"keystile storage migrate up, as a user who may change the tables")
	default:
		k.add("tables", Note, fmt.Sprintf("the tables lack %s: the next node that starts takes these steps",
			strings.Join(missing, ", ")),
			"nothing, or take them before: keystile storage migrate up")
	}
	return nil
}

const (
	clockNoted  = time.Second     // half of what the feed may be behind
	clockUnsafe = 5 * time.Second // nodes refuse to start
)

func (k *checkup) clock(ctx context.Context) error {
	ahead, best := time.Duration(0), time.Hour
	for range 3 { // the quickest answer says it best
		var there time.Time
		began := time.Now()
		if err := k.read(ctx, "SELECT clock_timestamp()", nil, &there); err != nil {
			return err
		}
		if took := time.Since(began); took < best {
			ahead, best = there.Sub(began.Add(took/2)), took
		}
	}
	k.found = append(k.found, judgeClock(ahead))
	return nil
}

func judgeClock(ahead time.Duration) Finding {
	says := fmt.Sprintf("the clocks of this machine and of the database are %s apart", ahead.Abs().Round(time.Millisecond))
	const do = "set both by NTP (chrony or systemd-timesyncd)"
	switch {
	case ahead.Abs() > clockUnsafe:
		return Finding{"clock", Unsafe,
			says + ": what one node has issued is of the future at another, or has ended, and nodes do not start", do}
	case ahead.Abs() > clockNoted:
		return Finding{"clock", Note, says, do}
	}
	return Finding{"clock", Safe, says, ""}
}

func (k *checkup) tls(context.Context) error {
	config := k.conn.Config()
	k.found = append(k.found, judgeWay(config.Host, config.TLSConfig))
	return nil
}

func judgeWay(host string, config *tls.Config) Finding {
	const name = "tls"
	address, err := netip.ParseAddr(host)
	switch {
	case strings.HasPrefix(host, "/"), host == "localhost", err == nil && address.IsLoopback():
		return Finding{name, Safe, "the way to the database does not leave this machine", ""}
	case config == nil:
		return Finding{name, Unsafe,
			"the way to the database is not encrypted: who can listen on it reads whatever is stored and answered",
			"sslmode=verify-full in the address, with sslrootcert if the server's certificate is your own"}
	case config.InsecureSkipVerify && config.VerifyPeerCertificate == nil && config.VerifyConnection == nil:
		return Finding{name, Note, "the way to the database is encrypted, and nobody checks whose server answers",
			"sslmode=verify-full in the address"}
	}
	return Finding{name, Safe, "the way to the database is encrypted, and the server's certificate is checked", ""}
}
