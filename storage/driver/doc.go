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
// Read [Backend], whose comments are the contract, then storage/memory, which is short. Hold
// the result against storage/storagetest. examples/store is a tutorial.
//
// An adapter does no cryptography and reads no clock: secrets arrive sealed, and times arrive
// in records or as the argument at. Many callers write at once, so an adapter whose commits
// wait for a disk gathers what waits into one commit (storage/bolt does).
package driver
