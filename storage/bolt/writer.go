package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// job is one write. It may be run more than once, each time in a transaction that knows
// nothing of the time before, so it looks for every reason to refuse before its first
// Put, and changes nothing outside the transaction but its own result. It owns all
// memory it touches: its caller may have left.
type job struct {
	do      func(*bbolt.Tx) error  // nil: it changes nothing
	tokens  func(tokenTable) error // do of a job that reads and changes tokens alone; else nil
	whole   bool                   // the file is to have everything, and say that there is no log
	then    func() error           // is called when the job is done, before anything else is written; may be nil
	verdict error
	answer  chan error // buffered, so that the writer never waits
}

// write hands a job to the writer and waits for its answer. A caller whose context ends
// meanwhile learns no outcome. There is no need to watch for Close once the job is
// accepted: the writer answers what it accepts.
func (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {
	return s.send(ctx, &job{do: do})
}

// writeTokens is write of a job that reads and changes tokens alone, so that it may go to the log.
func (s *Store) writeTokens(ctx context.Context, do func(tokenTable) error) error {
	return s.send(ctx, &job{tokens: do, do: func(tx *bbolt.Tx) error { return do(tokenTable{tx: tx}) }})
}

func (s *Store) send(ctx context.Context, j *job) error {
	if s.readOnly {
		return ErrReadOnly
	}
	j.answer = make(chan error, 1)
	select {
	case s.queue <- j:
	case <-s.quit:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-j.answer:
		return s.noted(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve is the writer: the one goroutine that changes the file. Open starts it, Close
// ends it.
func (s *Store) serve() {
	defer close(s.ended)
	for {
		select {
		case j := <-s.queue:
			batch := s.gather(j)
			s.patience = min(len(batch), maxPatience)
			if !s.record(batch) {
				s.settle(batch)
			}
		case <-s.log.due():
			s.log.foldDue(s)
		case <-s.quit:
			s.ending = s.log.end(s)
			return
		}
	}
}

const (
	maxBatch    = 1024
	maxPatience = 3 // how often the writer lets others run when the last batch was of several
)

// gather adds the jobs whose callers wait already: those that came while the last
// transaction was on its way to the disk. It waits for none, but when none is left it
// lets others run: callers who were answered a moment ago are back with their next
// job then, where it would otherwise commit one job, then the rest, and so on in turns.
//
// A lone client is answered after 1.4 bare commits. db.Batch of bbolt holds a lone caller up for 10 ms and runs
// a batch again when one of it refuses.
func (s *Store) gather(first *job) []*job {
	batch := []*job{first}
	for yielded := 0; len(batch) < maxBatch; {
		select {
		case j := <-s.queue:
			batch, yielded = append(batch, j), 0
		default:
			if yielded >= max(1, s.patience) {
				return batch
			}
			runtime.Gosched()
			yielded++
		}
	}
	return batch
}

// settle commits a batch and answers its jobs. A batch that fails for a reason that is no
// verdict is halved until the failing job is alone.
func (s *Store) settle(batch []*job) {
	err := s.commit(batch)
	if half := len(batch) / 2; err != nil && half > 0 && s.broken == nil && !errors.Is(err, errFold) {
		s.settle(batch[:half])
		s.settle(batch[half:])
		return
	}
	for _, j := range batch {
		if err != nil {
			j.verdict = err
		} else if j.then != nil {
			j.verdict = j.then()
		}
		j.answer <- j.verdict
	}
}

var (
	errUnchanged = errors.New("every job was refused")
	errFold      = errors.New("the tokens of the log cannot be put into the file")
)

// commit runs a batch in one transaction. Its error means that nothing of it happened,
// or, with s.broken set, that no one can tell.
//
// A failing or panicking job is looked for by halving its batch; the others go through. A commit that fails
// where no one can tell whether it happened stops all writing.
func (s *Store) commit(batch []*job) error {
	if s.broken != nil {
		return s.broken
	}
	id, ran, marked := 0, false, false
	err := recoverPanic(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			id = tx.ID()
			err := error(nil)
			marked, err = s.runAll(tx, batch)
			ran = err == nil
			return err
		})
	})
	switch {
	case err == nil:
		s.log.committed(marked)
		return nil
	case errors.Is(err, errUnchanged):
		return nil
	case id != 0 && !ran && errors.Is(err, errPanic):
		return s.unsound(err)
	case id != 0 && !ran: // a job failed
		return err
	case errors.Is(err, errPanic) || s.shows(id):
		s.broken = fmt.Errorf("bolt: %s: writing failed half-way, and nothing is written until the store is opened anew: %w",
			s.db.Path(), err)
		return s.broken
	}
	return err
}

// runAll puts into the file what is in the log, and runs the jobs up to the first that fails. If it returns an error
// the transaction is rolled back, which saves the disk the work when nothing was changed. It reports whether the file
// says behind it that there is a log.
func (s *Store) runAll(tx *bbolt.Tx, batch []*job) (marked bool, err error) {
	changed, err := s.log.fold(tx)
	if err != nil {
		return false, err
	}
	for _, j := range batch {
		if j.verdict = nil; j.do == nil {
			continue
		}
		j.verdict = catchFaults(func() error { return j.do(tx) })
		if j.verdict != nil && !isVerdict(j.verdict) {
			return false, j.verdict
		}
		changed = changed || j.verdict == nil
	}
	marked, remarked, err := s.log.remark(tx, batch, changed)
	if err == nil && !changed && !remarked {
		err = errUnchanged
	}
	return marked, err
}

func isVerdict(err error) bool {
	return slices.ContainsFunc([]error{
		driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent, driver.ErrRevoked,
	}, func(verdict error) bool { return errors.Is(err, verdict) })
}

// shows reports whether readers see a transaction whose commit failed, because its last
// page was written and then not flushed. Running its jobs again would call a token spent
// that they spent themselves; and pages may be reused that the disk still needs.
func (s *Store) shows(id int) bool {
	seen := false
	err := s.view(context.Background(), func(tx *bbolt.Tx) error {
		seen = tx.ID() >= id
		return nil
	})
	return seen || err != nil
}
