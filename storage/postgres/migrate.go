package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the tables, carried out once and never altered. A step leaves tables
// that the version before it can use: nodes of both run beside each other while they are replaced.
type migration struct {
	n          int
	name, text string
}

// known are the steps that this version has.
var known = sync.OnceValue(func() []migration { return readMigrations(migrationFiles) })

func readMigrations(files fs.FS) (all []migration) {
	names, err := fs.Glob(files, "migrations/*.sql")
	for i, name := range names { // in the order of their names
		text, failed := fs.ReadFile(files, name)
		err = errors.Join(err, failed)
		all = append(all, migration{i + 1, strings.TrimPrefix(name, "migrations/"), string(text)})
	}
	if err != nil {
		panic(err) // they are in the program
	}
	return all
}

func (m migration) sum() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:])
}

// lockName, with the name of a schema behind it, names the lock of those who change its tables.
const lockName = "keystile "

// Step is one step of the tables.
type Step struct {
	Number int
	Name   string
	At     time.Time // when it was carried out; zero: not yet
	SQL    string    // empty for a step of a newer version
}

// Migrate brings the tables of a database to this version, and returns the steps it took. Several
// processes may do so at once: one does it, and the others wait.
func Migrate(ctx context.Context, dsn string, o Options) (taken []Step, err error) {
	before, err := Status(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	o.NeverMigrate = false
	s, err := Open(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	after, err := s.steps(ctx)
	for i, step := range after {
		if i < len(before) && before[i].At.IsZero() && !step.At.IsZero() { // there are more if a newer version was here too
			taken = append(taken, step)
		}
	}
	return taken, err
}

// Status returns the steps that the tables of a database have taken, and those that this version
// would take. It changes nothing. The SQL of the latter, run by hand in one transaction each
// with the schema as search_path, does the same as Migrate (see Script).
func Status(ctx context.Context, dsn string, o Options) ([]Step, error) {
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	config, err := connConfig(dsn)
	if err != nil {
		return nil, explain(dsn, err)
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, explain(dsn, err)
	}
	defer c.Close(ctx)
	steps, err := stepsOf(ctx, c, o.Schema)
	return steps, explain(dsn, err)
}

func (s *Store) steps(ctx context.Context) ([]Step, error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	return stepsOf(ctx, c.Conn(), s.options.Schema)
}

// stepsOf reads which steps were taken, and adds those that are missing.
func stepsOf(ctx context.Context, c *pgx.Conn, schema string) (steps []Step, err error) {
	there, err := exists(ctx, c, schema, "migration")
	if err != nil {
		return nil, err
	}
	if there {
		rows, err := c.Query(ctx, "SELECT n, name, sum, at FROM "+quoted(schema)+".migration ORDER BY n",
			pgx.QueryExecModeExec)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var step Step
			var sum string
			if err := rows.Scan(&step.Number, &step.Name, &sum, &step.At); err != nil {
				return nil, err
			}
			if step.Number <= len(known()) {
				m := known()[step.Number-1]
				if sum != m.sum() {
					return nil, fmt.Errorf("the tables were made by another text of %s than this version has: one of the two was "+
						"altered", m.name)
				}
				step.SQL = m.text
			}
			steps = append(steps, step)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	for _, m := range known()[min(len(steps), len(known())):] {
		steps = append(steps, Step{Number: m.n, Name: m.name, SQL: m.text})
	}
	return steps, nil
}

// exists reports whether a table is there now. to_regclass may answer from before the last lock that
// was waited for.
func exists(ctx context.Context, c *pgx.Conn, schema, table string) (there bool, err error) {
	err = c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = $2)`,
		pgx.QueryExecModeExec, schema, table).Scan(&there)
	return there, err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// newer refuses tables that a newer version has changed so that this one cannot use them. A step
// that this one can live with has a name that ends in ".additive.sql".
func newer(steps []Step) error {
	for _, step := range steps {
		if step.Number > len(known()) && !strings.HasSuffix(step.Name, ".additive.sql") {
			return driver.Newer(fmt.Sprintf("the tables have step %d (%s)", step.Number, step.Name), "of a newer release")
		}
	}
	return nil
}

// migrate takes the steps that are missing, one transaction each.
func (s *Store) migrate(ctx context.Context) error {
	steps, err := s.steps(ctx)
	if err != nil {
		return err
	}
	if err := newer(steps); err != nil {
		return err
	}
	for _, step := range steps {
		if !step.At.IsZero() {
			continue
		}
		if s.options.NeverMigrate {
			return fmt.Errorf("the tables lack step %d (%s), and this program is told not to change them; run: keystile "+
				"storage migrate up", step.Number, step.Name)
		}
		if err := s.take(ctx, known()[step.Number-1]); err != nil {
			return fmt.Errorf("step %s: %w", known()[step.Number-1].name, err)
		}
	}
	return nil
}

// take carries out a step, unless another process has meanwhile.
func (s *Store) take(ctx context.Context, m migration) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	tx, err := c.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", pgx.QueryExecModeExec,
		lockName+s.options.Schema); err != nil {
		return err
	}
	steps, err := stepsOf(ctx, c.Conn(), s.options.Schema)
	if err != nil {
		return err
	}
	if !steps[m.n-1].At.IsZero() {
		return nil
	}
	if _, err := tx.Exec(ctx, m.script(s.options.Schema), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// script returns what a step consists of, for a transaction of its own.
func (m migration) script(schema string) string {
	var b strings.Builder
	if m.n == 1 { // CREATE SCHEMA IF NOT EXISTS wants the right to make one even if it is there
		fmt.Fprintf(&b, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s) THEN CREATE SCHEMA %s; "+
			"END IF; END $$;\n", literal(schema), quoted(schema))
	}
	fmt.Fprintf(&b, "SET LOCAL search_path = %s;\nSET LOCAL statement_timeout = 0;\nSET LOCAL lock_timeout = '2s';\n",
		quoted(schema))
	if m.n == 1 {
		b.WriteString("CREATE TABLE migration (n integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, at " +
			"timestamptz NOT NULL DEFAULT now());\n")
	}
	b.WriteString(m.text)
	fmt.Fprintf(&b, "INSERT INTO migration (n, name, sum) VALUES (%d, '%s', '%s');\n", m.n, m.name, m.sum())
	return b.String()
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Script returns the SQL that brings the tables from the step after done to this version, for an
// administrator to read and run: one transaction for each step. done is 0 for a new database.
func Script(schema string, done int) string {
	if schema == "" {
		schema = defaultSchema
	}
	var b strings.Builder
	for _, m := range known()[min(max(done, 0), len(known())):] {
		fmt.Fprintf(&b, "BEGIN;\n%sCOMMIT;\n", m.script(schema))
	}
	return b.String()
}
