// Package nodes keeps track of the processes that serve from one store.
//
// A node is such a process. [Join] makes it known to the others by a small document, its beat, which
// it writes again every two seconds and removes when it leaves. [Node.Live] is how many of them there
// are.
//
// # Choices
//
// No process compares the clock of another one with its own: they may be a minute apart. A beat says how far the
// clock of its node is from the store's, for people, and how exactly the node knows that one, for revocations
// (package storage/internal/clock). A node lives while the version of its beat moves, by the monotonic clock of the
// observer, so a process that was paused lives again with its first beat.
//
// Three beats that did not come are the end of a node for the others. Only time in which the reader's
// own beats were stored counts: where the store was away, or the reader was paused, everybody is given
// three beats anew, because nodes that share a limit by their number must not each find themselves alone
// in the moment in which all come back. While the store is away the last number stays.
//
// A beat costs the store a write and a read of all beats. Up to 50 nodes beat every two seconds,
// which is 25 writes a second and 25 reads of 50 rows; more nodes beat more slowly, so that all of
// them together write no more than that: 200 nodes every eight seconds. Each beat says how soon the next
// one comes, because that is what the others judge it by. On PostgreSQL 15 a beat is 0.6 KiB of write-ahead
// log and touches no index, because the time at which it may be swept moves once in five minutes: 50
// nodes are 1.3 GiB of log a day. A beat that nobody removes ends by itself within ten minutes, in
// which an operator can see which node went away.
//
// Beats are written by this package alone, and never told to other processes by an epoch: each process reads them
// anyway. A process with a store of its own is the only node, and writes none.
package nodes
