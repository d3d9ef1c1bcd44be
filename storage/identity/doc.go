// Package identity tells stores apart, before one is opened: by the ID that each has in itself, and its copies and
// backups with it.
//
// # Choices
//
// An empty store is legitimate to a library: a host opens its own, and one in memory begins empty each time. So nothing
// is refused here; the program, whose folder remembers which store belongs to it, refuses one that is gone or
// another's.
package identity
