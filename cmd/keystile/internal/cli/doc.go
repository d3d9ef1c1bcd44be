// Package cli turns one table of commands into a command line: it finds the command,
// parses its flags, writes help and chooses the exit code.
//
// # Choices
//
// The parser is our own because package flag stops at the first word that is no flag, so
// that "setting set KEY VALUE --data DIR" would not work, and because a mistyped flag is
// answered here with the nearest one there is. All complaints come at once.
//
// Exit codes: 0 done; 1 it failed, and the message says what to do next; 2 it was called
// wrongly.
package cli
