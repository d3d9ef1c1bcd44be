// Package limits bounds the requests of unknown clients.
//
// Nothing in it is stored: the counts are in memory, of a bounded number of addresses and networks, and do not
// survive a restart. No goroutine runs. Where several processes serve, tickets and emails by address can be counted
// by something that they share (counters.Counter). Polls and open tickets are counted by each process: they bound what
// is cheap, and what a flood may store, which several processes may be sent more of. Failures are counted by package
// lockout.
//
// # Choices
//
// [AddressLimiter] limits tickets, emails and new users by address and, of IPv6, by /56 and /48, which may do four
// and sixteen times as much (package network). It holds 100,000 addresses; where there are more, an unknown one is
// counted by its network, with a multiple of the limit.
//
// A sign-in that an unknown client begins is stored until it ends, two minutes for a code to scan and ten for an
// email or a visit to a provider. [OpenTickets] bounds them. A requested email is two tickets, also if nobody has the
// address, or the number would show who has one. Once 480 emails of the last ten to twenty minutes have unused codes,
// a client may request another only if few of those beyond came from its address and the networks around it: the
// fewer, the more there are in all. A client with none around it always may. Codes to scan, visits to providers and
// devices that wait are bounded in the same way, from 2,048 unfinished ones. So a flood grows the file by some MB,
// and clients from other networks notice nothing, also where they share a provider with a flood from one /24 or /48;
// in its own networks they wait, for emails up to twenty minutes. Signed-in users, and for emails known browsers of
// the address's user, never wait.
//
// The polls of a waiting page are limited here and nowhere else: 60 a minute for each code and 600 for each address.
package limits
