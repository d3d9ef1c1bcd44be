// Package pins records which tools of an MCP endpoint its owner has accepted. A tool that the endpoint later changes,
// or lists anew, is held until its owner or an administrator accepts it (decision 92).
//
// The bus tells [Pins.Found] what an upstream lists; package registry shows what is held, and accepts it.
//
// # Choices
//
// The stored tools are the accepted ones, with their texts, schemas, titles, hints and icons, and the
// names by which they are called there. A later list is compared with them, and the tools that differ are held beside
// them, in a record of their own; when they are accepted, both are written in one step. All nodes learn of that as they
// learn of any change of a capability. Registering accepts the tools that the upstream lists at that time; if it does
// not answer then, the first answer that a bus gets is accepted. An empty list is an answer.
//
// An acceptance names the digest of the tools that were shown, and is refused if others are held by now. Without a
// digest it succeeds only if nothing else has been held since tools were accepted last. Accepting all also forgets the
// accepted tools that the upstream no longer lists; until then they are back on the bus when it lists them again.
//
// The cost of a hostile upstream is bounded: of one capability 500 tools or 2 MiB are held, and the rest is
// counted; they are written once a minute at most; the owner is told once of each set of changes, and not within six
// hours of the last time unless something was accepted since; the last eight sets that were told are not told again.
// Each notice is a record of the audit trail, a mail and a webhook message (capability.changed, with the names of the
// tools), which is sent within a minute. A notice that had to wait is sent with the first list after its time.
//
// A held tool stays off the bus even if the store could not record it.
package pins
