package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func (k *checkup) commits(ctx context.Context) error {
	for _, s := range []struct{ name, means string }{
		{"fsync", "the server does not wait for its disk: a power cut can damage the whole database"},
		{"full_page_writes", "a page that was half written in a power cut cannot be mended"},
	} {
		value, err := k.setting(ctx, s.name)
		if err != nil {
			return err
		}
		if value == "off" {
			k.add(s.name, Unsafe, s.name+" is off: "+s.means, "ALTER SYSTEM SET "+s.name+" = on; SELECT pg_reload_conf();")
		} else {
			k.add(s.name, Safe, s.name+" is "+value, "")
		}
	}
	return nil
}

// standby judges what is left when the primary's disk or machine is lost. A standby that is promoted
// has to have everything that was acknowledged.
func (k *checkup) standby(ctx context.Context) error {
	commit, err := k.setting(ctx, "synchronous_commit")
	if err != nil {
		return err
	}
	names, err := k.setting(ctx, "synchronous_standby_names")
	if err != nil {
		return err
	}
	var all, synchronous, hidden int
	err = k.read(ctx, `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), count(*) FILTER (WHERE state IS NULL)
		FROM pg_stat_replication WHERE state IS NULL OR state <> 'backup'`, nil, &all, &synchronous, &hidden)
	if err != nil {
		return err
	}
	k.found = append(k.found, judgeCommit(commit, names != ""), judgeStandby(names, all, synchronous, hidden))
	return nil
}

func judgeCommit(commit string, replicated bool) Finding {
	const name, do = "synchronous_commit", "ALTER ROLE ... SET synchronous_commit = on, for the user of the address"
	switch {
	case commit == "off":
		return Finding{name, Unsafe, "synchronous_commit is off: the database answers before it has stored, and a crash of " +
			"it loses what was acknowledged", do}
	case commit == "local" && replicated:
		return Finding{name, Unsafe,
			"synchronous_commit is local: no write waits for the standby, and a promotion loses what was acknowledged", do}
	case commit == "remote_write" && replicated:
		return Finding{name, Note,
			"synchronous_commit is remote_write: what was acknowledged is lost if both machines lose power at once", do}
	}
	return Finding{name, Safe, "synchronous_commit is " + commit, ""}
}

func judgeStandby(names string, all, synchronous, hidden int) Finding {
	const name = "standby"
	switch {
	case hidden > 0:
		return Finding{name, Unknown, "standbys are connected, and the user of the address may not see whether they are " +
			"synchronous", "GRANT pg_read_all_stats TO that user"}
	case names == "" && all == 0:
		return Finding{name, Note, "there is no standby: with the server's disk everything since the last backup is gone " +
			"(a managed database may keep a copy that does not show here)",
			"a standby, with synchronous_standby_names = 'ANY 1 (*)' on the primary"}
	case names == "":
		return Finding{name, Unsafe,
			fmt.Sprintf("none of the standbys (%d) is synchronous: a promotion loses what was acknowledged last, and gives "+
				"numbers out twice", all),
			"ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf();"}
	case synchronous == 0:
		return Finding{name, Unsafe, "synchronous_standby_names is set and no such standby is connected: every write waits " +
			"for one", "start the standby, or see that its application_name (cluster_name) is in synchronous_standby_names"}
	case synchronous == 1:
		return Finding{name, Note, "one synchronous standby is connected: while it is away every write waits",
			"a second standby, with synchronous_standby_names = 'ANY 1 (...)' naming both"}
	}
	return Finding{name, Safe, fmt.Sprintf("%d standbys may acknowledge a write (%s)", synchronous, names), ""}
}

func (k *checkup) connections(ctx context.Context) error {
	const name = "connections"
	var most, reserved, role, base int
	err := k.read(ctx, `SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true), '0')::int,
		(SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), (SELECT datconnlimit FROM pg_database WHERE datname = current_database())`, nil, &most, &reserved, &role, &base)
	if err != nil {
		return err
	}
	if k.pooled {
		k.add(name, Safe, "a pooler holds the connections to the database: its default_pool_size counts", "")
		return nil
	}
	room := most - reserved
	for _, limit := range []int{role, base} {
		if limit >= 0 {
			room = min(room, limit)
		}
	}
	each := k.conns
	if !k.options.PollOnly {
		each++ // the one that listens
	}
	says := fmt.Sprintf("%d nodes with up to %d connections each, and there is room for %d", k.nodes, each, room)
	switch fewer := room/(k.nodes+1) - (each - k.conns); {
	case k.nodes*each <= room:
		k.add(name, Safe, says, "")
	case fewer < 1:
		k.add(name, Unsafe, says+": calls fail under load",
			"raise max_connections, or put PgBouncer between, with listen= past it")
	default:
		k.add(name, Unsafe, says+": calls fail under load",
			fmt.Sprintf("pool_max_conns=%d in the address of each node, or raise max_connections, or put PgBouncer between, "+
				"with listen= past it", fewer))
	}
	return nil
}

