package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/keystile/keystile/storage/driver"
)

// Options say how a Store uses its database. The zero value is right for most.
type Options struct {
	// Schema holds the tables, and nothing else. It is made where there is none. Empty: keystile.
	Schema string

	// NeverMigrate leaves the tables as they are: Open then fails where a migration is missing;
	// Migrate, or its SQL, must have been run before.
	NeverMigrate bool

	// ListenDSN leads to where hints of other processes are listened to: it has to lead to the same
	// database past every pooler that hands out a connection for one transaction. Empty: the DSN.
	ListenDSN string

	// PollOnly listens to nothing, and tells nobody. It is for many nodes, all of them alike: above
	// 50 the hints cost the database more than they save.
	PollOnly bool

	// Conns is the largest number of connections. 0: 16, or pool_max_conns of the DSN. Four for
	// each core of the database, divided among the nodes, is a good number.
	Conns int

	// Timeout ends a call that the database does not answer. 0: 5 s.
	Timeout time.Duration

	// Observe, if set, is told of each call when it has ended: the name of its statement, how long
	// it took, and its error. It is called by many goroutines at once.
	Observe func(ctx context.Context, statement string, took time.Duration, err error)

	Log *slog.Logger // nil: slog.Default()
}

const (
	defaultSchema  = "keystile"
	defaultConns   = 16
	defaultTimeout = 5 * time.Second
	maxSchema      = 50     // PostgreSQL cuts names at 63; hints have a longer one
	leastVersion   = 150000 // server_version_num of PostgreSQL 15
)

// Open connects to the database of an address, which is a URL (postgres://user:password@host/name) or a
// list of key=value as libpq has it, brings the tables to this version, and returns the Store. Its
// user needs no more than the right to make a schema, or to make tables in one that is there. In a URL
// parameters of this package may stand beside those of libpq and of pgxpool (pool_max_conns). They go before
// the Options:
//
//	schema=NAME      Options.Schema
//	migrate=never    Options.NeverMigrate
//	listen=URL       Options.ListenDSN; listen=off is Options.PollOnly
//	timeout=5s       Options.Timeout
//
// The server has to be PostgreSQL 15 or newer and take writes; of several hosts in the address the one
// that does is used. A pooler in transaction mode may stand between: it is noticed, and prepared
// statements are left out.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	return open(ctx, address, o, (*Store).prepare)
}

// OpenReadOnly is Open for callers that only read: no table is made or changed, and no partition. It
// fails with driver.ErrNotFound where there are no tables.
func OpenReadOnly(ctx context.Context, address string, o Options) (*Store, error) {
	return open(ctx, address, o, (*Store).present)
}

func open(ctx context.Context, address string, o Options, prepare func(*Store, context.Context) error) (*Store, error) {
	dsn, o, err := ParseURL(address, o)
	if err != nil {
		return nil, err
	}
	o = o.filled()
	if len(o.Schema) > maxSchema || strings.ContainsAny(o.Schema, "\x00$") {
		return nil, fmt.Errorf("postgres: the schema %q: a name has at most %d bytes and no $", o.Schema, maxSchema)
	}
	config, err := configure(dsn, o)
	if err != nil {
		return nil, explain(dsn, err)
	}
	version, err := adapt(ctx, config, o)
	if err != nil {
		return nil, explain(dsn, err)
	}
	s := &Store{
		pause:   pause,
		schema:  quoted(o.Schema),
		channel: o.Schema + ".hint",
		options: o,
		dsn:     dsn,
		version: version,
		place:   addressOf(&config.ConnConfig.Config),

		partitions: partitions{name: o.Schema, schema: quoted(o.Schema), log: o.Log},
	}
	s.texts = textsIn(s.schema)
	s.ended, s.endCall = context.WithCancel(context.Background())
	neverCancel(config)
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, explain(dsn, err)
	}
	if err := prepare(s, ctx); err != nil {
		s.Close()
		return nil, explain(dsn, err)
	}
	return s, nil
}

