package document

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// sort says what a write is of. One sort can fail while the others go well, as where a table is locked.
type sort int

const (
	ofTokens sort = iota
	ofRevocations
	ofCounts
	ofRecords
	ofDocuments
	sorts
)

func (s sort) String() string {
	return [...]string{"tokens", "revocations", "usage", "audit records", "documents"}[s]
}

// streak holds the writes of one sort that have failed since one went well.
type streak struct {
	n      int
	last   time.Time
	probed time.Time
	err    error
}

const (
	manyFailures = 3           // of one sort in a row; what is wrong with one request, or with one moment, is less
	probeEvery   = time.Second // the least time between two probes of a sort
)

// failing returns the error of a sort of writes that fails again and again, whatever the others do, and has not been
// found to work since. One that cannot be probed is forgotten when none has failed for a while: a node that is sent
// nothing any more could not find out that it works again.
func (w *writes) failing(write func() error) error {
	for of := range sorts {
		s, probe := w.streak(of, time.Now())
		if s.n < manyFailures {
			continue
		}
		if probe && w.works(of, write) {
			continue
		}
		return Unavailable(fmt.Sprintf("the last %d writes of %v", s.n, of), s.err)
	}
	return nil
}

// streak returns the streak of a sort, and whether the caller is to probe it.
func (w *writes) streak(of sort, now time.Time) (is streak, probe bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.streaks[of]
	if s.n < manyFailures {
		return streak{}, false
	}
	if of == ofRevocations || of == ofCounts {
		if now.Sub(s.last) >= quietFor {
			*s = streak{}
		}
		return *s, false
	}
	if probe = now.Sub(s.probed) >= probeEvery; probe {
		s.probed = now
	}
	return *s, probe
}

// works tries a sort of writes by a call that changes nothing, of documents by write, and ends its streak if that is
// answered.
func (w *writes) works(of sort, write func() error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), ProbeWait)
	defer cancel()
	var err error
	switch of {
	case ofDocuments:
		err = write()
	case ofTokens:
		var unknown driver.Key
		rand.Read(unknown[:])
		err = w.Backend.Exchange(ctx, unknown, time.Now())
	default:
		_, err = w.Backend.Prune(ctx, 0, 1)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streaks[of] = streak{}
	return true
}

// count takes down how a write of a sort has ended. The caller holds mu.
func (s *streak) count(at time.Time, err error) {
	if err == nil {
		*s = streak{}
		return
	}
	s.n, s.last, s.err = s.n+1, at, err
}
