// Package driver declares what a storage adapter implements: [Backend], the records that it
// keeps, and the errors it answers with. It imports the standard library alone.
//
// # Vocabulary
//
// A handle is the text that a client holds: an authorization code or a refresh token. The
// store never sees it, only its [Key].
//
// A [Token] is the record behind a handle. It is issued, then exchanged once for what
// follows it. It stays readable until it is swept, so that a second use can be
// distinguished from a wrong one.
//
// A grant is one act of a user letting one application in. All tokens that descend from one
// code share its grant.
//
// A [Revocation] is a standing fact ("this grant has ended"), not a moment: a token that it
// covers cannot be exchanged, no matter when that token was written.
//
// A [Doc] is everything else: a versioned JSON document with a kind, an id and index entries.
// A version is a number of the whole store that is never used twice.
//
// # Writing an adapter
//
// Interfaces that an adapter may leave out are for what it can do beside: [Gatherer], [Picker] and [Meters] save round
// trips, a store that other processes write to is a [Shared], one with a clock of its own is a [Clock], one that sees
// damaged rows itself is [Summed], and [Described] and [Sized] tell operators what and how large it is. A Backend that
// wraps another one is a [Wrapper], and hands all of that on.
//
// Read [Backend], whose comments are the contract, then storage/memory, which is short. Hold
// the result against storage/storagetest: Run, RunDurable where it lasts, both on Nodes where
// several processes share it, and Bench. examples/store is a tutorial, with a schema for SQL.
//
// # Choices
//
// An adapter does no cryptography and reads no clock: secrets arrive sealed, and times arrive
// in records or as the argument at.
//
// Many callers write at once, and a commit waits for a disk or a network. An adapter with one
// writer gathers what waits into one commit: storage/bolt does, and examples/sqlite in some forty
// lines, for 10 to 15 times the rate of one commit each (storagetest.Bench tells). Each call of it keeps
// its own answer: a refusal, a failure or a caller who left takes no other along.
package driver
