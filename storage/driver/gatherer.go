package driver

import "context"

// Gatherer is implemented by an adapter that answers several reads of documents in one call. A page
// that shows what a hundred users are called, or three lists side by side, is one round trip then.
type Gatherer interface {
	// Gather answers each Ask, in their order and all from one view of the store: as one atomic read. There
	// are up to MaxAsks of them. The ids and the N of all of them are at most Page together.
	Gather(ctx context.Context, asks ...Ask) ([]Answer, error)
}

// Ask asks for some documents of a kind.
type Ask struct {
	Kind string
	// IDs name the documents, each answered once, however often and in whatever order it is named. One that is
	// not there is left out, and so is one that is no name (ValidName).
	IDs []string
	// Span and N ask for what List returns, where there are no IDs. With an N of 0 there is nothing.
	Span Span
	N    int
}

// Answer has what an Ask asked for: by the bytes of their ids, or in the order of List.
type Answer struct {
	Docs []Doc
	Next string // as of List; of IDs always ""
}
