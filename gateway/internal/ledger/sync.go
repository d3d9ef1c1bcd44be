package ledger

import (
	"context"
	"errors"
	"slices"
)

// keepSyncing bounds what a power cut takes, and mends the journal when the disk allows.
func (l *Ledger) keepSyncing(ctx context.Context) {
	for wait(ctx, l.fresh) && sleep(ctx, syncEvery) {
		if l.tidy() != nil {
			notify(l.fresh) // try again
		}
	}
}

// tidy brings everything charged so far to the disk.
func (l *Ledger) tidy() error {
	if l.journal == nil {
		return nil
	}
	l.tidying.Lock()
	defer l.tidying.Unlock()
	waiting, open, err := l.unsettled()
	for _, b := range waiting {
		if err := b.segment.settle(b); err != nil {
			return l.setDisk(err)
		}
	}
	if open != nil {
		if err = errors.Join(open.file.Sync(), l.journal.sync()); err != nil {
			l.mistrust(open, err)
		}
	}
	return l.setDisk(err)
}

// unsettled returns the sealed batches and the segment of the open one, or what that one
// lacks. A batch whose file lacks something is sealed, so that it is written anew and later
// charges get a file of their own; but one such batch at a time, or a disk that stays full
// would make one a second.
func (l *Ledger) unsettled() (sealed []*batch, open *segment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lacking := func(b *batch) bool { return b.segment.err != nil }
	if l.open != nil && lacking(l.open) && !slices.ContainsFunc(l.queue, lacking) {
		l.seal()
	}
	if l.open == nil {
		return slices.Clone(l.queue), nil, nil
	}
	s := l.open.segment
	s.stale = false
	if s.err != nil {
		return slices.Clone(l.queue), nil, s.err
	}
	return slices.Clone(l.queue), s, nil
}

// mistrust has a segment written anew. It may have been sealed since it was looked at.
func (l *Ledger) mistrust(s *segment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.err = err
}
