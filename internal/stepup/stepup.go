// Package stepup holds the one rule of how recent a sign-in has to be before somebody may
// do what cannot be taken back: see or rotate a secret, change where users are sent,
// change a role or a way to sign in, delete, or hand an application the management of
// others (decisions 52 and 57).
package stepup

import "time"

// MaxAge bounds the age of the sign-in.
const MaxAge = 10 * time.Minute

// skew bounds the difference between the clocks of two machines.
const skew = time.Minute

// Fresh reports whether a sign-in at auth is recent enough at now. One in the future, by
// more than clocks differ, is not: it would stay fresh for as long as a clock ran ahead.
func Fresh(auth, now time.Time) bool {
	age := now.Sub(auth)
	return -skew <= age && age <= MaxAge
}
