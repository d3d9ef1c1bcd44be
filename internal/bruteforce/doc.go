// Package bruteforce slows down who guesses appkeys and signatures: 30 wrong ones in a minute,
// by one address (IPv6 by /64) for one client, and no more are looked at until some are a
// minute old. Guesses at clients that there are not count together, 60 in a minute by one
// address. Where there are too many addresses, unknown ones are counted by their networks, see
// package network.
//
// A guess at 256 random bits is hopeless anyway; this keeps the guessing cheap for us. Attempts
// in flight do not count, because an application with the right key may send many at once.
package bruteforce
