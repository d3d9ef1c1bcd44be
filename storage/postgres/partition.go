package postgres

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	week       = 7 * 24 * time.Hour
	weeksAhead = 2
	weeksBack  = 8
	lockWait   = "100ms" // nobody waits longer behind a partition that comes or goes
)

// partitions makes and drops the partitions of a schema, and keeps one process from looking for them more often than it
// has to.
//
// Tokens are partitioned by week of issue, which their keys begin with. A week whose tokens have all ended is
// dropped as one file, so nothing is left to vacuum. Authorization codes, and all that ends within a day, are
// removed one by one. A long token that has ended is readable until its whole week has, a week longer than
// elsewhere. If one in a week never ends, the others are removed one by one.
type partitions struct {
	name   string // of the schema
	schema string // the same, quoted
	log    *slog.Logger

	mu    sync.Mutex
	made  time.Time       // up to which there are partitions, as far as is known
	lives map[string]life // of partitions that are no longer written to
}

// monday returns the start of the week of a time, in UTC.
func monday(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// bound is the lowest key of a token that is issued at a time.
func bound(t time.Time) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(t.UnixNano()))
	return `\x` + hex.EncodeToString(b[:])
}

// lastYear is the last one whose moments are all nanoseconds since 1970 in 63 bits.
const lastYear = 2261

const partitionPrefix = "token_w"

func partitionName(start time.Time) string { return partitionPrefix + start.Format("20060102") }

// ahead makes the partitions of this week, by the server's clock, and of the next ones.
func (p *partitions) ahead(ctx context.Context, c *pgxpool.Conn) error {
	var now time.Time
	if err := c.QueryRow(ctx, "SELECT now()", pgx.QueryExecModeExec).Scan(&now); err != nil {
		return err
	}
	return p.make(ctx, c, now)
}

// make makes the partitions for a time and some weeks behind it. Where one cannot be made nothing is
// lost, because token_other takes what has no partition: if a lock was not to be had it is tried
// again, and if tokens of that week lie in token_other already they stay there, one week's.
func (p *partitions) make(ctx context.Context, c *pgxpool.Conn, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	through := monday(now).Add(weeksAhead * week)
	if !p.made.Before(through) || now.Year() < 1970 || now.Year() > lastYear {
		return nil
	}
	for start := monday(now); !start.After(through); start = start.Add(week) {
		err := p.attach(ctx, c, start)
		switch {
		case err == nil, is(err, inTheDefault):
		case is(err, insufficientPrivilege):
			p.log.WarnContext(ctx, "this user does not own the tables, so it makes no partitions: tokens that have "+
				"ended are removed one by one", "error", err)
			p.made = through
			return nil
		case !passing(err):
			return err
		default:
			p.log.WarnContext(ctx, "the table of tokens is locked by another transaction, so the partition of a week "+
				"was not made; it is tried again each minute",
				"week", start.Format(time.DateOnly), "error", err)
			return nil
		}
	}
	p.made = through
	return nil
}

// past makes the partitions of weeks that have passed lately, for tokens that are copied from
// another store. Older ones are not worth a partition.
func (p *partitions) past(ctx context.Context, c *pgxpool.Conn, weeks []time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, start := range weeks {
		if p.made.Before(start) || p.made.Sub(start) > weeksBack*week {
			continue
		}
		if err := p.attach(ctx, c, start); err != nil && !passing(err) && !is(err, inTheDefault) {
			return err
		}
	}
	return nil
}

// passing reports whether a change of the tables did not find its moment.
func passing(err error) bool {
	return slices.ContainsFunc([]string{lockNotAvailable, deadlockDetected, queryCanceled, duplicateTable, overlapping,
		uniqueViolation},
		func(code string) bool { return is(err, code) })
}

// attach makes the partition of a week, unless it is there: nodes may come to it at once.
func (p *partitions) attach(ctx context.Context, c *pgxpool.Conn, start time.Time) error {
	name := partitionName(start)
	return p.alter(ctx, c, fmt.Sprintf(`DO $$ BEGIN
		PERFORM pg_advisory_xact_lock(hashtextextended(%[1]s, 0));
		IF NOT EXISTS (SELECT FROM pg_class WHERE relname = '%[2]s' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %[3]s)) THEN
			CREATE TABLE %[2]s (LIKE token INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = 85);
			ALTER TABLE token ATTACH PARTITION %[2]s FOR VALUES FROM ('%[4]s') TO ('%[5]s');
		END IF;
	END $$`, literal(lockName+p.name), name, literal(p.name), bound(start), bound(start.Add(week))))
}

