// Package passwords hashes the passwords that people sign in with.
//
// A [Hasher] computes argon2id hashes, some at a time, and [Check] refuses passwords that are
// guessed first. The users of the Store have one; a host with a user table of its own may use it
// for its own hashes.
//
// # Choices
//
// A password is normalized before it is hashed ([Normal]), and its length is measured after that. The hash of one that
// was set before is of what was typed, so where that differs from the normalized form it is tried second, also for a
// user who is not there: what is typed decides how long an answer takes, and not whether the user exists. Both are one
// attempt.
//
// As many passwords are hashed at a time as there are processors; the others wait for three
// seconds at most. Browsers that are known to the user, and everything that is not a sign-in, go
// first, in their order. Unknown clients follow ([AsUnknownClient]), those first with the fewest
// wrong passwords in the last five to ten minutes in their address and the networks around it
// (package network). So a flood from however many addresses goes after clients from other
// networks. Where 1,024 unknown clients wait, the last of that order is dropped. A client that is
// dropped, or has waited in vain, is answered 503 with Retry-After before anything is hashed, and
// so is a known browser that would wait for more than three seconds, by the time that recent
// hashes took. This is no failure. A client that disconnects leaves the queue. The attempts are
// in memory, of 131,072 networks of each size. If only the hash of a right password is to be
// renewed at another cost, the sign-in goes on without.
//
// Hashes of other products are verified as they are ([Adopt]) and are stale, so that each is renewed as argon2id when
// its user signs in. Until then the time of an answer tells that the user was moved here; what is not computed within
// a second or two is refused when it is moved.
//
// The price: a client that has never signed in here and comes from the same network as a flood
// cannot be distinguished from it.
package passwords
