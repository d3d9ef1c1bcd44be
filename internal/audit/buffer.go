package audit

import "time"

// buffer holds events that wait. It copies their texts: a path is often a piece of a
// request line that is a thousand times as long, and would keep all of it alive.
type buffer struct {
	slots   []slot
	text    []byte // of all slots, one after the other
	strange int    // bytes that anonymous events take, of size
	waiters []chan<- error
}

type slot struct {
	at      time.Time
	latency time.Duration
	bytes   int64
	status  int
	lens    [len(fields)]uint16
	actors  uint8 // texts behind those
}

// slotSize is the size of a slot in bytes.
const slotSize = 72

// add appends an event that has been trimmed. Its IP is ip, unless that is empty.
func (b *buffer) add(e *Event, ip []byte) {
	s := slot{at: e.At, latency: e.Latency, bytes: e.Bytes, status: e.Status}
	for i, text := range texts(e) {
		if text == &e.IP && len(ip) > 0 {
			s.lens[i] = uint16(len(ip))
			b.text = append(b.text, ip...)
			continue
		}
		s.lens[i] = uint16(len(*text))
		b.text = append(b.text, *text...)
	}
	s.actors = b.addActors(e)
	b.slots = append(b.slots, s)
}

func (b *buffer) size() int { return len(b.slots)*slotSize + len(b.text) }

// reset empties the buffer and keeps its memory.
func (b *buffer) reset() {
	clear(b.slots) // times point to their zones
	b.slots, b.text, b.strange, b.waiters = b.slots[:0], b.text[:0], 0, nil
}

// answer reports the outcome to everybody who waits for the buffer.
func (b *buffer) answer(err error) {
	for _, w := range b.waiters {
		w <- err
	}
	b.waiters = nil
}

// drain is a buffer that is being stored, and what follows its events.
type drain struct {
	buffer
	sums   []Event // of a minute that is over
	lost   uint64  // events that found the queue full meanwhile
	strays uint64  // anonymous ones among what was lost
	end    bool    // the chain ends behind them
	last   bool    // nothing is noted after them
	next   int     // slot
	rest   string  // text from there on
	events uint64  // that the entries cut off so far stand for
}

// entry cuts the next record off; false: there is none.
func (d *drain) entry(now time.Time) (e entry, ok bool) {
	switch {
	case d.next < len(d.slots):
		s := &d.slots[d.next]
		d.next++
		d.events++
		e.Event = Event{At: s.at, Latency: s.latency, Bytes: s.bytes, Status: s.status}
		for i, text := range texts(&e.Event) {
			*text, d.rest = d.rest[:s.lens[i]], d.rest[s.lens[i]:]
		}
		e.Actors = d.actors(s.actors)
	case len(d.sums) > 0:
		e.Event, d.sums = d.sums[0], d.sums[1:]
		d.events += uint64(e.Count)
	case d.lost > 0:
		e.Event, e.Lost = Event{Kind: lost}, d.lost
		d.lost = 0
	case d.strays > 0:
		e.Event, e.Lost = Event{Kind: lost, Detail: "anonymous"}, d.strays
		d.strays = 0
	case d.end:
		e.Event = Event{Kind: end}
		d.end = false
	default:
		return entry{}, false
	}
	tidy(&e.Event, now)
	return e, true
}
