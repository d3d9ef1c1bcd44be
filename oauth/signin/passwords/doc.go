// Package passwords hashes the passwords that people sign in with.
//
// A [Hasher] computes argon2id hashes, some at a time, and [Check] refuses passwords that are
// guessed first. The users of the Store have one; a host with a user table of its own may use it
// for its own hashes.
//
// # Choices
//
// As many passwords are hashed at a time as there are processors; the others wait for three
// seconds at most. First come browsers that are known to the user and whatever is not a sign-in,
// in their order. Strangers follow ([AsStranger]), those first around whom, in their address and
// the networks of the ladder above it (package network), the fewest passwords were tried in the
// last five to ten minutes that were not right. So a flood from however many addresses stands
// behind whoever comes from networks that it does not hold. Where 1,024 strangers wait, the last of
// that order has to go. Who has to go, or has waited in vain, is answered 503 with Retry-After
// before anything is hashed, and so is who is known and would wait for more than three seconds, by
// what a hash takes lately. It is no failure. Who hangs up leaves the queue. What was tried is in
// memory, of 131,072 networks of each size. Where only the hash of a right password is to be
// renewed at another cost, the sign-in goes on without.
//
// Who has never signed in here and comes from the same network as a flood cannot be told from it:
// that is the price.
package passwords
