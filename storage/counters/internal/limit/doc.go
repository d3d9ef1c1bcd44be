// Package limit limits how often a key may ask: at most N requests in any window of time,
// exactly. A key is an address or an application; what the limits are and where the charge
// goes is the gateway's business.
//
// # Choices
//
// "60 per minute" (protocol 8) is read as: at any time t, at most 60 requests admitted in
// (t - 60s, t]. A token bucket of 60 lets 119 through in its first minute and a counter
// per calendar minute 120 around its end, so the time of each admitted request is kept,
// in nanoseconds, until it leaves the window. That costs 16 bytes a request, as many as
// were admitted, at most N.
//
// Most addresses ask once, so the first request costs no more than the key: tables with
// open addressing, 32 bytes a slot. A key is known by 128 bits of a hash with secret
// seeds: texts of any length cost the same, and nobody can aim at another's window.
//
// Expired keys are removed by those that come, a few for each. It needs no goroutine, and a table
// to which nothing is added does not grow. A live window is never evicted, because an attacker who
// could evict it would have no limit. A key that finds no place is counted by the network around it
// (decision 56, package network), in a memory of fixed size beside the table, until places are free
// again. No window is shared by all. A key that finds a place then begins there with nothing; its
// requests stay charged to the network, because a count that remembered the client of each request
// would itself be full sooner or later.
//
// Two kinds of keys that must not take each other's places need a Limiter each: addresses are
// anybody's to make up, applications are not.
//
// A charge can be taken back by its receipt: a request that turns out to belong to an
// application is charged there, and not to its address.
package limit
