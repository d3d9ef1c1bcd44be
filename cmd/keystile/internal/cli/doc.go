// Package cli turns one table of commands into a command line.
//
// # Choices
//
// The table is ours, because a command's name and arguments travel to a running server and are checked there
// too; what reads the words and completes them for shells is github.com/spf13/cobra, which only this package
// imports. With the tag manual it writes the manual pages of a release. Before it reads them, three habits are
// kept that it does not have: a switch of the configuration may be written "--demo false", a flag that lacks
// its value does not swallow the next flag, and without a command the default one runs.
//
// Cobra answers a group that is named alone, and words that name no command, with its help and
// exit code 0; here both are wrong calls.
//
// Exit codes: 0 done; 1 it failed, and the message says what to do next; 2 it was called wrongly.
package cli
