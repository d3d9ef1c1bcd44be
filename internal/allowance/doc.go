// Package allowance counts what strangers may have done on their behalf: applications registered, metadata
// documents read and kept. [Counts] are for others who admit by network: guesses at an account.
//
// # Choices
//
// Work for strangers has a bound for all of them together, or an attacker with many networks could fill the
// store and have this service flood another host; and each network has a bound, with the factors of package
// network (decision 56). But a shared bound can be used up by one of those who share it (decision 96). So the
// shared part is used first, and beyond it each address has a reserve: a little for itself, four times as much
// for the network around it, and 256 times for the widest, so that some of the networks in it cannot use up
// what it has for the others. The total is bounded by the shared part and by the number of networks that an
// attacker has.
//
// A refusal counts nothing, and the wait that it says is the time until everything that refuses admits again, if
// nobody else uses it up before. So [Take] looks at each count first, and only then takes from each of them.
// Of two requests that look at the same time both may take, and the second may still be refused: then
// it has taken from its own networks, never from what others have.
//
// One address of IPv6 is a /64 here, as everywhere (package network), and has as much of a reserve as the /56
// around it: that is one household.
package allowance
