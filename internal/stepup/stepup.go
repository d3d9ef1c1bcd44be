// Package stepup says when a sign-in is recent enough for an act that must not be open to
// whoever finds a signed-in browser: secrets, redirect URIs, roles, keys, deleting,
// settings, ways in, the e-mail address, the password (entry 57 of the decisions).
package stepup

import "time"

// MaxAge is how old a sign-in may be at such an act.
const MaxAge = 10 * time.Minute

// skew is how far in the future the time of a sign-in may lie: the clocks of two nodes
// differ by that much, and not by more.
const skew = time.Minute

// Fresh reports whether a sign-in made at auth is recent enough at now. One of the future
// is not: a clock that was wrong then would keep it fresh for as long as it was wrong by.
// The zero time, which is no sign-in at all, is not fresh either.
func Fresh(auth, now time.Time) bool {
	if auth.IsZero() {
		return false
	}
	age := now.Sub(auth)
	return age >= -skew && age <= MaxAge
}
