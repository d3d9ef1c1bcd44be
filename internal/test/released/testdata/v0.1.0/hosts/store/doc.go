// Package store is a tutorial: a complete storage adapter on one file. Read backend.go,
// the 15 methods of driver.Backend, each under the promise it keeps; then file.go, which
// makes a method happen wholly or not at all, and last.
//
// Everything is JSON under a text key. A method works on a step, which reads the store
// under the step's own changes. If the method refuses, they are thrown away; otherwise
// they become one line of the file, synced before the answer. Open reads the lines back.
// So no method has to undo anything, or to copy: reading decodes. In an adapter for a
// database, its transaction is the step, and the methods keep their shape.
//
// It leaves out speed (every write waits for an fsync of its own, a List decodes all
// documents of its kind), compaction (the file only grows) and a lock against a second
// process. storage/bolt has all three.
//
// # In SQL
//
// These tables do; examples/sqlite has them for one process, storage/postgres for many. BYTES is a
// column that is compared by bytes: BLOB, bytea, VARBINARY, or text in a binary collation
// (COLLATE "C" in PostgreSQL). TIME holds years 1 to 9999 to the nanosecond in their order: a text of one
// width, or 12 bytes, seconds and nanoseconds; empty or NULL is the zero time.
//
//	token      (key BYTES PRIMARY KEY, ends TIME, spent TIME, data JSON)               -- index: ends
//	revocation (kind BYTES, id BYTES, seq BIGINT UNIQUE, before TIME, until TIME)      -- key: kind, id; index: until
//	usage      (app BYTES, daily BOOL, at TIME, product BYTES, calls BIGINT, errors BIGINT) -- key: the first four
//	batch      (node BYTES PRIMARY KEY, seq BIGINT)
//	record     (seq BIGINT PRIMARY KEY, at TIME, data BYTES)
//	doc        (kind BYTES, id BYTES, version BIGINT, ends TIME, entries JSON, data BYTES)  -- key: kind, id; index: ends
//	place      (kind BYTES, place BYTES, id BYTES)   -- key: kind, place, which is entry + 0x1F + id
//	last       (name BYTES PRIMARY KEY, seq BIGINT)  -- of revocations, records and versions
//
// What goes wrong most, each of it seen by storagetest:
//
//   - A feed that is numbered by a sequence shows a Seq before a lower one, and its readers miss
//     that for ever. UPDATE last SET seq = seq + n RETURNING seq, in the same transaction, does not:
//     the row is locked until the commit.
//   - Exchange decides under a lock: UPDATE token SET spent = ? WHERE key = ? AND spent IS NULL, then
//     look at how many rows it has changed. The verdicts come in the contract's order.
//   - greatest and max take no NULL, which is right for Before and wrong for Until: never is the latest.
//   - Sums stop at 2^63-1, where SQL fails or runs over. Add up in the program what a batch
//     brings twice, and in the statement least(calls::numeric + ?, 9223372036854775807).
//   - Locks are taken in an order of your own: sort keys, rows, kinds and ids before the first statement.
//   - LIKE finds more than an entry; OFFSET skips what others have removed: place >= ? AND place < ?
//     ORDER BY place LIMIT n+1, and the last place is next.
//   - uint64 arguments above 2^63-1 become the largest number, not a negative one.
//   - An index has a longest row: a kind, an entry and an id of 1,024 bytes each are longer than PostgreSQL
//     takes. Number the kinds.
//   - rows.Err() after the last row: a caller who left ends the rows too.
package store