// timeouts finds those that end what a node does as a matter of course.
func (k *checkup) timeouts(ctx context.Context) error {
	var cut []string
	for name, least := range map[string]time.Duration{
		"statement_timeout": k.options.Timeout, "lock_timeout": k.options.Timeout, "transaction_timeout": k.options.Timeout,
		"idle_session_timeout": 2 * listenPing,
	} {
		var set int64
		if err := k.read(ctx, "SELECT coalesce((SELECT setting::bigint FROM pg_settings WHERE name = $1), 0)", []any{name},
			&set); err != nil {
			return err
		}
		if set > 0 && time.Duration(set)*time.Millisecond < least {
			cut = append(cut, fmt.Sprintf("%s is %s and has to be at least %s", name, time.Duration(set)*time.Millisecond,
				least))
		}
	}
	if len(cut) == 0 {
		k.add("timeouts", Safe, "no timeout of the server ends a call, or a connection, before the node does", "")
		return nil
	}
	slices.Sort(cut)
	k.add("timeouts", Unsafe, strings.Join(cut, ", ")+": the server ends what a node would still wait for, and that is "+
		"answered with 503", "ALTER ROLE ... RESET of each, for the user of the address")
	return nil
}

func (k *checkup) isolation(ctx context.Context) error {
	level, err := k.setting(ctx, "transaction_isolation")
	if err != nil {
		return err
	}
	if level != "read committed" {
		k.add("isolation", Unsafe, "transactions are "+level+": writes that meet are refused and sent again, and under "+
			"load that is answered with 503", "ALTER ROLE ... RESET default_transaction_isolation, for the user of the address")
		return nil
	}
	k.add("isolation", Safe, "transactions are "+level, "")
	return nil
}

func (k *checkup) autovacuum(ctx context.Context) error {
	var off []string
	err := k.read(ctx, `SELECT coalesce(array_agg(what ORDER BY what), '{}') FROM (
			SELECT name AS what FROM pg_settings WHERE name IN ('autovacuum', 'track_counts') AND setting = 'off'
			UNION ALL SELECT 'autovacuum of ' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, unnest(c.reloptions) AS o
			WHERE n.nspname = $1 AND o IN ('autovacuum_enabled=false', 'autovacuum_enabled=off')) AS found`, []any{k.options.Schema}, &off)
	switch {
	case err != nil:
		return err
	case len(off) > 0:
		k.add("autovacuum", Unsafe,
			strings.Join(off, ", ")+" is off: tables grow and get slow, and in the end the server stops taking writes",
			"ALTER SYSTEM SET autovacuum = on (and track_counts), and RESET (autovacuum_enabled) of the tables")
	default:
		k.add("autovacuum", Safe, "autovacuum is on", "")
	}
	return nil
}

// tooManyListeners begins where notifications cost the database more than they save.
const tooManyListeners = 50

func (k *checkup) listen(ctx context.Context) error {
	const name = "listen"
	if k.options.PollOnly {
		k.add(name, Safe, "nodes listen to nothing (listen=off): they read within a second what the others revoke and change",
			"")
		return nil
	}
	heard, err := k.hears(ctx)
	switch {
	case err != nil:
		k.add(name, Unsafe, fmt.Sprintf("nodes cannot listen: %v; what the others revoke and change is read within a "+
			"second, not at once", err),
			"listen=postgres://... in the address, to the same database past every pooler; or listen=off")
	case !heard && k.pooled && k.options.ListenDSN == "":
		k.add(name, Unsafe, "a pooler stands between and notifications do not pass it: what other nodes revoke and change "+
			"is read within a second, not at once", "listen=postgres://... in the address, to the same database past the "+
			"pooler; or listen=off if a second is early enough")
	case !heard:
		k.add(name, Unsafe, "notifications do not arrive: listen= leads to another database, or through a pooler; what "+
			"other nodes revoke and change is read within a second, not at once",
			"listen=postgres://... in the address, to the same database past every pooler; or listen=off")
	case k.nodes > tooManyListeners:
		k.add(name, Note, fmt.Sprintf("%d nodes listen, and each notification wakes all of them", k.nodes),
			"listen=off in the address of each above 50 nodes")
	default:
		k.add(name, Safe, "notifications arrive", "")
	}
	return nil
}

// hears reports whether a message sent on the one connection arrives at the one that listens. The
// channel is of its own, so no node wakes up.
func (k *checkup) hears(ctx context.Context) (bool, error) {
	c, dsn, err := k.options.listener(ctx, k.dsn)
	if err != nil {
		return false, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	channel := "keystile.check." + rand.Text()[:16]
	if _, err := c.Exec(ctx, "LISTEN "+quoted(channel), pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, explain(dsn, err)
	}
	if _, err := k.conn.Exec(ctx, "SELECT pg_notify($1, '')", pgx.QueryExecModeExec, channel); err != nil {
		return false, explain(k.dsn, err)
	}
	wait, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	switch _, err := c.WaitForNotification(wait); {
	case err == nil:
		return true, nil
	case errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err):
		return false, ctx.Err()
	default:
		return false, explain(dsn, err)
	}
}
