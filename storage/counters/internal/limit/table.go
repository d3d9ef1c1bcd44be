package limit

import "math/bits"

// table is a hash table with open addressing and linear probing. The slots hold no
// pointers, so the garbage collector does not walk them.
type table struct {
	slots []slot
	used  int
	hand  int    // the next slot to be swept
	rings []ring // the older events of keys that have some
	spare []uint32
}

// slot is one key and its newest event: all there is of a key with one request. It takes
// 32 bytes; the slots are what a million addresses cost.
type slot struct {
	id   id // zero: the slot is free
	at   int64
	seq  uint32
	ring uint32 // 1 + an index of table.rings; 0: the newest event is the only one
}

const (
	leastSlots = 8
	// sweepStep is the number of slots examined for each new key: of a steady stream of
	// new keys, the expired ones take about one slot in that many.
	sweepStep = 8
)

// home returns the slot where the search for a key begins.
func (t *table) home(k id) int {
	hi, _ := bits.Mul64(k[1], uint64(len(t.slots)))
	return int(hi)
}

func (t *table) after(i int) int {
	if i++; i < len(t.slots) {
		return i
	}
	return 0
}

// find returns the slot of a key, nil if it has none. The slot moves when another key
// comes or goes.
func (t *table) find(k id) *slot {
	if p := t.probe(k); p != nil && p.id == k {
		return p
	}
	return nil
}

// probe returns the slot of a key or else the free one where it belongs; nil if there
// are no slots at all. It ends because a table is never filled up, see misfit.
func (t *table) probe(k id) *slot {
	if len(t.slots) == 0 {
		return nil
	}
	for i := t.home(k); ; i = t.after(i) {
		if p := &t.slots[i]; p.id == k || p.id == (id{}) {
			return p
		}
	}
}

// put gives a new key its slot. The table must not be a misfit.
func (t *table) put(k id) *slot {
	p := t.probe(k)
	*p = slot{id: k, at: longAgo}
	t.used++
	return p
}

// misfit reports whether the table is too small for one more key, or far too large.
func (t *table) misfit() bool {
	size := len(t.slots)
	return t.used >= size*13/16 || size > 2*leastSlots && t.used < size/4
}

// rebuild makes a table that fits the live keys and drops the others: how many it says.
func (t *table) rebuild(horizon int64) (dropped int) {
	live := 0
	for i := range t.slots {
		if t.slots[i].live(horizon) {
			live++
		}
	}
	old := *t
	*t = table{
		slots: make([]slot, max(leastSlots, (live+1)*8/5)),
		rings: make([]ring, 0, len(old.rings)-len(old.spare)),
	}
	for i := range old.slots {
		from := &old.slots[i]
		if !from.live(horizon) {
			continue
		}
		p := t.put(from.id)
		*p = *from
		if from.ring != 0 {
			t.rings = append(t.rings, old.rings[from.ring-1])
			p.ring = uint32(len(t.rings))
		}
	}
	return old.used - live
}

// sweep moves the hand over a few slots, removes keys without live events and says how
// many it removed.
func (t *table) sweep(horizon int64) (removed int) {
	for range min(sweepStep, len(t.slots)) {
		p := &t.slots[t.hand]
		if p.id == (id{}) || p.live(horizon) {
			t.hand = t.after(t.hand)
			continue
		}
		t.release(p)
		t.remove(t.hand) // brings another key under the hand
		removed++
	}
	return removed
}

// remove frees slot i and moves those behind it forward, so that no search ends early.
func (t *table) remove(i int) {
	size := len(t.slots)
	for j := t.after(i); t.slots[j].id != (id{}); j = t.after(j) {
		fromHome := (j - t.home(t.slots[j].id) + size) % size
		if fromHome >= (j-i+size)%size {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot{}
	t.used--
}

// live reports whether the key of a slot has events behind the horizon.
func (p *slot) live(horizon int64) bool { return p.id != (id{}) && p.at > horizon }
