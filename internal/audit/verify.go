package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// maxChains bounds what Verify remembers: a chain for every start of a process.
const maxChains = 100_000

var errChains = errors.New("audit: the trail has more than 100,000 chains; that is more starts than a service has: " +
	"look at who writes to the store")

// errPruned: records were removed while they were read.
var errPruned = errors.New("audit: old records were removed from the trail while it was read; do it again")

// patience bounds how often Verify starts over because the trail was pruned meanwhile.
const patience = 5

// Verify reads the trail from its checkpoint, or its beginning, to what is its end now and
// checks every chain. kept are heads of earlier reports, from outside the store. The error is
// trouble with reading; what is wrong with the trail is in the Report.
func Verify(ctx context.Context, store Archive, kept ...Head) (report Report, err error) {
	for range patience {
		report, err = walk(ctx, store, kept, func(driver.Record, entry) error { return nil })
		if !errors.Is(err, errPruned) {
			break
		}
	}
	return report, err
}

// walk verifies, and hands every record that can be read to each, but repeated ones.
func walk(ctx context.Context, store Archive, kept []Head, each func(driver.Record, entry) error) (Report, error) {
	v, stored, err := resume(ctx, store)
	if err != nil {
		return v.report, err
	}
	v.keep(kept)
	given, err := store.Appended(ctx) // before the end is looked for: what it counts must be there
	if err != nil {
		return v.report, err
	}
	until, err := last(ctx, store)
	if err != nil {
		return v.report, err
	}
	before := v.from.Through
	for r, err := range all(ctx, store, before, until.Seq) {
		if err != nil {
			return v.report, err
		}
		broken := v.report.Broken
		e, again, err := v.check(ctx, r)
		if given > 0 && r.Seq != before+1 && v.report.Broken == broken {
			v.report.add(Break{Fault: Gone, Seq: r.Seq})
		}
		before = r.Seq
		if err == nil && e.N > 0 && !again {
			err = each(r, e)
		}
		if err != nil {
			return v.report, err
		}
	}
	v.finish(kept)
	if must := max(given, v.from.needs()); until.Seq < must {
		v.report.add(Break{Fault: Tail, Seq: must})
	}
	if v.report.Broken > 0 {
		now, err := store.Checkpoint(ctx)
		if err == nil && now.Version != stored.Version {
			return v.report, errPruned
		}
	}
	return v.report, nil
}

// verifier walks along all chains at once.
type verifier struct {
	store  Reader
	sum    hash.Hash
	chains map[string]*progress
	kept   map[Head]bool // plain; a head that was met is taken out
	from   Checkpoint    // what was removed
	report Report
}

// resume goes on from the checkpoint of a trail, and returns it as it is stored. One that does
// not open is a break, and the trail is read as if there were none.
func resume(ctx context.Context, store Archive) (*verifier, storage.Checkpoint, error) {
	v := &verifier{store: store, sum: sha256.New(), chains: map[string]*progress{}, kept: map[Head]bool{}}
	stored, err := store.Checkpoint(ctx)
	if err == nil {
		v.from, err = parseCheckpoint(stored)
	}
	switch {
	case errors.Is(err, storage.ErrCheckpoint):
		v.report.add(Break{Fault: Forged})
	case err != nil:
		return v, stored, fmt.Errorf("audit: read the checkpoint: %w", err)
	}
	for _, c := range v.from.Chains {
		p := &progress{head: Head{Chain: c.Chain, N: c.N, Hash: c.Hash, Seq: c.Seq, Ended: c.Ended}, again: c.Again}
		p.hash, _ = parseDigest(c.Hash)
		p.behind, _ = parseDigest(c.Behind)
		v.chains[c.Chain] = p
	}
	v.report.Removed = v.from
	return v, stored, nil
}

// keep takes heads of earlier reports. Those of the checkpoint are met already.
func (v *verifier) keep(heads []Head) {
	for _, h := range heads {
		v.kept[h.plain()] = true
	}
	for _, p := range v.chains {
		delete(v.kept, p.head.plain())
	}
}

// progress holds how far a chain has been verified.
type progress struct {
	head   Head
	hash   digest // of head
	again  uint64 // the last record of a batch that is being repeated; 0: none
	behind digest // its hash
}

