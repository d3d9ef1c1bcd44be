// Command keystile is an identity provider, an API gateway and a tool bus in one program.
//
//	keystile                 serve; the first time it makes all it needs and says so
//	keystile app ...         create, list, show, set, rotate-secret, delete applications
//	keystile user ...        create, list, set, disable, enable users
//	keystile session ...     list a user's sessions, or sign the user out everywhere
//	keystile key ...         list, rotate, retire signing keys
//	keystile setting ...     list, get, set what may change while the service runs
//	keystile backup FILE     copy the database; restore FILE puts it back
//	keystile storage ...     check what it is on, copy it to another database, migrate or compact one
//	keystile health          ask the service of this machine whether it is ready
//	keystile config          print the effective configuration, or the table of all keys
//	keystile completion SH   a script for bash, zsh, fish or powershell
//	keystile help COMMAND    the flags of a command, and examples
//
// Everything it keeps is in one folder (--data, ./keystile-data), in a database of package
// storage/bolt, or in PostgreSQL (--storage-url), which several nodes share. Package command is the
// program itself: on another storage adapter it is a main function like this one, with
// command.Backend.
package main

import "github.com/keystile/keystile/cmd/keystile/command"

func main() {
	storage := command.Bolt()
	storage.Others = []command.Storage{command.Postgres()}
	command.Main(storage)
}
