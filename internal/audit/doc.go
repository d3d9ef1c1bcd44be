// Package audit writes the audit trail: one record for each sign-in, token, gateway call, tool call,
// registration, admin act and revocation, and never a secret in it.
//
// [Trail.Note] is for the request path: it copies the event into a bounded queue that a writer empties once a
// second. [Trail.NoteNow] is for admin acts and revocations: it returns when the event is stored. [Verify]
// checks a trail, [Export] copies it out, a [Keeper] removes the oldest records, and package search finds some.
//
// # The chain
//
// A record is one JSON object on one line. It ends in its hash: SHA-256 over the 32 bytes of the hash before
// it, then all bytes of the line up to `,"hash":"`. Every Open begins a chain with a random id and numbers its
// records from 1, so that nodes share a store without waiting for each other. The first record names the last
// one it found in the store, by Seq and hash, and so ties the chain to those before.
//
// Within a store that holds the beginning of every chain, or a checkpoint, Verify proves that no record of a
// chain was changed, moved, added amid it, or taken from before its last one; and that the record behind which
// a chain began is still there.
//
// It cannot prove, without help from outside, that the last records of a chain, or the last chains as a whole,
// are still there, nor that a writer to the store has not written all of it anew: the hash has no key. The
// heads in a [Report] are that help. Keep them elsewhere, a day apart or so, and hand them to the next Verify:
// they hold fast all that was stored by then. A chain whose head is not Ended belongs to a process that runs,
// was killed, or has lost its tail. Where the store counts its Seqs without gaps, Verify also notices without
// kept heads that records, or the last ones, are gone.
//
// The order between chains is that of the store and is not proven. Nor is it that a noted event is true, or
// that every event was noted: a process that is killed loses the events that it noted since the last flush, and
// a full queue drops events, which audit.lost counts.
package audit
