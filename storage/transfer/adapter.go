package transfer

import "context"

// Table names one of the parts that a store consists of.
type Table string

// The tables. Together they are the whole store.
const (
	Counters    Table = "counters"    // the highest number given, by the names of CounterNames
	Tokens      Table = "tokens"      // with SpentAt
	Revocations Table = "revocations" // with their Seqs
	Usage       Table = "usage"       // rows of hours and of days
	Batches     Table = "batches"     // the highest Seq seen, by node
	Audit       Table = "audit"       // records with their Seqs
	Documents   Table = "documents"   // with versions and index entries
)

// Tables returns all tables, in the order in which they are copied.
func Tables() []Table {
	return []Table{Counters, Tokens, Revocations, Usage, Batches, Audit, Documents}
}

// The names of the counters: what each has given last, 0 for nothing.
const (
	LastRecord     = "audit"      // Seq of the last audit record, also when it was pruned
	LastRevocation = "revocation" // Seq of the last revocation, also when it was swept
	LastVersion    = "version"    // version of the last document, also when it was removed
)

// CounterNames returns the names of the counters in the order of their bytes.
func CounterNames() []string { return []string{LastRecord, LastRevocation, LastVersion} }

// Row is one row of a table as every adapter writes it: see TokenRow and its sisters.
type Row struct{ Key, Value []byte }

// PageRows is the largest n that Rows is called with, and how many rows one Load gets at most.
const PageRows = 1000

// PageBytes is about where a page ends before it has n rows: with the row that reaches it. No
// copy holds more than a few pages in memory.
const PageBytes = 4 << 20

// Adapter is implemented by storage adapters whose stores can be copied, beside driver.Backend,
// whose rules hold here too: atomic, durable once answered, copied at the border, an end with
// Close. Both methods are used by many goroutines at once, also while others use the Backend.
type Adapter interface {
	// Rows returns a page of a table: the rows with a Key above after, ascending by the bytes
	// of the Key. after is nil (before the first row) or a Key of the form that the table has,
	// whether or not there is such a row. n is 1 to PageRows. A page has at most n rows, and
	// fewer when they are large (PageBytes) or when it is the last; it is empty only if there
	// is no row above after.
	//
	// One page is a consistent view; a walk over several is not. It does not keep writers
	// waiting, nor does it hold a view open between two calls. Spent, revoked, expired and
	// ended rows are listed until they are swept.
	//
	// Counters always has the three rows of CounterNames. In all other tables a row is a record.
	Rows(ctx context.Context, table Table, after []byte, n int) ([]Row, error)

	// Load writes rows exactly as they are and removes those with the keys in gone, in one
	// atomic step. A row that is there is replaced, one in gone that is not there is no error,
	// and no key is in both: doing it twice changes nothing more. No number is given by it, and
	// none is looked at: it writes a counter up or down, and an audit record below a pruned one.
	//
	// All that the adapter derives from a record (an index, the feed, the finds of Sweep) is as if
	// the record had been written by the Backend's own method. If another revocation has the Seq of
	// one in rows, it is removed.
	//
	// A row that the functions of this package cannot read, or a table it does not know, is an
	// error that wraps driver.ErrInvalid, and nothing is written. Counters cannot be removed.
	Load(ctx context.Context, table Table, rows []Row, gone [][]byte) error
}

// Page collects the rows of one call of Rows.
type Page struct {
	Rows  []Row
	n     int
	bytes int
}

// NewPage returns a page for up to n rows.
func NewPage(n int) *Page { return &Page{n: min(n, PageRows)} }

// Add adds a row, and reports whether there is room for another one. The page must have had
// room; the row's memory belongs to the page from then on.
func (p *Page) Add(r Row) bool {
	p.Rows = append(p.Rows, r)
	p.bytes += len(r.Key) + len(r.Value)
	return len(p.Rows) < p.n && p.bytes < PageBytes
}
