package limit

// ring is a queue of events in the order of their times. It takes 32 bytes, so that it
// lies in one cache line; memory ends long before its int32 do.
type ring struct {
	buf  []event
	head int32
	size int32
}

func (r *ring) len() int { return int(r.size) }

// at returns the i-th event from the oldest.
func (r *ring) at(i int) *event {
	if i += int(r.head); i >= len(r.buf) {
		i -= len(r.buf)
	}
	return &r.buf[i]
}

// push appends an event. The ring doubles as it fills, up to most events, which is more
// than it holds.
func (r *ring) push(e event, most int) {
	n := r.len()
	if n == len(r.buf) {
		buf := make([]event, min(max(2, 2*n), most))
		for i := range n {
			buf[i] = *r.at(i)
		}
		r.buf, r.head = buf, 0
	}
	r.size++
	*r.at(n) = e
}

// pop removes the newest event; ok is false if there is none.
func (r *ring) pop() (e event, ok bool) {
	if r.size == 0 {
		return event{}, false
	}
	r.size--
	return *r.at(r.len()), true
}

// trim removes the events up to the horizon.
func (r *ring) trim(horizon int64) {
	for r.size > 0 && r.at(0).at <= horizon {
		if r.head++; int(r.head) == len(r.buf) {
			r.head = 0
		}
		r.size--
	}
}

// drop removes one event, if it is there. Cancelled events are mostly young.
func (r *ring) drop(e event) {
	last := r.len() - 1
	for i := last; i >= 0 && r.at(i).at >= e.at; i-- {
		if *r.at(i) != e {
			continue
		}
		for ; i < last; i++ {
			*r.at(i) = *r.at(i + 1)
		}
		r.size--
		return
	}
}
