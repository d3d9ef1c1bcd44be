// Package postgres is a [driver.Backend] in one schema of a PostgreSQL database (15 or newer), which several
// processes share. An answered write survives what the database's own commit survives.
//
//	b, err := postgres.Open(ctx, "postgres://keystile@db.example.com/keystile?sslmode=verify-full", postgres.Options{})
//
// Open makes the tables, and brings those of an older version to this one. It needs no extension and no right
// beyond those of the schema's owner. [Check] examines the server, its settings and the rights of the user, and
// reports what is not safe, or what it cannot see.
//
// # Addresses
//
// The program takes an address as storage_url, and [Open] reads it. Leave the password to PGPASSWORD or
// ~/.pgpass. The user needs the right to make a schema (GRANT CREATE ON DATABASE keystile TO keystile), or one
// that it owns; no superuser. Of several hosts (host1,host2) the one that takes writes is used. Beside those of
// PostgreSQL there are these parameters:
//
//	schema          where the tables are; keystile
//	pool_max_conns  connections of a node, 16; four for each core of the database, divided among the nodes, is good
//	timeout         of a call, 5s
//	migrate=never   an administrator brings the tables to each version (keystile storage migrate status, sql, up); the
//	                service then needs USAGE of the schema and all on its tables and sequences, and makes no partitions
//	listen          an address past the pooler where nodes hear of each other's changes at once; off: they ask each
//	                second only, which is better for more than 50 nodes
//
// pg_dump and base backups take the place of keystile backup and restore.
//
// # What operators should know
//
// A standby that is promoted must have every acknowledged commit, or numbers are given out twice: set
// synchronous_commit=remote_apply (or on) with synchronous_standby_names. Name all hosts in the address; the
// one that takes writes is used, for reads as well: a replica lags, and revoked tokens would be valid there.
//
// While no standby answers, nothing can be acknowledged: calls end with an error, and their writes show once a
// standby has them. Their statements are not canceled, so each keeps a process of the server busy until then. A
// primary that is restarted meanwhile shows commits that were never acknowledged: do not promote a standby that
// lacks them.
//
// PgBouncer in transaction mode may stand between. It is noticed by its process ids, and statements are sent
// unprepared from then on. Notifications do not pass it: Options.ListenDSN leads past it, or nodes poll each
// second.
//
// A transaction that was left open stalls nothing but the vacuum of later changes, and the removal of
// partitions that it has read.
//
// # Choices
//
// Every method is one statement, so it is one round trip and happens wholly or not at all; Put is a function in
// the database for the same reason. The other reasons stand with the types and functions in question.
//
// This is one package because each file is one part of the contract (tokens, documents, usage, the trail) over the same
// connections, tables and rule for answers that were lost, and [Check] judges those settings.
package postgres
