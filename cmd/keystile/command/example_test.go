package command_test

import (
	"github.com/keystile/keystile/cmd/keystile/command"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// A main function that runs the whole program on another storage adapter. The one in memory
// forgets everything at the end; one of your own opens its database in dir.
func ExampleBackend() {
	open := func(dir string) (driver.Backend, error) { return memory.New(), nil }
	command.Main(command.Backend("memory", open))
}

// The program as it comes, on package storage/bolt.
func ExampleBolt() {
	command.Main(command.Bolt())
}
