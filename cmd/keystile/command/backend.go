package command

import (
	"context"
	"path/filepath"

	"github.com/keystile/keystile/storage/driver"
)

// Backend returns the storage of an adapter that opens its database in a data folder, or anywhere
// else, and makes it where there is none. Its name is shown in messages.
//
// The whole program runs on it but for three commands, which exit with code 1:
//
//	keystile: backup: the storage "sqlite" leaves this to the tools that come with it
//
// and likewise restore and storage compact. An adapter that can copy, check or compact its database
// says so by the fields of a Storage of its own; commands that only read open the database by open,
// so it has to be writable.
func Backend(name string, open func(dir string) (driver.Backend, error)) Storage {
	return Storage{Name: name,
		Open: func(_ context.Context, path string) (driver.Backend, error) { return open(filepath.Dir(path)) }}
}
