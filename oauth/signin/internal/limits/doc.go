// Package limits bounds how much strangers may ask for.
//
// Nothing in it is stored: the counts are in memory, of a bounded number of accounts, addresses
// and networks, and do not survive a restart. No goroutine runs.
//
// # Choices
//
// [Delays] counts failures by account. An account with ten failures in five minutes, whatever
// addresses they came from, is delayed (decision 56): 429 with Retry-After, from a
// second after the tenth failure doubling to a minute, until five minutes pass without a failure.
// Once there is a delay one attempt at a time is let through. The counts are of 100,000 accounts;
// if there are more, those with the fewest failures are forgotten.
//
// [Ladder] limits tickets, emails and new users by address and, of IPv6, by /56 and /48, which may
// do four and sixteen times as much (package network). It holds 100,000 addresses; where there are
// more, an unknown one is counted by its network, with a multiple of the limit.
//
// What a stranger begins is stored until it ends, two minutes for a code to scan and ten for an
// email or a visit to a provider. [OpenTickets] bounds that. An email that a stranger asks for is
// two tickets, also if nobody has the address, or it would show who has one. Where 1,024 emails
// were asked for in the last ten to twenty minutes whose code nobody has typed in, those may have
// another around whom, in their address and the networks of the ladder, few were, the fewer the
// more there are; around whom there is none may always. Codes to scan and visits to providers are
// bounded alike, from 2,048 that have not come to an end. So a flood grows the file by some MB, and
// who comes from networks that it does not hold notices nothing; in its own they wait, for emails
// up to twenty minutes. Whoever is signed in, or for emails known to the user of the address, does
// not.
//
// The polls of a page that waits are no requests of a person: 60 a minute for each code and
// 600 for each address, counted here and nowhere else.
package limits
