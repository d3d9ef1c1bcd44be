// Package audit writes the audit trail: one record for each sign-in, token, gateway call,
// tool call, registration, admin act and revocation, and never a secret in it.
//
// [Trail.Note] is for the request path: it copies the event into a bounded queue that a
// writer empties once a second. [Trail.NoteNow] is for admin acts and revocations: it
// returns when the event is stored. [Verify] checks a trail, [Export] copies it out.
//
// # The chain
//
// A record is one JSON object on one line. It ends in its hash: SHA-256 over the 32 bytes
// of the hash before it, then all bytes of the line up to `,"hash":"`. Every Open begins a
// chain with a random id and numbers its records from 1, so that nodes share a store
// without waiting for each other. The first record names the last one it found in the
// store, by Seq and hash, and so ties the chain to those before.
//
// Within a store that holds the beginning of every chain, or a checkpoint, Verify proves that no record of
// a chain was changed, moved, added amid it, or taken from before its last one; and that
// what a chain began behind is still there.
//
// It cannot prove, without help from outside, that the last records of a chain, or the
// last chains as a whole, are still there, nor that somebody who may write to the store
// has not written all of it anew: the hash has no key. The heads in a [Report] are that
// help. Keep them elsewhere, a day apart or so, and hand them to the next Verify: all
// that was stored by then is held fast by them. A chain whose head is not Ended belongs to
// a process that runs, was killed, or has lost its tail.
//
// The order between chains is that of the store and is not proven. Nor is it that what
// was noted is true, or that everything was noted: a process that is killed loses what it
// noted since the last flush, and a full queue drops events, which audit.lost counts.
//
// # Choices
//
// The package is shared, because all others write to the trail.
//
// An Append that failed may have happened. It is sent again to the letter, and a batch
// that stands twice in a row in its chain is whole for Verify and stands once in an
// Export. Looking into the store before sending again would not do: what was sent first
// can arrive after the look. A batch that arrives only when a later one is stored counts
// as misplaced; that takes a store that outlives its own answer by a whole flush.
//
// A full queue drops the newest events. To wait would make the store's trouble everybody's,
// and to drop the oldest would let a flood wash out what came before it.
//
// The queue is counted in bytes, and holds copies: a queue of strings would keep whole
// request lines alive, and a length in events would bound nothing.
//
// What somebody causes who has proven nothing is not one record each, because anybody can
// cause it at any rate and a record stays for a long time. An anonymous event without a user
// is summed by minute, kind, application, product, route, detail, status and network (package
// network). The first two of each such row are records of their own, with all that is known
// of them: in a quiet minute little is summed, and in a flood there are samples.
//
// There are at most 256 such records and sums in a minute, and 16 a minute in the long run:
// what a quiet hour has not used is there for the first minutes of a flood. Half of what a
// minute has is for single clients, a quarter for the networks around them, and so on; whoever
// exceeds the limit is counted by a wider network. Beside them are 24 rows of no network, the last
// of which, audit.others, counts everything that fits nowhere else. So a flood without end from any
// number of networks writes some 40 records a minute, about 20 MB a day, and each of its
// events is counted in exactly one of them. A sum is stored when its minute is over, and by
// Close; a process that is killed loses up to a minute of sums.
//
// A failed sign-in of a user whom there is stays one record, although it is anonymous: the
// locks of sign-in bound how many there are. The callers decide which events are anonymous.
// A client_id proves nothing, so what it names is whom the request was about.
//
// Anonymous events have half the queue. One that does not fit is summed, so no flood of
// them has another event dropped, nor one of theirs, before Close.
//
// Paths are cut here, for all callers, at 256 bytes, between letters and escapes, because they
// are what strangers write at will; what does not print is left out before.
//
// An Export reads the whole trail, whatever its filter, because it checks what it copies.
//
// # What is removed
//
// A trail is bounded by age and by size: a [Keeper] or an operator removes the oldest records,
// up to a Seq and none left out. A [Checkpoint] stands for them, sealed with the master key:
// the Seq, the hash of the last removed record, and where each chain stood that may go on. It
// is saved first, with the version that was read, so of two who prune at once one does; then
// the records go in small steps. Whatever is still there at or before its Seq counts as removed.
// [Verify] goes on from the checkpoint as if it had read all before it, so it proves as much
// of what is there as of a trail that begins at 1; only that a chain began behind a record
// which was removed before the last is no longer proven. Breaks in what is removed are counted
// in the checkpoint. The last record always stays, for the next chain to begin behind.
//
// Where a trail is shipped elsewhere (package gateway/stream), a [Keeper] leaves what is not shipped yet, until
// there is twice as much as its limits allow, or it is twice as old; then it removes the oldest and logs that
// they are nowhere else. An operator who prunes by hand waits for nothing. The stream says what it lacks.
//
// A checkpoint is bounded: chains that ended are dropped, and of those that were killed the
// 5,000 newest stay. A chain that is silent until so many others were removed and then goes on
// counts as headless.
//
// Where the store counts its Seqs without gaps, Verify also notices without kept heads that
// records, or the last ones, are gone.
//
// # Size
//
// It is larger than a package here should be: writing, summing, pruning and verifying know one
// format of chains and checkpoints, which nobody else may.
package audit
