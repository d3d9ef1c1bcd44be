// Package limits keeps rates: how many requests an application, an address or a network of
// addresses may make in a minute.
//
// [New] makes the [Limiter] of one process. A host with several processes brings its own, as
// gateway.Config.Limiter.
//
// # Choices
//
// A rate is exact: no 60 seconds hold more than N requests, and what is refused does not
// count.
//
// A million addresses are counted at a time, apart from applications. Where there are more, an
// unknown one is counted by its network, which may do four times as much for each step that it
// is wider, and the RateLimit headers go on speaking of the address (decision 56,
// package network).
//
// Who brings no valid token is counted by address and, of IPv6, by /56 and /48 too, which may do
// four and sixteen times as much: anybody can have a /48, and in it 65,536 addresses. A
// household seldom has more than a /56, so it cannot use up the rate of its neighbours in a /48.
// A company or a pool of a mobile network shares one /48 between many users, as it shares one
// address of IPv4, which may do a sixteenth of that: where 960 requests a minute of users who
// sign in are too few for a /48, 60 are for an address, and gateway.Config.PerAddress is to be
// raised, which raises all of them. Networks of IPv4 are not counted together: each of its
// addresses costs somebody something. The counts of networks take 8 MB at most.
package limits
