package webhook

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// pauses follow the attempts that fail. The attempt behind the last pause is the last.
var pauses = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
}

// maxAfter bounds what a receiver may ask for with Retry-After: the longest pause it gets
// without asking.
const maxAfter = 14 * time.Hour

// pause returns how long to wait after a number of attempts (1 to len(pauses)).
func pause(attempts int) time.Duration {
	p := pauses[attempts-1]
	return p + rand.N(p/10)
}

// outcome holds the result of one attempt.
type outcome struct {
	status int           // of HTTP; 0: no answer
	fault  string        // for the owner to read; "": none
	after  time.Duration // what Retry-After asked for
	last   bool          // it is not tried again
}

func (o outcome) delivered() bool { return o.status >= 200 && o.status < 300 }

// over reports whether the delivery leaves the queue: delivered, or not wanted any more.
func (o outcome) over() bool { return o.delivered() || o.status == http.StatusGone }

// failed is the delivery after an attempt that failed: due later, or given up.
func (o outcome) failed(d storage.Delivery, now time.Time) storage.Delivery {
	d.LastStatus, d.LastError = o.status, o.fault
	if o.last || d.Attempts > len(pauses) {
		return givenUp(d, now)
	}
	next := now.Add(max(pause(d.Attempts), min(o.after, maxAfter)))
	if !next.Before(d.ExpiresAt) {
		return givenUp(d, now)
	}
	d.NextAt = next
	return d
}

func givenUp(d storage.Delivery, now time.Time) storage.Delivery {
	d.GivenUpAt, d.ExpiresAt = now, now.Add(storage.DeliveryLife)
	return d
}

// retryAfter reads Retry-After (RFC 9110 10.2.3) of the two answers it is for. It returns 0 for a
// value that cannot be read.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
