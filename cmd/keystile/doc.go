// Command keystile is the identity provider in one program.
//
//	keystile                 serve; the first time it makes all it needs and says so
//	keystile app create      register an application
//	keystile user create     create a user
//	keystile setting set     change a setting while the service runs
//	keystile config          print the effective configuration
//	keystile help COMMAND    the flags of a command
//
// Everything it keeps is in one folder (--data, ./keystile-data). Configuration comes from
// a file, the environment and flags; package config has the table. Commands reach a running
// server through a socket in the data folder.
//
// The map of the house is assemble.go.
//
// # Choices
//
// serve opens the store before it listens, and listens before it looks at the store: of
// two servers on one folder the second one says so whatever its address, and base_url can
// name the port that port 0 became.
//
// SIGINT and SIGTERM stop accepting, let the requests on their way finish for 8 seconds,
// cut off what is left then, and exit 0. A second signal ends the process at once.
//
// A configuration that is not right exits 2, like any other wrong use of the command line:
// starting again without a change can not help.
package main
