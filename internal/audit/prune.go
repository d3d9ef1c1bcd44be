package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Limits say what of a trail may be removed.
type Limits struct {
	Now    time.Time // that has surely come: what was noted later has a wrong time
	Before time.Time // remove what was noted before; zero: nothing for its age
	Bytes  int64     // remove what is beyond so many bytes of records, and a tenth more; 0: nothing for its size
	Most   int       // records at most; 0: all
	Upto   *uint64   // nothing behind this Seq; nil: no such limit
}

// maxPending bounds how many consecutive records with a wrong time are skipped: an hour at 50 a
// second. Only their times are read.
const maxPending = 200 * driver.Page

// Plan describes what a prune would remove: nothing if Records is 0.
type Plan struct {
	Records uint64
	Bytes   int64     // of their data
	Through uint64    // the last Seq
	First   time.Time // when the first of them was noted
	Last    time.Time // and the last
	Broken  uint64    // breaks that were found in them
	Full    bool      // there may be more than Limits.Most

	held    bool      // Limits.Upto is in the way of more
	oldOnly bool      // none of them is removed for the size alone
	oldest  time.Time // the earliest time that one of them has

	now    Checkpoint         // what stands for all that is removed then
	stored storage.Checkpoint // that is replaced
}

// PlanPrune looks for what may be removed and changes nothing. It is always the oldest records,
// none left out, and never the last one, which the next chain begins behind. A record whose time
// has not come yet is kept, and so is all behind it, until an old enough one follows.
func PlanPrune(ctx context.Context, store Archive, limits Limits) (Plan, error) {
	v, stored, err := resume(ctx, store)
	if err != nil {
		return Plan{}, err
	}
	if v.report.Broken > 0 {
		return Plan{}, fmt.Errorf("%w; nothing is removed: see keystile audit verify, and put a backup in the place of the "+
			"database", storage.ErrCheckpoint)
	}
	given, err := store.Appended(ctx)
	if err != nil {
		return Plan{}, err
	}
	until, err := last(ctx, store)
	if err != nil {
		return Plan{}, err
	}
	p := planner{Limits: limits, v: v, counted: given > 0, before: v.from.Through}
	if limits.Bytes > 0 {
		total, err := weigh(ctx, store, v.from.Through, until.Seq)
		if err != nil {
			return Plan{}, err
		}
		if total > limits.Bytes {
			p.excess = total - limits.Bytes/10*9
		}
	}
	p.plan.oldOnly = p.excess == 0
	through, err := p.reach(ctx, store, until.Seq)
	if err != nil {
		return Plan{}, err
	}
	for r, err := range all(ctx, store, v.from.Through, through) {
		if err == nil {
			err = p.take(ctx, r)
		}
		if err != nil {
			return Plan{}, err
		}
	}
	if v.report.Broken > 0 { // or somebody has removed what it was about to read
		if now, err := store.Checkpoint(ctx); err != nil || now.Version != stored.Version {
			return Plan{}, cmp.Or(err, ErrRaced)
		}
	}
	return p.done(stored), nil
}

// planner walks along what is removed, as a verifier does.
type planner struct {
	Limits
	v       *verifier
	counted bool   // the store counts its Seqs without gaps
	before  uint64 // the Seq before the next one that is removed
	plan    Plan
	excess  int64 // bytes beyond the limit
	last    driver.Record
	dropped uint64
}

func (p *planner) old(r driver.Record) bool { return r.At.Before(p.Before) }

// reach returns the last Seq that is removed. A record that has to wait goes with the next one
// that is old.
func (p *planner) reach(ctx context.Context, store Archive, until uint64) (through uint64, err error) {
	var bytes int64
	records, waiting, within := 0, 0, uint64(0) // within: as far as Most allows
	for r, err := range all(ctx, store, p.v.from.Through, until) {
		if err != nil {
			return 0, err
		}
		unborn := !p.Before.IsZero() && r.At.After(p.Now) && waiting < maxPending
		due := bytes < p.excess || p.old(r)
		if r.Seq == until || !due && !unborn {
			break
		}
		if p.Upto != nil && r.Seq > *p.Upto {
			p.plan.held = true
			break
		}
		if records++; p.Most == 0 || records <= p.Most {
			within = r.Seq
		}
		bytes += int64(len(r.Data))
		waiting++
		if due {
			through, waiting = within, 0
		}
		if p.plan.Full = due && p.Most > 0 && records >= p.Most; p.plan.Full {
			break
		}
	}
	return through, nil
}

