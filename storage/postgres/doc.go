// Package postgres is a [driver.Backend] in one schema of a PostgreSQL database (15 or newer), which
// several processes share. An answered write survives what the database's own commit survives.
//
//	b, err := postgres.Open(ctx, "postgres://keystile@db.example.com/keystile?sslmode=verify-full", postgres.Options{})
//
// Open makes the tables, and brings those of an older version to this one. It needs no extension and
// no right beyond those of the schema's owner.
//
// # Addresses
//
// The program takes an address as storage_url, and [OpenURL] reads it. Leave the password to PGPASSWORD or ~/.pgpass. The
// user needs the right to make a schema (GRANT CREATE ON DATABASE keystile TO keystile), or one that it owns; no
// superuser. Of several hosts (host1,host2) the one that takes writes is used. Beside those of PostgreSQL there are
// these parameters:
//
//	schema          where the tables are; keystile
//	pool_max_conns  connections of a node, 16; four for each core of the database, divided among the nodes, is a good number
//	timeout         of a call, 5s
//	migrate=never   an administrator brings the tables to each version (keystile storage migrate status, sql, up); the
//	                service then needs USAGE of the schema and all on its tables and sequences, and makes no partitions
//	listen          an address past the pooler where nodes hear of each other's changes at once; off: they ask each
//	                second only, which is better for more than 50 nodes
//
// pg_dump and base backups take the place of keystile backup and restore.
//
// # How it is made
//
// Every method is one statement, so it is one round trip and happens wholly or not at all; query.go
// has them all. Put is a function in the database for the same reason. Isolation is READ COMMITTED:
// a statement that has waited for another one looks again at the row it waited for.
//
// A number of a feed is taken from a row that its taker holds until the number is visible, so no
// reader goes past a number that is still to come. PostgreSQL shows a commit before it releases its
// locks. Versions of documents come from a sequence: they only have to rise and be used once.
//
// Tokens are partitioned by week of issue, which their keys begin with. A week whose tokens have all
// ended is dropped as one file, so nothing is left to vacuum. Authorization codes, and whatever ends
// within a day, are removed one by one.
//
// Another node's revocations and documents are heard of by a notification (Store.Listen), which only
// wakes who polls anyway.
//
// # What operators should know
//
// A standby that is promoted has to have everything that was acknowledged, or numbers are given out
// twice: set synchronous_commit=remote_apply (or on) with synchronous_standby_names. Name all hosts
// in the address; the one that takes writes is used. Reads go to the primary as well: a replica lags,
// and what is revoked would be valid there.
//
// While no standby answers, nothing can be acknowledged: calls end with an error, and what they have written
// shows once a standby has it. Their statements are not canceled, so each keeps a process of the server busy
// until then. A primary that is started anew meanwhile shows what nobody has acknowledged: do not promote a
// standby that does not have it.
//
// PgBouncer in transaction mode may stand between. It is noticed by its process ids, and statements
// are sent unprepared from then on. Notifications do not pass it: Options.ListenDSN leads past it, or
// nodes poll each second.
//
// A transaction that somebody has left open stalls nothing but the vacuum of what changed since, and
// the removal of partitions that it has read.
//
// Check looks at all that, at the settings of the server and of the user, and says what is not safe.
// What it cannot see it says too: a user without pg_read_all_stats is not shown whether a standby is
// synchronous.
//
// # Choices
//
// A token has a checksum behind its JSON, of all its columns but the time at which it was spent, and package storage
// gives each document one. A damaged row is an error (driver.Damaged) and no verdict. Revocations, usage, audit
// records (which are chained by hashes) and index entries are left to the checksums of PostgreSQL's pages
// (data_checksums, which is on by default from 18): SQL reads and joins them, and would have to calculate a CRC that
// PostgreSQL has from 18 on only. None of them says that nobody has changed a row by SQL.
//
// A call whose connection breaks before its answer comes may have happened or not, so it is sent again.
// Count, Revoke, Prune, Sweep and reads come out the same however often they happen. Issue and Exchange
// have happened if what they bring is there by then: nobody else knows those keys. Put, Append and an
// Exchange for nothing draw a number that stands with what they write, and know their own work by it.
// Only a Put whose documents another call has changed or removed since is answered with an error, and
// one that removes documents and writes none.
//
// A statement that was sent is not canceled when its caller goes away. Canceling costs the
// connection, and a stranger who hangs up again and again would cost as many. Nor is one whose time is over:
// a commit that is canceled while it waits for its standby stands without it, and shows.
//
// plan_cache_mode is force_generic_plan: planning the statement of an exchange for each call, with its
// partitions, costs as much as carrying it out. max_parallel_workers_per_gather is 0: of a table with millions
// of rows the planner expects many in any stretch, and starting workers takes longer than reading a page.
//
// Times are 12 bytes, seconds and nanoseconds: timestamptz has microseconds. Kinds are stored as
// numbers, because a kind, an entry and an id of 1,024 bytes each do not fit into an index entry.
//
// A long token that has ended is readable until its whole week has, a week longer than elsewhere.
// If one in a week never ends, the others are removed one by one.
//
// SERIALIZABLE would cost retries and bring nothing. A gapless sequence cannot be had from bigserial:
// number 2 commits before 1, and readers who have seen 2 never see 1.
package postgres
