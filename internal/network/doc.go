// Package network says which networks a client belongs to, and counts by them where a table
// is full.
//
// A client is an IPv4 address or an IPv6 /64. The networks around it are its /24 and /16, or
// its /56, /48 and /32, and each may do four times as much as the one inside it. Everything
// that limits or locks by address keeps to this one ladder (decision 56).
//
// # Choices
//
// A table that is full of live clients can refuse unknown ones, so that an attacker who fills it
// shuts all others out; forget a client, so that the attacker's own count is forgotten; or count by
// a coarser network, which hits the attacker's neighbours. This one does the third. No count is
// shared by everybody.
//
// The counts of networks have memory of their own, of a fixed size, that clients cannot take.
// Narrow networks are never evicted while they count for something: an event that does not
// fit goes to the next wider one. Among the widest, the one of eight with the fewest events is evicted.
// That forgets least, and it takes an attacker with tens of thousands of /32s, or all of IPv4.
//
// A count of a network is of fixed size too: events are counted by eighths of the window and
// leave by eighths. So no window of time ever holds more than the limit, and what leaves may
// leave an eighth of it late.
package network