// take removes a record.
func (p *planner) take(ctx context.Context, r driver.Record) error {
	broken := p.v.report.Broken
	if _, _, err := p.v.check(ctx, r); err != nil {
		return err
	}
	if p.counted && r.Seq != p.before+1 && p.v.report.Broken == broken {
		p.v.report.add(Break{Fault: Gone, Seq: r.Seq})
	}
	p.before = r.Seq
	if p.plan.Records == 0 {
		p.plan.First, p.plan.oldest = r.At, r.At
	}
	if r.At.Before(p.plan.oldest) {
		p.plan.oldest = r.At
	}
	p.plan.Records++
	p.plan.Bytes += int64(len(r.Data))
	p.last = r
	if len(p.v.chains) > 2*maxLinks {
		p.forget()
	}
	return nil
}

// forget drops the chains that no checkpoint would hold.
func (p *planner) forget() {
	kept, dropped := links(p.v.chains, p.last.Seq)
	p.dropped += dropped
	chains := make(map[string]*progress, len(kept))
	for _, l := range kept {
		chains[l.Chain] = p.v.chains[l.Chain]
	}
	p.v.chains = chains
}

func (p *planner) done(stored storage.Checkpoint) Plan {
	if p.plan.Records == 0 {
		return Plan{Full: p.plan.Full, held: p.plan.held, stored: stored, now: p.v.from}
	}
	p.forget()
	p.plan.Through, p.plan.Last, p.plan.Broken = p.last.Seq, p.last.At, p.v.report.Broken
	p.plan.stored, p.plan.now = stored, p.v.from
	c := &p.plan.now
	c.Through, c.Hash, c.Last = p.last.Seq, link(p.last.Data).String(), p.last.At
	c.Removed += p.plan.Records
	c.Broken += p.plan.Broken
	c.Lost += p.v.report.Lost
	c.Dropped += p.dropped
	c.Chains, _ = links(p.v.chains, p.last.Seq)
	return p.plan
}

// String says what is removed, for the trail and the log.
func (p Plan) String() string {
	text := fmt.Sprintf("%d records up to Seq %d, noted from %s to %s", p.Records, p.Through,
		p.First.UTC().Format(time.RFC3339), p.Last.UTC().Format(time.RFC3339))
	if p.Broken > 0 {
		text += fmt.Sprintf(", with %d breaks in them", p.Broken)
	}
	return text
}

// ErrRaced: somebody else has pruned the trail since the Plan was made, and nothing was removed.
var ErrRaced = errors.New("audit: somebody else has removed old records meanwhile; look again")

// Do saves the checkpoint and removes the records. If it is stopped between, the records count
// as removed, and Finish removes them.
func (p Plan) Do(ctx context.Context, store Prunable, at time.Time) (removed int, err error) {
	if p.Records == 0 {
		return 0, nil
	}
	c := p.now
	c.Prunes++
	if c.At = at.UTC(); c.Since.IsZero() {
		c.Since = c.At
	}
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	p.stored.Text = storage.NewSecret(string(text))
	if _, err := store.SaveCheckpoint(ctx, p.stored); errors.Is(err, storage.ErrConflict) {
		return 0, ErrRaced
	} else if err != nil {
		return 0, fmt.Errorf("audit: save the checkpoint, without which nothing is removed: %w", err)
	}
	return store.Prune(ctx, c.Through)
}

// Finish removes what a prune that was stopped has left behind its checkpoint.
func Finish(ctx context.Context, store Prunable) (removed int, err error) {
	stored, err := store.Checkpoint(ctx)
	if err != nil {
		return 0, err
	}
	c, err := parseCheckpoint(stored)
	if err != nil || c.Through == 0 {
		return 0, err
	}
	return store.Prune(ctx, c.Through)
}
