package network

import "math/bits"

const (
	ways    = 8 // windows of a set: how many are looked at to find one
	buckets = 9 // eight eighths of a window, and the one that is being filled
)

// level is a table of a fixed size. A network is in the one set that its id names.
type level struct{ sets [][ways]window }

// window is the count of one network.
type window struct {
	id     uint64 // 0: none has been here
	bucket int64  // the newest, numbered by time
	counts [buckets]uint32
	total  uint32 // their sum
}

// look returns the window of an id that counts for something, else one that is free if there
// is any, and the one with the fewest events.
func (l *level) look(id uint64, now int64) (own, free, least *window) {
	hi, _ := bits.Mul64(id, uint64(len(l.sets)))
	set := &l.sets[hi]
	for i := range set {
		w := &set[i]
		w.forward(now)
		switch {
		case w.total == 0:
			free = w
		case w.id == id:
			own = w
		case least == nil || w.total < least.total:
			least = w
		}
	}
	return own, free, least
}

// forward drops the events that have left by now.
func (w *window) forward(now int64) {
	if now-w.bucket >= buckets {
		*w = window{id: w.id, bucket: now}
	}
	for ; w.bucket < now; w.bucket++ {
		next := &w.counts[(w.bucket+1)%buckets]
		w.total -= *next
		*next = 0
	}
}

// add counts an event of now, to which the window was moved forward.
func (w *window) add(now int64) {
	w.counts[now%buckets]++
	w.total++
}

// drop takes an event of a bucket back, if it is still there.
func (w *window) drop(bucket int64) {
	if n := &w.counts[bucket%buckets]; w.bucket-bucket < buckets && *n > 0 {
		*n--
		w.total--
	}
}

// oldest returns the oldest bucket with events.
func (w *window) oldest() int64 { return w.leaves(int(w.total)) }

// leaves returns the bucket after whose leaving fewer than limit events are left.
func (w *window) leaves(limit int) int64 {
	left := int(w.total)
	for b := w.bucket - buckets + 1; ; b++ {
		if b < 0 {
			continue
		}
		if left -= int(w.counts[b%buckets]); left < limit || b >= w.bucket {
			return b
		}
	}
}
