// Command cluster runs several keystile serve on one database, breaks everything around them, one thing
// after the other, and judges every answer meanwhile.
//
//	go -C internal/test/campaigns run ./cluster --nodes 2 --cycles 8
//	go -C internal/test/campaigns run ./cluster --nodes 3 --cycles 500 --pause 30s -v
//	go -C internal/test/campaigns run ./cluster --cycles 4 --faults failover,failover-late
//	go -C internal/test/campaigns run ./cluster --cycles 4 --faults failover-late --plant cancel # it has to find it
//	go -C internal/test/campaigns run ./cluster --redis=false
//
// It exits 1 if a promise was broken, and says what was wrong in that moment.
//
// # What runs
//
// N nodes; a PostgreSQL primary with a synchronous standby, synchronous_commit=on: a commit is answered
// when the standby has it on its disk (see pair); a PgBouncer in transaction mode, through which every
// second node goes, listening past it, while the others name both servers in their address; a Redis; and
// a balancer, which sends each request to the next node whose /healthz/ready is 200 and sends nothing
// twice that is not safe. Each program has a network namespace of its own where the test is root on
// Linux, else a port of loopback. All ways lead over links of package link, which can be cut, silenced
// and slowed down.
//
// # Who asks
//
//	holder         a code of one node redeemed at another; a refresh token rotated at one, or at all of them
//	               at once: one wins; what was redeemed once, presented again, also after failovers; tokens
//	               and families that end everywhere
//	truster        consent at one node, code at another, token at a third; taken back
//	scanner        a code shown at one node, scanned at another, collected at a third, once
//	publisher      a capability registered at one node and listed by the bus of every other
//	registrar      applications made at one node and served by another; disabled ones refused everywhere
//	charged        calls: what is counted at the end is what was answered, or little more: what was sent
//	hurried        an application of 60 a minute that asks more often, at all nodes
//	guesser        an address that is locked at all nodes after ten wrong passwords at any
//	trail          the audit trail and the revocations, followed over every failover: no number is left out,
//	               nothing that was seen changes, and what is promised to be there is
//
// # What must hold
//
// Nothing that was acknowledged is lost, nothing works twice, and what has ended is refused everywhere
// within a second, or, at a node that cannot know, the node says 503 within its stale_after (and a second
// of slack each, because machines that run tests are busy). While nothing is wrong every request is
// answered; while something is, it may go unanswered or get a 503 with Retry-After, at the nodes that it
// is about, or one without it that says that the change is made and only its record waits (decision 32). No
// other 5xx ever comes. A Redis that is away, slow or emptied, a wrong clock, a slow
// database and a rolling restart are no excuse at all.
//
// # Choices
//
// A client that is told 503 does not know what has happened, asks again, and is held to the answer that
// comes then: a revocation is repeated until it is acknowledged.
//
// The primary is killed before its standby is promoted, as whoever promotes has to make sure. The standby
// takes its place alone, and answers wait for no other until the old primary follows it: by pg_rewind, or as a
// copy. Nothing is promoted before that.
//
// failover-late keeps the standby from hearing anything for up to ten seconds before. Commits wait then,
// and must not be seen by anybody.
//
// How many requests a node admits while it does not count with the others is bounded by its share of the
// limit, once more for each start. The node itself says whether it did
// (keystile_counters_judged_alone_total): on a busy machine a healthy Redis takes longer than the 50 ms
// that a node waits for it.
//
// The leeways for a second use are set to a day, as in package crash: asking about a used token must not
// end what it belongs to. Every request comes from an address of its own.
//
// The seed draws the faults and the work of each client, not the moments of a machine.
//
// # Size
//
// It is larger than a package here should be, as package crash is: each thing that is promised has a file
// that asks for it, and each program that runs has one that starts and breaks it.
package main
