// Command sqlite is the whole keystile program on SQLite: an adapter of some 700 lines, and a
// main function of ten.
//
//	cd examples/sqlite && go run . serve        # and every other command
//
// It is a module of its own, as an adapter of yours would be, so that SQLite (modernc.org/sqlite,
// which needs no C compiler) is no dependency of the library.
//
// # How it is made
//
// schema.sql has a table for each kind of record, with the columns that something is found by;
// the rest of a token is JSON. Times are text of one width, so that their order is that of the
// bytes and years 1 to 9999 fit, which 64 bits of nanoseconds do not hold. Numbers without a sign
// are text for the same reason: SQLite has none beyond 2^63-1.
//
// One goroutine writes (writer.go). It gathers what waits while the last transaction goes to the
// disk, and commits it together: a commit waits for the disk, so 32 callers get three times as
// much done as one does (go test -bench Contract/Issue). Every step has a savepoint of its own, so
// that one that refuses takes nothing of the others with it. Readers have connections of their
// own, and see what was committed when their statement began.
//
// Sequences are counted in a table and not by AUTOINCREMENT: with one writer that leaves no gaps,
// and no number shows before a lower one.
package main
