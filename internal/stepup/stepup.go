// Package stepup says whether a sign-in is recent enough for what must not be done with a
// browser that somebody has left open, or with a cookie that was stolen long ago.
package stepup

import "time"

// MaxAge is how old a sign-in may be.
const MaxAge = 10 * time.Minute

// skew is how far the clock that wrote a time may be ahead of the one that reads it.
const skew = time.Minute

// Fresh reports whether a sign-in at auth is recent enough at now: not older than MaxAge,
// and not more than a minute in the future.
func Fresh(auth, now time.Time) bool {
	age := now.Sub(auth)
	return age <= MaxAge && age >= -skew
}