// present fails where there are no tables, or a newer version's.
func (s *Store) present(ctx context.Context) error {
	steps, err := s.steps(ctx)
	if err != nil {
		return err
	}
	if len(steps) == 0 || steps[0].At.IsZero() {
		return fmt.Errorf("there are no tables in the schema %s: %w", s.options.Schema, driver.ErrNotFound)
	}
	return newer(steps)
}

// filled returns the Options with what they leave out.
func (o Options) filled() Options {
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// prepare brings the tables to this version, and makes partitions for the weeks to come.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return s.partitions.ahead(ctx, c)
}

// configure reads a DSN. Parameters that it leaves out are set so that a forgotten session or a
// server that has vanished holds nothing up.
//
// plan_cache_mode is force_generic_plan: planning the statement of an exchange for each call, with its
// partitions, costs as much as carrying it out. max_parallel_workers_per_gather is 0: of a table with millions
// of rows the planner expects many in any stretch, and starting workers takes longer than reading a page.
func configure(dsn string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Conns > 0:
		config.MaxConns = int32(min(o.Conns, 10_000))
	case !strings.Contains(dsn, "pool_max_conns"):
		config.MaxConns = defaultConns
	}
	c := config.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = o.Timeout
	}
	if c.ValidateConnect == nil { // a DSN can say target_session_attrs
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	for name, value := range map[string]string{
		"application_name":                    "keystile",
		"statement_timeout":                   strconv.FormatInt(2*o.Timeout.Milliseconds(), 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(2*o.Timeout.Milliseconds(), 10),
		"plan_cache_mode":                     "force_generic_plan",
		"max_parallel_workers_per_gather":     "0",
	} {
		if _, said := c.RuntimeParams[name]; !said {
			c.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// connConfig reads a DSN for a connection that is not of the pool, whose parameters it may have. Of
// several hosts it leads to the one that takes writes, like the pool.
func connConfig(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.ValidateConnect == nil {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config.ConnConfig, nil
}

// adapt connects once, and looks at what answers. A pooler gives each transaction another
// connection to the server, or may: nothing can be prepared there, and it refuses settings at the
// start that it does not know. The version of the server comes back.
func adapt(ctx context.Context, config *pgxpool.Config, o Options) (version string, err error) {
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	pooled := refusesSettings(err)
	if pooled {
		maps.DeleteFunc(config.ConnConfig.RuntimeParams, func(name, _ string) bool { return name != "application_name" })
		c, err = pgx.ConnectConfig(ctx, config.ConnConfig)
	}
	if err != nil {
		return "", err
	}
	defer c.Close(ctx)
	var server facts
	err = c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding'), pg_backend_pid(),
			current_setting('synchronous_commit'), current_setting('fsync')`, pgx.QueryExecModeExec).
		Scan(&server.number, &server.version, &server.encoding, &server.pid, &server.commit, &server.fsync)
	if err != nil {
		return "", err
	}
	if err := server.fit(); err != nil {
		return "", err
	}
	if server.commit == "off" || server.fsync == "off" {
		o.Log.WarnContext(ctx, "the database answers before it has stored: what was acknowledged is lost when it crashes; "+
			"set both on, for its user at least (ALTER ROLE ... SET synchronous_commit = on)",
			"synchronous_commit", server.commit, "fsync", server.fsync)
	}
	// A pooler answers with a process id of its own.
	if pooled = pooled || server.pid != int(c.PgConn().PID()); pooled &&
		config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		o.Log.InfoContext(ctx, "the database is behind a pooler: statements are not prepared, which costs some of the speed")
	}
	version, _, _ = strings.Cut(server.version, " ") // the rest is whose package it is
	return version, nil
}

type facts struct {
	number, pid       int
	version, encoding string
	commit, fsync     string // off: what was answered may be lost
}

func (f facts) fit() error {
	switch {
	case f.number < leastVersion:
		return fmt.Errorf("the server is PostgreSQL %s: version 15 or newer is needed", f.version)
	case f.encoding != "UTF8":
		return fmt.Errorf("the database has the encoding %s, and texts need UTF8: make it with CREATE DATABASE ... "+
			"ENCODING 'UTF8' TEMPLATE template0", f.encoding)
	}
	return nil
}