// check looks at one record. e is empty if it cannot be read; again: it is repeated.
func (v *verifier) check(ctx context.Context, r driver.Record) (e entry, again bool, err error) {
	v.report.Records++
	e, body, claimed, err := decode(r.Data)
	if err != nil || e.N == 0 || e.Chain == "" {
		v.report.add(Break{Fault: Unreadable, Seq: r.Seq})
		return entry{}, false, nil
	}
	if !r.At.Equal(e.At) {
		v.fault(Changed, r, e)
	}
	p := v.chains[e.Chain]
	if p != nil && e.N <= p.head.N {
		return e, v.repeat(p, r, e, body, claimed), nil
	}
	before, known := parseDigest(e.Prev) // the first of a batch can be checked on its own
	switch {
	case p == nil:
		if len(v.chains) >= maxChains {
			return e, false, errChains
		}
		p = &progress{}
		v.chains[e.Chain] = p
		err = v.start(ctx, r, e, before, known)
	case e.N > p.head.N+1:
		v.fault(Missing, r, e)
	default:
		before, known = p.hash, true
	}
	if p.again != 0 { // and broken off
		v.fault(Misplaced, r, e)
	}
	if known && follow(v.sum, before, body) != claimed {
		v.fault(Changed, r, e)
	}
	v.advance(p, r, e, claimed)
	return e, false, err
}

func (v *verifier) fault(f Fault, r driver.Record, e entry) {
	v.report.add(Break{Fault: f, Seq: r.Seq, Chain: e.Chain, N: e.N})
}

// advance goes on from a record, whatever is wrong with it: one break is one report.
func (v *verifier) advance(p *progress, r driver.Record, e entry, claimed digest) {
	*p = progress{hash: claimed, head: Head{Chain: e.Chain, N: e.N, Hash: claimed.String(), Seq: r.Seq,
		Ended: e.Kind == end}}
	v.report.Lost += e.Lost
	delete(v.kept, p.head.plain())
}

// start looks at the first record of a chain, and at the one it began behind.
func (v *verifier) start(ctx context.Context, r driver.Record, e entry, before digest, known bool) error {
	if e.N != 1 {
		v.fault(Headless, r, e)
		return nil
	}
	if e.After > 0 && e.After < v.from.Through {
		if !known {
			v.fault(Unlinked, r, e)
		}
		return nil // the record is removed; that it was there nobody can prove any more
	}
	var found digest
	switch {
	case e.After == 0:
	case e.After == v.from.Through:
		found, _ = parseDigest(v.from.Hash)
	default:
		records, err := page(ctx, v.store, e.After-1, 1)
		if err != nil {
			return err
		}
		if len(records) == 1 && records[0].Seq == e.After && e.After < r.Seq {
			found = link(records[0].Data)
		}
	}
	if !known || found != before || (found == digest{}) != (e.After == 0) {
		v.fault(Unlinked, r, e)
	}
	return nil
}

// repeat looks at a record whose place in its chain is taken. It is harmless if it is of
// the last batch, and that stands there a second time, whole and to the letter: its first
// record names the hash before it, each hash covers the one before, and the last is the
// head's.
func (v *verifier) repeat(p *progress, r driver.Record, e entry, body []byte, claimed digest) bool {
	before, first := parseDigest(e.Prev)
	switch {
	case p.again == 0 && first:
	case p.again != 0 && e.N == p.again+1:
		before = p.behind
	default:
		v.fault(Misplaced, r, e)
		return false
	}
	if follow(v.sum, before, body) != claimed || e.N == p.head.N && claimed != p.hash {
		v.fault(Misplaced, r, e)
		p.again = 0
		return false
	}
	v.report.Repeated++
	p.again, p.behind = e.N, claimed
	if e.N == p.head.N {
		p.again = 0
	}
	return true
}

// finish looks for what never came, and lists the heads.
func (v *verifier) finish(kept []Head) {
	for _, p := range v.chains {
		if p.again != 0 {
			v.report.add(Break{Fault: Misplaced, Seq: p.head.Seq, Chain: p.head.Chain, N: p.again})
		}
		if p.head.Seq > v.from.Through {
			v.report.Heads = append(v.report.Heads, p.head)
		}
	}
	for _, h := range kept {
		switch {
		case !v.kept[h.plain()]:
		case v.from.covers(h, v.chains[h.Chain] != nil):
			v.report.Behind = append(v.report.Behind, h)
		default:
			v.report.add(Break{Fault: Cut, Chain: h.Chain, N: h.N})
		}
	}
	slices.SortFunc(v.report.Heads, func(a, b Head) int { return cmp.Compare(a.Seq, b.Seq) })
}
