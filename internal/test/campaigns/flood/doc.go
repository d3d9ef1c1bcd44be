// Command flood proves on the whole program that attackers lock nobody out: it starts a
// keystile, floods it in ways that need no credentials, and watches what honest people are
// answered meanwhile.
//
//	go -C internal/test/campaigns run ./flood --scenario addresses
//
// It exits 1 if a promise is broken, and 2 if the question could not be asked.
//
//	addresses    1,000,000 IPv6 /64s and 100,000 IPv4 addresses behind a trusted proxy ask
//	             for everything that strangers can, each once. 200 honest people in other
//	             networks sign in, redeem a code, refresh, call userinfo and a product, and
//	             read their quota. None of them is refused; memory and the data folder stay
//	             within their bounds, and the log has no error.
//	connections  10,000 connections send a byte of their body every two seconds and 2,000
//	             do not read, from one address, from several for which the limit is raised,
//	             and from a trusted proxy. Somebody at another address is answered within a
//	             second throughout, and in two minutes the server has its connections and
//	             files back.
//	onesite      who holds an IPv6 /48 asks from each of its 65,536 /64s for a minute.
//
// --scale makes all numbers smaller.
//
// # Choices
//
// The flood's addresses are in 64 /32s and 400 /16s, and an honest person is in another one. A
// person who is in the same widest network as a flood, and has not signed in with this browser
// before, cannot be told from it and may be asked to come back; every second person here is known,
// and the flood guesses at their names too.
//
// The attacker by connections is a process of its own with a nice value of 10, and the honest
// clients meanwhile are in the process that watches, which does little else: it measures how long
// the server lets them wait, and not how long a busy program does not look.
//
// Honest people begin when a part of the flood is over, of its requests or, where it is given a
// time, of that, so that a slow machine neither ends before they have come nor has them come all
// at once at the end.
//
// A proxy that is trusted is many clients, and may hold as many connections as the server has
// capacity for; the proxy decides how many of these one client gets. So the attack from there
// leaves a quarter of the capacity free. A server accepts connections for half of the files it may open:
// for all 12,000 connections to be held at once it needs some 26,000 (ulimit -n). Of fewer it
// is attacked with as many as it can hold, and the report says so.
package main
