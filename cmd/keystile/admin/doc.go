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
// Output is one ordered list of names and values, printed as JSON or as aligned lines.
package admin
