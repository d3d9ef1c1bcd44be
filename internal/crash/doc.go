// Command crash kills a serving keystile, again and again, and holds it to its word: what
// was acknowledged before the kill must be there afterwards, and what was ended must stay
// so.
//
//	go run ./internal/crash --cycles 10
//
// In each cycle nine clients work over HTTP and the admin socket, then the server is sent
// SIGKILL, started again, and asked about what the journal says. It exits 1 if the server
// broke its word, and prints the journal lines that prove it.
//
// # Choices
//
// A write whose answer was lost may have happened or not; which of the two, the first look
// after the kill tells, and from then on that is what must stay. Where one write changes
// several things (a family of tokens ends), all must agree.
//
// The new token of a rotation whose answer was lost is known to nobody, so nobody can see
// whether it works; that a rotation is stored wholly or not at all is held by the contract
// tests of the storage. Here the old one works, or it is refused for ever. Some
// rotations are sent twice at once instead: one of the two must win, and a refusal that
// arrived says that the other was stored.
//
// Calls that are charged are held against the ledger life by life: not fewer than were
// answered, not more than were sent. At the end one life is ended by SIGTERM, and then they
// are equal.
//
// The leeways for a second use are set to a day: asking about a used token must not end
// what it belongs to.
package main
