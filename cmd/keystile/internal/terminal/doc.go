// Package terminal tells whether what is written is read by a person in front of a
// terminal, or goes to a file, a pipe or a journal that keeps it, and asks that person for what
// nobody else must see.
//
// # Choices
//
// It asks the system by golang.org/x/term, as isatty(3) does: /dev/null is a character device too, and what a
// container platform or systemd collects is a pipe or a socket. Where nobody knows how to
// ask, nothing is a terminal.
package terminal
