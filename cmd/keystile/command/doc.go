// Package command runs the keystile program on any storage adapter.
//
// A main function of a few lines gives an adapter of package storage/driver the command line, the configuration,
// metrics, mail, the demo and everything else that the program has:
//
//	func main() {
//		command.Main(command.Backend("sqlite", func(dir string) (driver.Backend, error) {
//			return sqlite.Open(filepath.Join(dir, "keystile.sqlite"))
//		}))
//	}
//
// An adapter that offers more, such as a backup, fills in the fields of a Storage of its own. Commands for parts that
// it leaves out say so and exit with code 1. The program as it comes has Bolt, and Postgres among its Others.
//
// cmd/keystile/README.md says how the program is run and what is in its data folder, and cmd/keystile/CONFIGURATION.md
// lists the keys of the configuration file, the environment and the flags. Commands reach a running server through a
// socket in the data folder. The map of the program is assemble.go.
//
// # Errors
//
// A command exits with 0 when all is done, with 1 when it failed, and with 2 when it or the configuration was wrong, so
// that starting it again without a change cannot help. Main prints why, and ends the process.
//
// # Size
//
// This is one package because it is the assembly of the program: each file hands one part of the configuration to the
// package that does the work, and all of them meet in assemble.go and serve.go.
package command

//go:generate go run gen.go
