// Package pins keeps which tools of an upstream that lists them by itself its owner has accepted, and holds what the
// upstream changes in them, or lists anew, until somebody accepts that (decision 92).
//
// The bus tells [Pins.Found] what an upstream lists; package registry shows what is held, and accepts it.
//
// # Choices
//
// The stored tools are the accepted ones, with their texts, schemas, titles, hints and icons, and the
// names by which they are called there. What differs at a later look is held beside them, in a record of its own, and
// is written with the capability in one step when it is accepted. All nodes read that as they read any change of a
// capability. Registering accepts what the upstream lists then; where it does not answer, the first answer that a bus
// gets is accepted. An empty list is an answer.
//
// Who accepts names the digest of what was shown to them, and something newer is refused. Without a digest it is
// accepted only if nothing else has been held since tools were accepted last. Accepting all also forgets the accepted
// tools that the upstream lists no more; until then they come back as they were.
//
// Nothing that an upstream does costs more than this: of one capability 500 tools or 2 MiB are held, and the rest is
// counted; they are written once a minute at most; the owner is told once of each set of changes, and not within six
// hours of the last time unless something was accepted since; the last eight sets that were told are not told again.
// A record of the audit trail, a mail and a webhook message, capability.changed with the names of the tools, go with
// that; the webhook's is sent within a minute. A notice that waits is sent with the first look after its time.
//
// What is held is left out whether or not that could be written down.
package pins
