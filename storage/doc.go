// Package storage keeps what Keystile knows: applications, users, sessions, keys and the like.
// [Open] makes the [Store] that all other packages use over a [driver.Backend].
//
// # Two layers
//
// Packages that use storage declare the few methods they need and are handed a *[Store], which
// has typed methods (App, User, Session, ...), seals secrets with AES-256-GCM and turns every
// failure that is not one of the verdicts below into [ErrUnavailable].
//
// Adapter authors implement [driver.Backend]: 15 methods and Close, each one atomic step. No
// transaction crosses the line. Package driver has the vocabulary and where to begin.
//
// # Choices
//
// A grant's id begins with the time it was given ([NewGrant]), so an access token that
// carries only the id can still be compared with "everything before noon is revoked".
//
// Several master keys may open, one seals. A store has a mark sealed with its key, so that
// the wrong one fails at Open with the id of the one that is needed; while the key changes
// there is a mark for each key in use, because until the end all of them are needed.
//
// Ready trusts a successful write for five seconds, and probes with one document of its own
// after that. What was refused, found nothing to do or lost its caller proves nothing about the
// disk and is left out. A reader of revocations in the same process learns of them with the
// write, so the feed is fresh while it can be read.
//
// A document of an adapter that keeps no checksums of its rows (driver.Summed) has a CRC-32C of its kind, id, end,
// index entries and data behind its JSON, as 32 blanks and tabs: so every adapter has it for nothing, versions before
// read past it, and a copy of a store brings it along. A damaged document is an ErrUnavailable that is a
// driver.Damaged. What is no JSON has none: the mark of the master key, which is sealed and does not open if it is
// damaged, and the index of the trail, whose finds are compared with their records.
//
// Clocks are wrong now and then, and a revoked token stays revoked all the same. One document
// keeps the highest time that was seen, which grants and revocations are dated by while the
// clock is behind it: each revocation moves it on by a nanosecond, so that what is granted
// afterwards stands. It also keeps the time that has surely come, which only running, or a start
// within a day of it, moves on: sweeping goes by that one, so a second start with a clock that is
// days fast forgets no more than the first. A service that was really stopped for days sweeps
// late until it has run for seven, over all its starts; a machine that slept counts as stopped.
// Within the last minute before a kill the highest time may not be written, so a start that is
// behind takes it for a minute later.
//
// One clock: what several processes grant and end is dated by the clock of the store that they share
// ([driver.Clock]), so that a sign-out at one of them ends what another has granted, however much their own
// clocks differ. No process asks for the time when it grants something. It asks every two seconds, and knows by the
// time that it has been running since, which nobody sets, between which two times the store's clock is: a
// question and its answer apart, mostly a millisecond. A grant is dated by the earlier one. A revocation asks, which
// costs it one more step, so everything that was granted anywhere before it is covered, whatever any process
// believes. So that nobody who signs in afterwards is covered too, Revoke returns once the earlier time of every
// process is past it: each tells with its beat how far that may be behind, and a process dates nothing before a
// revocation that it has read. A hybrid logical clock that beats and the feed carry would have left
// two seconds between the beats in which a sign-out ends less than it says; numbers of the store in
// place of times would have cost a write for each token of client_credentials. A process whose own clock is more than 5
// seconds from the store's says so and is not ready: codes, sessions and locks still end by it. From a
// minute on it grants nothing.
//
// Processes that share a store learn of changed keys, settings, applications, capabilities, access
// lists, bundles and users by one small document for each of these kinds, an epoch, which is written in the same
// step as they are and read once a second. It counts the changes and names the last 32 of them, each
// with a tag of chance, so a reader drops only what has changed, and notices a store that has lost a
// change even if another one has taken its number. Two writers of one kind meet there; the slower one
// tries again, which is cheap as long as these kinds are written seldom. Users are written by more at once:
// they are counted in 16 epochs by their sub (of 16 writers on PostgreSQL one epoch leaves a tenth of the
// rate, 16 leave half), and new ones, whom nobody can have cached, in none. A version counter in the adapter would
// have been a second truth beside the documents, and an order that each adapter has to prove. A store
// that only one process writes to has no epochs ([driver.Shared]); there, as everywhere, a process
// is told of its own changes of users before their writer is answered.
//
// What one process changes holds at every other within a second of that reading, and sooner where
// the store tells: keys, settings, applications with their tiers, owners and redirects, capabilities
// and tools, access lists, bundles, users at userinfo, and all that is revoked. Whoever caches one of these has OnChange drop
// it, and reads it again until that succeeds. A role is read again after a second, because users may be in a
// table of the host's. Of users nothing else is cached, and no session, ticket, consent or order. Where the reading
// fails for ten seconds nothing is trusted any more. A cache without somebody who calls ReadChanges
// has five seconds, its own bound.
//
// A store lists the features that every binary that opens it must obey ([Feature]), each
// written down before the first fact that needs it, and a version that does not know one is
// refused with [ErrNewer] and the name of the version that does. So a store goes back to the
// version before as long as nothing new was used in it. A version older than the list itself
// is kept out by the adapter: storage/bolt has a format of its own for that.
//
// What a newer version has written into a document and this one does not know survives when
// this one reads, changes and writes it: fields of the record and of the objects in it, items
// of lists as long as this version leaves them as they are, and sealed texts as they are sealed.
// Registering a capability again keeps them too: a field that narrows must not be lost by it.
// A document that is made anew has none.
//
// Usage rows of hours are kept for 400 days ([driver.UsageHours]), which is longer than any question
// or settlement by the hour reaches back, and those of days for ever. Neither can be set: what
// a settlement is made of must not depend on it. They are swept by the time that has surely
// come, like all else.
//
// Audit records are removed by their Seq, oldest first, never by name. The [Checkpoint] that
// stands for them is sealed here, because the master key is; its content is the trail's
// (internal/audit). It is written before the first of them is removed.
//
// Expired tokens and documents are returned until they are swept: the reader of a record
// compares its ExpiresAt, because only the reader may look at a clock.
//
// # Size
//
// It is larger than a package here should be: one generic table seals, indexes and versions every
// record alike, and many acts write documents of several kinds in one step. What records mean
// beyond that is in access, event, handle and toolplan.
package storage
