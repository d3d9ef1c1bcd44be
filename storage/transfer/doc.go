// Package transfer copies a whole store to another adapter, exactly: every row, and the numbers
// that were given (Seqs, versions, batches), so that nothing is renumbered and no number is given
// again. Whether a row is spent, revoked, counted or pruned is the same in both.
//
// # For those who copy
//
// [Copy] compares the two stores page by page in the order of their keys, writes what differs,
// removes what the source no longer has, and then reads both sides again. So it may be stopped and
// run again at any time, a second run is short, and the first one may run while the source serves.
// Until both sides are equal (decision 70) the target has a mark that keeps every version of Keystile from
// serving it. [Options].Leave marks the source before that mark goes (see [Leave]): at no moment may both be
// served, and no version serves the source by mistake afterwards.
//
// # For those who write an adapter
//
// The methods of driver.Backend cannot list a whole store. An adapter that can be copied from and
// to implements [Adapter] beside them: two methods over seven tables. Rows are exchanged in one
// encoding, which the functions of this package write and read, so that two adapters hand out the
// same bytes for the same record. storage/memory is short and to be read first;
// storagetest.RunTransfer holds an adapter to its promises.
//
// The keys of each table, and the ORDER BY that lists them in the order of their bytes (texts by
// their bytes: COLLATE "C" in PostgreSQL, BINARY in SQLite):
//
//	Counters     name                        name
//	Tokens       driver.Key, 40 bytes        key
//	Revocations  kind, id                    kind, id
//	Usage        app, daily, at, product     app, daily, at, product    hours (false) before days (true)
//	Batches      node                        node
//	Audit        Seq                         seq
//	Documents    kind, id                    kind, id
//
// Texts in keys end with 0x00, which no text holds, so rows lie as their columns do. Numbers are
// 8 bytes, times 12 (seconds with the sign turned over, nanoseconds), both big-endian.
//
// # Choices
//
// Revocations have the key they are found by and not their Seq: one that is joined by a later one
// keeps its key and moves in the feed.
//
// Index entries of documents are part of the document's row: an adapter derives its index from
// them, as Put does.
//
// The mark is an entry in the list of features (package storage), not a document of a new kind:
// so versions that know nothing of copies refuse it too.
package transfer
