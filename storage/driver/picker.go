package driver

import "context"

// Picker is implemented by an adapter that reads audit records from many places in one call. The
// records that a search has found lie far apart: without it each stretch of them is a call of
// Records of its own.
type Picker interface {
	// Pick returns the audit records that have these Seqs, ascending, each once, however often and in
	// whatever order it is asked for. One that is not there is left out, and so is Seq 0. There are
	// up to Page Seqs.
	Pick(ctx context.Context, seqs ...uint64) ([]Record, error)
}
