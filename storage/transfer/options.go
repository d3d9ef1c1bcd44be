package transfer

import "context"

// Options of Copy. The zero value is the default.
type Options struct {
	// Source names the source in the mark on the target: where to go on. It holds no secret.
	Source string

	// Live says that somebody goes on writing to the store that the source is, or was taken from.
	// The copy is made and compared, and the target keeps its mark: a last run without Live, when
	// nobody writes any more, is short and ends it.
	Live bool

	// Back says that the target is a store that has moved to where the source is, and may be written over: without
	// it a target that holds anything but an unfinished copy is refused.
	Back bool

	// Leave is called when both sides are equal, before the target may be served: it marks the source, by the function
	// Leave for example, or closes it. If it fails the target stays unfinished. nil: the source is left as it is.
	Leave func(ctx context.Context) error

	// DryRun compares, and writes nothing.
	DryRun bool

	// PageRows bounds the rows that one step reads and writes; 0: PageRows of the package.
	PageRows int

	// Progress is called after each step, in the goroutine of Copy. nil: nobody is told.
	Progress func(Progress)
}

// Progress reports how far a Copy is.
type Progress struct {
	Table     Table
	Verifying bool // the second reading
	Rows      int  // of the table, read so far from the source
	Written   int  // rows of the table
	Removed   int
}

// Report holds the outcome of a Copy.
type Report struct {
	Tables   []TableReport `json:"tables"`
	Verified bool          `json:"verified"` // both sides were read again and are equal
	Finished bool          `json:"finished"` // the target has no mark: it may be served from
}

// TableReport holds the outcome of one table. With DryRun, Written and Removed are what
// would be done, and there is nothing below them.
type TableReport struct {
	Table   Table `json:"table"`
	Written int   `json:"written"`
	Removed int   `json:"removed"`
	Source  Sum   `json:"source"` // what was read at the end
	Target  Sum   `json:"target"`
	Changed int   `json:"changed"` // rows that differ at the end, because the source has changed
}
