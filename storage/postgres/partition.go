package postgres

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
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
	lookAgain  = time.Minute
)

// partitions keeps one process from looking for partitions more often than it has to.
type partitions struct {
	mu     sync.Mutex
	made   time.Time            // up to which there are partitions, as far as is known
	looked time.Time            // when a partition to drop was last looked for
	ends   map[string]time.Time // when the last token of a partition ends that is no longer written to
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

const partitionPrefix = "token_w"

func partitionName(start time.Time) string { return partitionPrefix + start.Format("20060102") }

// ahead makes the partitions of this week, by the server's clock, and of the next ones.
func (p *partitions) ahead(ctx context.Context, c *pgxpool.Conn, s *Store) error {
	var now time.Time
	if err := c.QueryRow(ctx, "SELECT now()", pgx.QueryExecModeExec).Scan(&now); err != nil {
		return err
	}
	return p.make(ctx, c, s, now)
}

// make makes the partitions for a time and some weeks behind it. Where one cannot be made nothing is
// lost, because token_other takes what has no partition: if a lock was not to be had it is tried
// again, and if tokens of that week lie in token_other already they stay there, one week's.
func (p *partitions) make(ctx context.Context, c *pgxpool.Conn, s *Store, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	through := monday(now).Add(weeksAhead * week)
	if !p.made.Before(through) {
		return nil
	}
	for start := monday(now); !start.After(through); start = start.Add(week) {
		err := s.makePartition(ctx, c, start)
		switch {
		case err == nil, is(err, inTheDefault):
		case !passing(err):
			return err
		default:
			s.options.Log.WarnContext(ctx, "the table of tokens is locked by another transaction, so the partition of a week was not made; it is tried again each minute",
				"week", start.Format(time.DateOnly), "error", err)
			return nil
		}
	}
	p.made = through
	return nil
}

// past makes the partitions of weeks that have passed lately, for tokens that are copied from
// another store. Older ones are not worth a partition.
func (p *partitions) past(ctx context.Context, c *pgxpool.Conn, s *Store, weeks []time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, start := range weeks {
		if p.made.Before(start) || p.made.Sub(start) > weeksBack*week {
			continue
		}
		if err := s.makePartition(ctx, c, start); err != nil && !passing(err) && !is(err, inTheDefault) {
			return err
		}
	}
	return nil
}

// passing reports whether a change of the tables did not find its moment.
func passing(err error) bool {
	return slices.ContainsFunc([]string{lockNotAvailable, deadlockDetected, queryCanceled, duplicateTable, overlapping, uniqueViolation},
		func(code string) bool { return is(err, code) })
}

func (s *Store) makePartition(ctx context.Context, c *pgxpool.Conn, start time.Time) error {
	name := s.schema + "." + partitionName(start)
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", pgx.QueryExecModeExec, name).Scan(&there); err != nil || there {
		return err
	}
	return s.alter(ctx, c, fmt.Sprintf(
		"CREATE TABLE %[1]s (LIKE %[2]s.token INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = 85); ALTER TABLE %[2]s.token ATTACH PARTITION %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')",
		name, s.schema, bound(start), bound(start.Add(week))))
}

// alter changes tables in a transaction that waits for no lock longer than a moment.
func (s *Store) alter(ctx context.Context, c *pgxpool.Conn, statements string) error {
	_, err := c.Exec(ctx, fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = '%s'; SET LOCAL search_path = %s; %s; COMMIT", lockWait, s.schema, statements), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		_, _ = c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
	}
	return err
}

// drop removes one partition whose tokens have all ended, and returns how many there were.
func (p *partitions) drop(ctx context.Context, c *pgxpool.Conn, s *Store, at time.Time) (removed int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.Sub(p.looked) < lookAgain && !at.Before(p.looked) {
		return 0, nil
	}
	p.looked = at
	names, err := s.closedPartitions(ctx, c, at)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		ends, known := p.ends[name]
		if !known {
			if ends, err = s.lastEnd(ctx, c, name); err != nil {
				return 0, err
			}
			if p.ends == nil {
				p.ends = map[string]time.Time{}
			}
			p.ends[name] = ends
		}
		if ends.IsZero() || ends.After(at) {
			continue
		}
		delete(p.ends, name) // look again, whatever comes of it
		return s.dropPartition(ctx, c, name, at)
	}
	return 0, nil
}

// closedPartitions returns the partitions of weeks that have ended a day ago, the oldest first.
func (s *Store) closedPartitions(ctx context.Context, c *pgxpool.Conn, at time.Time) (closed []string, err error) {
	rows, err := c.Query(ctx, `SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = $1::regclass AND relname LIKE 'token\_w%' ORDER BY relname`, pgx.QueryExecModeExec, s.schema+".token")
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		start, bad := time.Parse("20060102", strings.TrimPrefix(name, partitionPrefix))
		if bad == nil && !start.Add(week+briefly).After(at) {
			closed = append(closed, name)
		}
	}
	return closed, err
}

// lastEnd returns when the last token of a partition ends; zero if one never does.
func (s *Store) lastEnd(ctx context.Context, c *pgxpool.Conn, name string) (time.Time, error) {
	var forever bool
	var last []byte
	// max(bytea) is new in PostgreSQL 18.
	query := fmt.Sprintf("SELECT coalesce(bool_or(ends IS NULL), false), decode(max(encode(ends, 'hex') COLLATE \"C\"), 'hex') FROM %s.%s", s.schema, pgx.Identifier{name}.Sanitize())
	if err := c.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&forever, &last); err != nil {
		return time.Time{}, err
	}
	switch {
	case forever:
		return time.Time{}, nil
	case last == nil:
		return time.Unix(0, 0), nil // it is empty
	}
	return when(last)
}

// dropPartition counts the tokens of a partition and drops it, in one transaction, unless one has
// come that lives on.
func (s *Store) dropPartition(ctx context.Context, c *pgxpool.Conn, name string, at time.Time) (removed int, err error) {
	table := s.schema + "." + pgx.Identifier{name}.Sanitize()
	var live bool
	if err := c.QueryRow(ctx, "SELECT count(*), coalesce(bool_or(ends IS NULL OR ends > $1), false) FROM "+table, pgx.QueryExecModeExec, stamp(at)).Scan(&removed, &live); err != nil || live {
		return 0, err
	}
	err = s.alter(ctx, c, "ALTER TABLE token DETACH PARTITION "+table+"; DROP TABLE "+table)
	if err != nil {
		if passing(err) {
			return 0, nil // a transaction elsewhere has read it and not ended: next minute
		}
		return 0, err
	}
	return removed, nil
}
