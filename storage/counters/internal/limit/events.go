package limit

import "math"

// event is one admitted request. The seq tells events of one key at the same nanosecond
// apart: it comes round only after 4,294,967,296 of them.
type event struct {
	at  int64
	seq uint32
}

// longAgo is the time of no event: it lies before every horizon.
const longAgo = math.MinInt64

// The methods below see a slot and its ring as one list of events, oldest first.

func (t *table) count(p *slot) int {
	switch {
	case p.at == longAgo:
		return 0
	case p.ring == 0:
		return 1
	}
	return t.rings[p.ring-1].len() + 1
}

func (t *table) nth(p *slot, i int) event {
	if p.ring != 0 {
		if r := &t.rings[p.ring-1]; i < r.len() {
			return *r.at(i)
		}
	}
	return event{p.at, p.seq}
}

// trim drops the events up to the horizon. The ring stays with a key that is in use and
// goes with the last live event, so that steady traffic allocates nothing.
func (t *table) trim(p *slot, horizon int64) {
	if p.at <= horizon {
		t.release(p)
		p.at = longAgo
		return
	}
	if p.ring != 0 {
		t.rings[p.ring-1].trim(horizon)
	}
}

// add appends an event that is not older than the others. There is never need for more
// than limit of them.
func (t *table) add(p *slot, e event, limit int) {
	if p.at != longAgo {
		if p.ring == 0 {
			p.ring = t.newRing()
		}
		t.rings[p.ring-1].push(event{p.at, p.seq}, limit-1)
	}
	p.at, p.seq = e.at, e.seq
}

// drop removes one event, if it is there.
func (t *table) drop(p *slot, e event) {
	newest := e == event{p.at, p.seq}
	switch {
	case p.ring == 0 && newest:
		p.at = longAgo
	case p.ring == 0:
	case !newest:
		t.rings[p.ring-1].drop(e)
	default:
		last, ok := t.rings[p.ring-1].pop()
		if p.at, p.seq = last.at, last.seq; !ok {
			p.at = longAgo
		}
	}
}

func (t *table) newRing() uint32 {
	if last := len(t.spare) - 1; last >= 0 {
		i := t.spare[last]
		t.spare = t.spare[:last]
		return i
	}
	t.rings = append(t.rings, ring{})
	return uint32(len(t.rings))
}

func (t *table) release(p *slot) {
	if p.ring != 0 {
		t.rings[p.ring-1] = ring{}
		t.spare = append(t.spare, p.ring)
		p.ring = 0
	}
}
