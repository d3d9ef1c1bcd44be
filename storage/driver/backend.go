package driver

import (
	"context"
	"time"
)

// Backend is implemented by storage adapters. It is used by many goroutines at once.
//
// Each method is one atomic step: it happens wholly or not at all, nobody sees half of it, and
// once it has answered nil its effect survives whatever the adapter promises to survive and is
// seen by every call that begins later, on whatever node. A method that answers an error other
// than the sentinels of this package may or may not have happened, or may still be about to.
//
// Rules for all methods:
//
//   - No method reads a clock. Times are in the records or in at; they come back equal
//     (time.Time.Equal) to the nanosecond, in UTC, and a zero time stays zero. In UTC they are
//     in the years 1 to 9999, which nanoseconds in one integer of 64 bits are not enough for,
//     nor are columns of microseconds. On the caller's clock the year may be 0 or 10000. What
//     an adapter reckons from a time, such as the hours that a Sweep removes, may lie outside.
//   - Callers may change arguments afterwards, and results belong to them: copy at the border, never hand out
//     memory of a transaction.
//   - A nil or empty list of things to write is fine, does nothing and is not remembered: no
//     version, no Seq, no batch.
//   - Data and Index that are empty come back with length 0, nil or not. Callers must not tell
//     the two apart.
//   - Text is valid UTF-8 without 0x00. It is compared and ordered by its bytes, never by case,
//     accents, blanks or a normal form, and an empty text is a text like others. By what it is
//     found (Grant, AppID, UserID, Product, Node, the ID of a Revocation) it has at most MaxName
//     bytes; other text has no limit. The ends of a Span are any bytes.
//   - Seqs and versions that a Backend gives, and the Seq of a Batch, are 1 to 2^63-1. A reader
//     may ask for what is behind any number: behind one that nobody was given there is nothing,
//     and no error. n is 1 to Page; a page holds n if there are as many.
//   - Records of one call may come in any order, and other callers bring the same ones in
//     another: each is answered, with nil or a verdict. An adapter takes its locks in an order of
//     its own, and runs again what its database ended as a deadlock.
//   - A canceled context may stop a call early, with an error that wraps the context's: never
//     with a verdict, half an answer, or somebody else's call. A call that waits must end when
//     the Backend is closed.
//
// A SQL adapter can do Issue, Exchange, Revoke, Count and Sweep as one statement each
// and Put as one short transaction over documents sorted by kind and id. A sequence of the
// database does not number a feed: see Revocations.
type Backend interface {
	// Issue stores all tokens or none. If a Key is taken, or appears twice: ErrExists.
	Issue(ctx context.Context, tokens ...Token) error

	// Token returns the token with this key: ErrNotFound if there is none. Spent, revoked
	// and expired tokens are returned until they are swept.
	Token(ctx context.Context, key Key) (Token, error)

	// Exchange marks the token as spent at the given time and stores next, in one step.
	// Of many callers with one key exactly one succeeds. A refusal writes nothing; the
	// verdicts are looked for in this order:
	//   ErrNotFound  no token has this key
	//   ErrSpent     it has been exchanged before
	//   ErrRevoked   a stored revocation covers it (Revocation.Covers): of its Grant, its
	//                AppID, its UserID, or the two of these (ConsentID)
	//   ErrExists    a key in next is taken, or appears twice
	// It does not check ExpiresAt. The given time is never zero.
	Exchange(ctx context.Context, key Key, at time.Time, next ...Token) error

	// Revoke stores all revocations or none. One that meets an older one of the same Kind
	// and ID joins it: the later Before and the later Until win, so a revocation never
	// shrinks; a zero Until is never. Each stored or joined revocation takes a new Seq: 1 or
	// more, whatever Seq was handed in.
	Revoke(ctx context.Context, rs ...Revocation) error

	// Revocations returns up to n revocations with Seq > after, ascending. A Seq becomes
	// visible only when every lower one is visible, so a reader that continues after the
	// last Seq it saw misses nothing. A sequence of SQL gives its numbers before the commit,
	// in whose order others see them; a row that counts, updated by the same transaction, does not.
	Revocations(ctx context.Context, after uint64, n int) ([]Revocation, error)

	// Count adds counts to the usage rows (each to the row of its hour and of its day) and
	// remembers the batch. A batch whose Seq is not above the highest seen from its Node
	// has been counted before: nil, nothing done. Seqs begin at 1. Without counts nothing
	// is done or remembered. Sums stop at the largest number (Count.Plus): those of two counts of
	// one row within a batch, of batch and row, of an hour and of its day, each for itself.
	Count(ctx context.Context, b Batch, counts []Count) error

	// Usage returns the rows that match the question, ascending by time, then product.
	Usage(ctx context.Context, q UsageQuery) ([]Count, error)

	// Append adds audit records in the order given; each takes the next Seq, from 1.
	Append(ctx context.Context, records ...Record) error

	// Records returns up to n audit records with Seq > after, ascending; like Revocations
	// it never shows a Seq before a lower one.
	Records(ctx context.Context, after uint64, n int) ([]Record, error)

	// Appended returns the Seq of the last audit record that was appended, also when that
	// record is gone; 0 before the first. It does not wait for Appends in progress, and
	// Records shows all that it has counted. An adapter that answers gives out the Seqs
	// without gaps, so that a missing record is noticed; one whose Seqs can have gaps
	// always answers 0.
	Appended(ctx context.Context) (last uint64, err error)

	// Prune removes the audit records with the lowest Seqs, none above through, about n in
	// one call, and returns how many. Nobody is given their Seqs again, also when all
	// records are gone.
	Prune(ctx context.Context, through uint64, n int) (removed int, err error)

	// Get returns one document, or ErrNotFound. Expired ones are returned until swept.
	Get(ctx context.Context, kind, id string) (Doc, error)

	// List returns up to n documents of a kind that have an index entry within span, in the
	// order of entry + 0x1F + id. A document with several entries in the span comes once for
	// each of them. n is at least 1. If more may follow, next is where to continue: the caller
	// repeats the call with span.From = next. next is "" at the end. One page is a consistent
	// view; a walk over several pages is not.
	List(ctx context.Context, kind string, span Span, n int) (docs []Doc, next string, err error)

	// Put writes all documents or none, and returns the version they now all have: a
	// number larger than any version this store has given before, so a document that is
	// removed and made again never meets its old version.
	//   Version 0   create; if the document is there: *PutError with ErrExists
	//   Version n   replace, or remove if Deleted; if the stored version is not n, or the
	//               document is gone: *PutError with ErrConflict
	// An adapter calls CheckPut first and returns its error. Without documents the version is 0.
	// Versions may leave gaps. Two Puts of the same documents come one after the other.
	Put(ctx context.Context, docs ...Doc) (version int64, err error)

	// Sweep removes tokens, revocations and documents that ended by at (ended is not zero
	// and not after at), and usage rows of hours that began more than UsageHours before at,
	// about n in one call, and returns how many. Rows of days stay. It is called each minute
	// and mostly finds nothing: an adapter for much data does not read what stays. It may also
	// leave tokens that were issued for more than a day until all that were issued within a week
	// of them have ended, to remove them at once.
	Sweep(ctx context.Context, at time.Time, n int) (removed int, err error)

	// Close ends the Backend. Calls in progress are answered, every answered write is kept,
	// and later calls fail, with no verdict.
	Close() error
}

// Limits that callers and adapters agree on.
const (
	// Page is the largest n that callers use with Revocations, Records and List.
	Page = 1000

	// MaxMeters bounds how many applications one call of UsageOf names.
	MaxMeters = 100

	// MaxAsks bounds how many Asks one call of Gather has.
	MaxAsks = 8

	// UsageHours is the time for which the row of an hour is kept: longer than any month that
	// is settled by the hour. Rows of days are kept for ever.
	UsageHours = 400 * 24 * time.Hour
)
