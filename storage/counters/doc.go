// Package counters counts what bounds guesses and floods: requests of applications and addresses, failed attempts by
// address and by account, and events such as wrong secrets and emails.
//
// A [Set] is all of it. Without one, each room counts in its own process by [NewLimiter], [NewAddresses],
// [NewAccounts] and [NewCounter]. Where several processes serve, keystile.Config.Counters takes a Set that counts for
// all of them, such as that of package redis; package countertest holds another one to the same contract. A host's
// own page that asks for a secret that can be guessed needs Addresses of its own.
//
// The counters of one process are in memory of a bounded size, run no goroutine and do not survive a restart.
//
// # Choices
//
// A rate is exact: no 60 seconds hold more than N requests, and what is refused does not count.
//
// A Limiter counts a million addresses at a time, apart from applications. Where there are more, an unknown one is
// counted by its network, which may do four times as much for each step that it is wider, and the RateLimit headers
// go on speaking of the address (decision 56, package network).
//
// A request without a valid token is counted by address and, of IPv6, by /56 and /48 too, which may do
// four and sixteen times as much: anybody can have a /48, and in it 65,536 addresses. A
// household seldom has more than a /56, so it cannot use up the rate of its neighbours in a /48.
// A company or a pool of a mobile network shares one /48 between many users, as it shares one
// address of IPv4, which may do a sixteenth of that: where 960 requests a minute of users who
// sign in are too few for a /48, 60 are for an address, and gateway.Config.PerAddress is to be
// raised, which raises all of them. Networks of IPv4 are not counted together: each of its
// addresses costs somebody something. The counts of networks take 8 MB at most.
//
// Addresses are locked, and no account ever is: if knowing a username were enough to lock its owner out, anybody
// could. They hold 100,000 addresses; where there are more, an unknown one is counted by its network, with a
// multiple of the limit. Such a network is answered 429 with Retry-After until its failures are five minutes old, up
// to an eighth more, and never locked. There an attempt counts as failed while it is in flight.
//
// Accounts are delayed. An account with ten failures in five minutes, whatever addresses they came from, answers 429
// with Retry-After, from a second after the tenth failure doubling to a minute, until five minutes pass without a
// failure (decision 56). Once there is a delay, one attempt at a time is let through. The sign-in page lets each
// network have some beside those (decision 97), which it counts by a Counter; a page that uses Accounts alone lets one
// guesser who never stops be in front of everybody else. The counts are of 100,000 accounts; if there are more, those
// with the fewest failures are forgotten.
package counters
