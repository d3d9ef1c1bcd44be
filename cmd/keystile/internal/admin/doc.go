// Package admin holds the commands over the Store, in one table, and the two ways to run them: in the server's
// process, through a socket in the data folder, or in the command's own, if no server holds the store.
//
// Commands returns them for the command line; Handler serves them at the socket. Client and server run the same
// table: the client sends the name of a command with its arguments, and the server returns the finished text.
// Output is a list of names and values, or several of them, printed as JSON or as aligned lines.
//
// # Rights
//
// A user who can open the socket may do anything: it is 0600 in a folder that is 0700, and nothing else is checked.
// The log names the command, never its arguments. A command that changes something does it by an act of
// internal/admin.
//
// # Choices
//
// A running server is told of what it caches: revocations go through its provider, and keys are read anew. Without
// a server they go to the store, where the next start finds them.
//
// Commands that end something take the whole id and say what they did. app delete, which cannot be undone, asks a
// person at a terminal first; a script is asked nothing. Disabling ends what was granted, as deleting does: access
// tokens would go on for days, and an operator who disables means now.
//
// A document is read by the caller and travels as the value of its flag, to a path that takes as much.
//
// No command makes a data folder: a mistyped name would become a new, empty service with a master key of its own.
// An empty folder that an operator has made may be filled before the first start.
//
// backup and restore are not in the table. The caller writes a backup as it streams in, because a server may have
// another user's rights and another view of the file system.
//
// storage check changes nothing, not even tables that a start would bring up to date, so that it may run beside the
// service, with rights that only read. A part that it could not look at is not approved: that has an exit code of
// its own.
//
// # Size
//
// This is one package because its sixty commands are lines of one table, which a running server and the command
// line both read: each takes the same Target and returns the same kinds of answers in a few lines. A command has no
// rule of its own; the rules are in internal/admin and in the packages of the service.
package admin
