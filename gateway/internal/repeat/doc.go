// Package repeat finds out which calls are repetitions that are not to be charged: those that carry
// the Idempotency-Key of an earlier one (draft-ietf-httpapi-idempotency-key-header) and are the same
// call of the same caller.
//
// [ParseKey] reads the header, [Keeper.Charge] charges a call or finds that it was charged. It is about
// charges alone: whether a service does something twice is the service's.
//
// # What is promised
//
// Of the attempts at one call within [Life] one is charged and up to Config.Free more are not,
// however they are spread over processes of one store. Every other attempt is charged as if it had no
// key. No attempt is answered before the call was charged, here or elsewhere: at any kill,
// what is lost is that a call was charged, never the charge.
//
// A first attempt takes its call in the store (one step), is charged, is answered, and is
// noted there as charged with the next write in the background. A kill before the charge leaves a call
// that was taken and not charged: the next attempt watches it stand still for a second, takes it over and
// is charged. A kill between the charge and the note, a few milliseconds apart, does the same, and then
// the call is charged twice. So with c calls, k kills and a attempts that were under way or just
// answered at those, from c to c+a are charged, and c exactly where nothing was killed and the store
// answers.
//
// # Choices
//
// The record in the store is found by a hash over the account, the user, the product, the tool, the key,
// and the method, path, query, headers and body of the request. Another request under the same key is
// another call: a client that sends one key with everything pays for everything. A key that is used for
// two requests is not noticed here; the service may refuse it.
//
// Of the headers those are no part of the call that differ from attempt to attempt by themselves: those of a
// connection, the token, the date and traces. Any other may be what the service answers by, and nobody knows which
// it reads. So a client that counts its attempts in a header pays for each.
//
// Repetitions are bounded, because the same request again may be a call of its own, of a price that is
// asked for every second: one is free, the next after a lost answer.
//
// The note follows behind the answer, and up to a hundred go into one step. To wait for it would
// double what a first attempt costs, and save those alone whose client has read the answer to its end.
//
// An attempt that meets another one between its taking and its note waits, up to a second: to be answered
// free beside a charge that never comes would be the one thing that must not be.
//
// A store that fails or takes longer than a second for a step is left alone for a second, and calls are charged as
// if they had no key. So are new calls of an account with 50,000 records, and of all accounts once a process has
// made 500,000: both budgets are renewed within a day, so that the store holds twice as many at most. Existing
// records are found all the same.
package repeat