// alter changes tables in a transaction that waits for no lock longer than a moment.
func (p *partitions) alter(ctx context.Context, c *pgxpool.Conn, statements string) error {
	_, err := c.Exec(ctx, fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = '%s'; SET LOCAL search_path = %s; %s; COMMIT",
		lockWait, p.schema, statements), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		_, _ = c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
	}
	return err
}

// drop removes the partitions whose tokens have all ended, and returns how many tokens there were. One
// with a token that never ends stays, and its others are removed one by one.
func (p *partitions) drop(ctx context.Context, c *pgxpool.Conn, at time.Time) (removed int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names, err := p.closed(ctx, c, at)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		found, known := p.lives[name]
		if !known {
			found, err = p.lifeOf(ctx, c, name)
			if is(err, undefinedTable) {
				continue // another node has dropped it
			}
			if err != nil {
				return removed, err
			}
		}
		if p.lives == nil {
			p.lives = map[string]life{}
		}
		p.lives[name] = found
		n := 0
		switch {
		case !found.forever && !found.last.After(at):
			delete(p.lives, name) // whatever comes of it, look again
			n, err = p.detach(ctx, c, name, at)
		case found.forever && !found.first.IsZero() && !found.first.After(at):
			delete(p.lives, name)
			n, err = p.sweep(ctx, c, name, at)
		}
		removed += n
		if is(err, undefinedTable) {
			continue
		}
		if passing(err) {
			return removed, nil // a transaction elsewhere has read them and has not ended: next time
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// closed returns the partitions of weeks that have ended a day ago, the oldest first.
func (p *partitions) closed(ctx context.Context, c *pgxpool.Conn, at time.Time) (names []string, err error) {
	rows, err := c.Query(ctx, `SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = (SELECT oid FROM pg_class WHERE relname = 'token' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)) AND relname LIKE 'token\_w%' ORDER BY relname`, pgx.QueryExecModeExec, p.name)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range all {
		start, bad := time.Parse("20060102", strings.TrimPrefix(name, partitionPrefix))
		if bad == nil && !start.Add(week+briefly).After(at) {
			names = append(names, name)
		}
	}
	return names, err
}

// life is when the tokens of a partition end.
type life struct {
	first, last time.Time // zero if none ends
	forever     bool      // one never does
}

func (p *partitions) lifeOf(ctx context.Context, c *pgxpool.Conn, name string) (l life, err error) {
	var first, last []byte
	of := p.schema + "." + quoted(name)
	query := `SELECT (SELECT ends FROM ` + of + ` WHERE ends IS NOT NULL ORDER BY ends LIMIT 1), (SELECT ends FROM ` + of + ` WHERE ends IS NOT NULL ORDER BY ends DESC LIMIT 1), EXISTS (SELECT FROM ` + of + ` WHERE ends IS NULL)`
	err = patiently(ctx, c, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&first, &last, &l.forever)
	})
	if err != nil {
		return life{}, err
	}
	return l, read(first, &l.first, last, &l.last)
}

// patiently runs statements that may take long: they read a whole partition.
func patiently(ctx context.Context, c *pgxpool.Conn, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0", pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		return do(tx)
	})
}

// sweep removes the tokens of a partition that have ended.
func (p *partitions) sweep(ctx context.Context, c *pgxpool.Conn, name string,
	at time.Time) (removed int, err error) {
	err = patiently(ctx, c, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "DELETE FROM "+p.schema+"."+quoted(name)+" WHERE ends <= $1", pgx.QueryExecModeExec,
			stamp(at))
		removed = int(tag.RowsAffected())
		return err
	})
	return removed, err
}

// detach counts the tokens of a partition, and drops it unless one has come that lives on. It
// does not lock the table while it counts: no key of a week that ended days ago is made any more.
func (p *partitions) detach(ctx context.Context, c *pgxpool.Conn, name string,
	at time.Time) (removed int, err error) {
	table := p.schema + "." + quoted(name)
	var live bool
	err = patiently(ctx, c, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "SELECT count(*), coalesce(bool_or(ends IS NULL OR ends > $1), false) FROM "+table,
			pgx.QueryExecModeExec, stamp(at)).Scan(&removed, &live)
	})
	if err != nil || live {
		return 0, err
	}
	if err := p.alter(ctx, c, "ALTER TABLE token DETACH PARTITION "+table+"; DROP TABLE "+table); err != nil {
		return 0, err
	}
	return removed, nil
}
