// Package lockout locks out addresses from which too many attempts have failed, and delays attempts
// at accounts that too many have failed at.
//
// The sign-in page has one [Guard]; a host's own page that asks for a secret that can be guessed
// needs one of its own.
//
// # Choices
//
// A Guard counts addresses, and no account is ever locked: whoever knows a username must not be
// able to lock its owner out.
//
// [Delays] counts failures by account. An account with ten failures in five minutes, whatever
// addresses they came from, is delayed (decision 56): 429 with Retry-After, from a
// second after the tenth failure doubling to a minute, until five minutes pass without a failure.
// Once there is a delay one attempt at a time is let through. The sign-in page lets each network have some
// beside those (decision 97), which it counts by a [Counter]; whoever uses Delays alone must know that
// one guesser who never stops can be in front of everybody else. The counts are of 100,000 accounts;
// if there are more, those with the fewest failures are forgotten.
//
// All of it is in memory and does not survive a restart. Where several processes serve, what they share
// takes its place: [Addresses], [Accounts], [Counter]. A Guard holds 100,000 addresses; where there are
// more, an unknown one is counted by its network, with a multiple of the limit (decision 56,
// package network). Such a network is answered 429 with Retry-After until its failures are five
// minutes old, up to an eighth more, and never locked. There an attempt counts as failed while it
// is in flight.
package lockout
