// Command keystile is an identity provider, an API gateway and a tool bus in one program.
//
//	keystile                 serve; the first time it makes all it needs and says so
//	keystile help            list the commands
//
// README.md says how it is run. Package command is the program itself: on another storage adapter it is a main function
// like this one, with command.Backend.
package main

import "github.com/keystile/keystile/cmd/keystile/command"

func main() {
	storage := command.Bolt()
	storage.Others = []command.Storage{command.Postgres()}
	command.Main(storage)
}
