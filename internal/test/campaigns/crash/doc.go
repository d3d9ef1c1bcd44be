// Command crash kills a serving keystile, again and again, and holds it to its word: what
// was acknowledged before the kill must be there afterwards, and what was ended must stay
// so.
//
//	go -C internal/test/campaigns run ./crash --cycles 10
//	go -C internal/test/campaigns run ./crash --cycles 1000 --long 100 --wait 170s   # with lives of minutes
//	go -C internal/test/campaigns run ./crash --cycles 100 --plant write             # a fault that it has to find
//	go -C internal/test/campaigns run ./crash --cycles 300 --storage postgres        # the database is killed too
//	go -C internal/test/campaigns run ./crash --cycles 300 --storage postgres --nodes 2
//
// In each cycle fourteen clients work over HTTP and the admin socket, then the server is sent
// SIGKILL, started again, and asked about what the journal says. Some starts are killed too,
// at a random moment. It exits 1 if the server broke its word, and prints the journal lines
// that prove it.
//
// # What is done, and held
//
//	holder         codes, tokens, rotations and revocations
//	registrar      applications and users; setter: a setting
//	secretRotator  secrets of an application: the new one works, the one before until its end
//	buyer          orders and what was decided about them, and the tier that is in force
//	member         sign-up, sign-in, sign-out here and everywhere, changed passwords
//	truster        consent: remembered, or taken back with every token of it
//	userDisabler   users who are disabled and enabled
//	publisher      capabilities: what the bus lists, and what a receiver of webhooks was told
//	postman        codes by mail: each works once
//	caller         charged calls: the ledger
//	trail          the audit trail: whole after each kill, and with the acts that are promised to
//	               be on it before they are answered, see promised
//
// A client has work, which goes on until the server is gone; what it knows are things in the
// journal, each of a kind that says how to ask about it (kindsOf). A client that is a checker
// has more to ask.
//
// # A database
//
// With --storage postgres the store is in a PostgreSQL server of the campaign's own, and several
// servers with a data folder each may share it: requests go to one after the other. The victims are
// drawn: servers, the database (its first process and all that this has begun), one process of the
// database, after which it recovers by itself, or servers and the database at once. The database is
// started again at once, or after up to a second, or after so long that no client waits for it any
// more, and the clients go on meanwhile, each until it is told. From the kill until then 503 is no
// answer: the request may have happened or not. Every other answer has to be right, and no other 5xx
// may come. A server that has lived through that has to work again without being started anew.
//
// A watcher follows the audit trail and the revocations in the database all the time, as a node does
// that is never killed: no Seq of the trail may be left out, no Seq of the revocations may show behind
// a higher one, and none that was seen may be gone.
//
// Before it is asked what is there, statements of killed servers that the database still carries out
// are waited for, because until then nobody can know what they come to; and a server that lived on has
// to have read what others have written (keystile_feed_age_seconds), and its bus to list it.
//
// The kill of a process takes nothing that it has handed to the kernel, so with fsync off nothing
// would be lost here either; it is on, as it is by default. The log buffers of PostgreSQL are lost
// with its processes, so an answer before the commit is in the log is found: plant async. Power cuts
// are the matter of package powercut, and of PostgreSQL.
//
// # Choices
//
// A write whose answer was lost may have happened or not; which of the two, the first look
// after the kill tells, and from then on that is what must stay. Where one write changes
// several things (a family of tokens ends), all must agree. Where an act is several writes
// (signing out everywhere), each thing is settled by itself; once it is acknowledged, all
// must have ended.
//
// The new token of a rotation whose answer was lost is known to nobody, so nobody can see
// whether it works; that a rotation is stored wholly or not at all is held by the contract
// tests of the storage. Here the old one works, or it is refused for ever. Some
// rotations are sent twice at once instead: one of the two must win, and a refusal that
// arrived says that the other was stored. The same goes for secrets and cookies.
//
// Calls that are charged are held against the ledger life by life: not fewer than were
// answered, not more than were sent. At the end one life is ended by SIGTERM, and then they
// are equal.
//
// A mail is handed over behind the answer, in a later life if need be. It may come late, by two and
// a half minutes if the kill cut that off, and so may a webhook, by a minute: that
// they come is held at the end alone, if --wait is long enough; that what
// comes is what happened, in its order and under one id, after each kill.
//
// A life is of 50 ms to 0.4 s, one in six of up to 2 s, and longer on a machine that has other
// work to do (slowness). After a second clients slow down, so that lives of minutes do not
// grow a file that no campaign gets through.
//
// Of a trail with more than 20,000 records what is new is read after each kill; the chains are
// verified when it has grown by a quarter, and at the end.
//
// The seed draws the work of each client, the moments of the kills and what is asked about. The
// moments are those of a machine: with the same seed no two campaigns are the same, but alike.
//
// Every request comes from an address of its own, or a lock against guessing would answer for
// the server. The leeways for a second use are set to a day: asking about a used token must
// not end what it belongs to.
//
// # Size
//
// It is larger than a package here should be: each kind of thing that the service acknowledges has
// a file that makes it, remembers it and asks for it.
package main
