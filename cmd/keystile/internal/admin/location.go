package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// Location is a database of storage copy, by its address.
type Location struct {
	Address string // as it may be shown: without passwords
	Folder  string // the data folder it is in; "" for one that is somewhere else
	File    string // a database file that is named itself, such as a backup
	Copies  bool   // a server that has the folder's database open copies it

	// Open opens the database; path is where it is in Folder, and File, and else "". Read is Open
	// for one that is only read; nil: Open.
	Open, Read func(ctx context.Context, path string) (driver.Backend, error)

	Beside []string // endings of files that belong to the database
}

// same reports whether two locations are one data folder.
func (l Location) same(other Location) bool {
	a, failed := folder.Find(l.Folder)
	b, err := folder.Find(other.Folder)
	return l.Folder != "" && other.Folder != "" && failed == nil && err == nil && a.Path() == b.Path()
}

// opened is a database that was opened. Its Close also removes what was made to read it.
type opened struct {
	driver.Backend
	live   bool // a server goes on writing to what it was taken from
	folder *folder.Folder
	remove func()
}

func (o opened) Close() error {
	err := o.Backend.Close()
	if o.remove != nil {
		o.remove()
	}
	return err
}

// source opens a database to copy from. One that a server holds is read as it is now: the server
// copies it to a file beside it.
func (l Location) source(ctx context.Context, watch io.Writer) (o opened, err error) {
	read := l.Read
	if read == nil {
		read = l.Open
	}
	if l.Folder == "" {
		o.Backend, err = read(ctx, l.File)
		return o, err
	}
	f, err := folder.Find(l.Folder)
	if err == nil {
		_, err = os.Stat(f.Database())
	}
	if err != nil {
		return o, fmt.Errorf("there is no data folder with a database at %s; name the right one", l.Folder)
	}
	socket, err := f.Socket()
	if err != nil {
		return o, err
	}
	o, asked := l.snapshot(ctx, f, socket, read, watch)
	if !errors.Is(asked, errNobody) && !errors.Is(asked, errNoCopies) {
		return o, asked
	}
	o.folder = f
	if o.Backend, err = read(ctx, f.Database()); err == nil {
		return o, nil // also beside a server that has its store elsewhere by now
	}
	// A server that is just starting holds the database before it answers.
	if again, failed := l.snapshot(ctx, f, socket, read, watch); !errors.Is(failed, errNobody) {
		return again, failed
	}
	return o, err
}

// snapshot has the server at a socket copy its database, and opens the copy.
func (l Location) snapshot(ctx context.Context, f *folder.Folder, socket string,
	read func(context.Context, string) (driver.Backend, error), watch io.Writer) (opened, error) {
	if !l.Copies {
		in, err := post(ctx, socket, "/", nil)
		if err == nil {
			in.Body.Close()
			err = fmt.Errorf("a server has the database in %s open, and its storage cannot be copied while it runs; stop the "+
				"server first", f.Path())
		}
		return opened{}, err
	}
	path, err := f.Snapshot(func(w io.Writer) error {
		_, err := fetch(ctx, socket, io.MultiWriter(untilDone{ctx, w}, watch))
		return err
	})
	if err != nil {
		return opened{}, err
	}
	o := opened{live: true, folder: f, remove: func() {
		for _, ending := range append([]string{""}, l.Beside...) {
			os.Remove(path + ending)
		}
	}}
	if o.Backend, err = read(ctx, path); err != nil {
		o.remove()
	}
	return o, err
}

// target opens a database to copy to, and makes it where there is none. With dry nothing is made:
// one that is not there is an empty one.
func (l Location) target(ctx context.Context, dry bool) (o opened, err error) {
	if l.File != "" {
		return o, fmt.Errorf("%s is a file; a copy goes into a data folder: name the folder", l.File)
	}
	if l.Folder == "" {
		o.Backend, err = l.Open(ctx, "")
		return o, err
	}
	if _, err := os.Stat(l.Folder); errors.Is(err, os.ErrNotExist) {
		return o, fmt.Errorf("there is no folder %s, and none is made of a name that may be mistyped; make it, then copy: "+
			"mkdir -m 700 %s", l.Folder, l.Folder)
	}
	f, err := folder.Find(l.Folder)
	if err != nil {
		return o, err
	}
	o.folder = f
	if _, err := os.Stat(f.Database()); dry && errors.Is(err, os.ErrNotExist) {
		o.Backend = memory.New()
		return o, nil
	}
	if o.Backend, err = l.Open(ctx, f.Database()); err != nil {
		return o, err
	}
	// not every storage has a file there
	if err := os.Chmod(f.Database(), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
		return o, errors.Join(err, o.Backend.Close())
	}
	return o, nil
}
