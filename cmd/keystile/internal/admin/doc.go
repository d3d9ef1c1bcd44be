// Package admin is the one table of commands over the Store, and the two ways to run them:
// in the server's process, through a socket in the data folder, or in the command's own,
// if no server holds the store.
//
// # Choices
//
// Client and server run the same table. What travels is the command's name and its
// arguments, and back the finished text, so that there is nothing to keep in step.
//
// Who may open the socket may do anything: it is 0600 in a folder that is 0700, and that
// is the whole check. The log names the command, never its arguments.
//
// Output is one ordered list of names and values, or several of them, printed as JSON or
// as aligned lines.
//
// A running server is told of what it knows by heart: revocations go through its provider,
// and keys are read anew. Without one they go to the store, where the next start finds them.
//
// Commands that end something want the whole id and say what they did. app delete, which has no way
// back, asks a person at a terminal first; scripts have nobody to answer, and are asked nothing.
// Disabling ends what was granted, as deleting does: access tokens would go on for days, and whoever
// disables means now.
//
// A document is read by the caller and travels as the value of its flag, to a path that
// takes as much; whatever reads it need not know where it came from.
//
// No command makes a data folder: a mistyped name would become a new, empty service, with a
// master key of its own. One that somebody has made and nothing is in yet may be filled
// before the first start.
//
// backup and restore are not in the table. A backup is streamed and written by the caller,
// because a server may have another user's rights and another view of the file system.
//
// storage check changes nothing, not even tables that a start would bring up to date, so that it may
// run beside the service, with rights that only read. What could not be looked at is no approval: it
// has an exit code of its own. Each adapter says itself what is not safe about its database; what this
// machine keeps, and how people get to it, is judged here for all of them.
//
// # Size
//
// This is one package because its sixty commands are lines of one table, which a running server and the command line
// both read: each takes the same Target and returns the same kinds of answers in a few lines. A command has no rule of
// its own; the rules are in internal/admin and in the packages of the service.
package admin
