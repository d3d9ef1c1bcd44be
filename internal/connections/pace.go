package connections

import "time"

// byteRate holds how long the service still waits for one side of a connection. Waiting uses it
// up, and bytes that move add to it.
type byteRate struct {
	left   time.Duration
	grace  time.Duration
	rate   int  // bytes that earn a second
	capped bool // never more than grace is left
	armed  time.Time
}

// moved notes that waiting for n bytes took a while.
func (p *byteRate) moved(n int, took time.Duration) {
	p.left += time.Duration(n)*time.Second/time.Duration(p.rate) - took
	if p.capped {
		p.left = min(p.left, p.grace)
	}
}

// arm sees to it that armed is a good time to look again, and reports whether it was
// changed. It is so rarely, that the caller may then set a deadline.
func (p *byteRate) arm(now time.Time) bool {
	step := min(p.left, max(p.left/2, p.grace/8))
	if in := p.armed.Sub(now); in >= step/2 && in <= step && in > 0 {
		return false
	}
	p.armed = now.Add(step)
	return true
}

// earliest returns the first of two deadlines; a zero one is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// latest returns the second of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// passed reports whether a deadline is over.
func passed(deadline, now time.Time) bool { return !deadline.IsZero() && !now.Before(deadline) }
