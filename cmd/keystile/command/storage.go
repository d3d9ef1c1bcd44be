package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// Storage is the storage adapter that a program runs on. Name and Open are needed; a command
// that needs one of the others, and has it not, says so.
type Storage struct {
	Name string // in messages: "bolt", "sqlite"

	// Open opens the database at a path in the data folder, and makes it where there is none. An
	// adapter that keeps its records elsewhere may leave the path alone. The caller closes it
	// before the process ends.
	Open func(ctx context.Context, path string) (driver.Backend, error)

	// OpenLogging is Open with a log of tokens before the database (token_log). nil: it has none.
	OpenLogging func(ctx context.Context, path string) (driver.Backend, error)

	// OpenReadOnly is Open for commands that only read, on a disk where nothing can be written
	// for example. nil: they use Open.
	OpenReadOnly func(ctx context.Context, path string) (driver.Backend, error)

	// Copy writes one consistent copy of an open database, which restore can put in its place.
	// It returns the number of bytes. nil: there is no backup and no restore.
	Copy func(b driver.Backend, w io.Writer) (int64, error)

	// Check reads a database file that nobody writes to, and says how many records of each kind
	// are in it, or what is wrong with it. nil: a backup is known by its checksum alone.
	Check func(path string) (map[string]int, error)

	// Compact writes a closed database anew, smaller, and returns its bytes before and after.
	// nil: there is no compact command.
	Compact func(path string) (before, after int64, err error)

	// Beside are the endings of files that an adapter keeps beside its database and that belong
	// to it, such as a write-ahead log. restore puts them away with the old database.
	Beside []string

	// Schemes begin the addresses of this storage, such as "postgres" of postgres://host/name,
	// and OpenAt opens the database at one. nil: its databases are in data folders, where Open
	// opens them, and their addresses are NAME:DIR.
	Schemes []string
	OpenAt  func(ctx context.Context, address string, w Watch) (driver.Backend, error)

	// Instead says in a message what does the work of backup, restore and compact for this storage.
	Instead string

	// Gauges returns what an open database measures, for the metrics. nil: nothing.
	Gauges func(b driver.Backend) []Gauge

	// Migrations returns how the tables of the database at an address are brought to this version.
	// nil: there is no storage migrate command.
	Migrations func(address string) Migrations

	// Findings says what is not safe about the database at an address that several nodes share, and
	// ReadAt opens it without a change to anything; it fails with driver.ErrNotFound where nothing is
	// there yet. nil: storage check does not look into it.
	Findings func(ctx context.Context, address string, nodes int) []Finding
	ReadAt   func(ctx context.Context, address string, w Watch) (driver.Backend, error)

	// Others are storages that the program runs on when its configuration names them by an address
	// (storage_url), and that storage copy reads and writes, beside this one and bolt.
	Others []Storage
}

// Watch is told what an open database does.
type Watch struct {
	Log *slog.Logger // never nil

	// Observe is told of each statement that has ended, with the context that it ran in. Never nil; called by
	// many goroutines at once.
	Observe func(ctx context.Context, statement string, took time.Duration, err error)
}

// Migration is one step that the tables of a database take, once.
type Migration struct {
	Number int
	Name   string
	At     time.Time // when it was taken; zero: not yet
}

// Migrations brings the tables of a database to the version of this program.
type Migrations struct {
	Status func(context.Context) ([]Migration, error)
	Up     func(context.Context) ([]Migration, error)       // returns the steps it took
	SQL    func(context.Context) (script string, err error) // what Up would run, for an administrator
}

// Finding says what a check has found out about one thing.
type Finding struct {
	Name  string // the same in every version, for scripts
	State string // "safe", "note", "unsafe", or "unknown" for what could not be looked at
	Says  string // what is so, and what it means
	Do    string // what to do about it; empty for what is safe
}

// Gauge is one measurement of a storage.
type Gauge struct {
	Name, Help string // the name begins with keystile_storage_
	Value      func() float64
}

// Bolt returns the storage of package storage/bolt, one file in the data folder.
func Bolt() Storage {
	return Storage{
		Name: "bolt",
		Open: func(_ context.Context, path string) (driver.Backend, error) { return bolt.Open(path, bolt.Options{}) },
		OpenLogging: func(_ context.Context, path string) (driver.Backend, error) {
			return bolt.Open(path, bolt.Options{TokenLog: true})
		},
		OpenReadOnly: func(_ context.Context, path string) (driver.Backend, error) {
			return bolt.OpenReadOnly(path, bolt.Options{})
		},
		Beside: []string{bolt.LogSuffix},
		Copy:   func(b driver.Backend, w io.Writer) (int64, error) { return b.(*bolt.Store).WriteTo(w) },
		Check:  func(path string) (map[string]int, error) { return bolt.Check(path) },
		Gauges: func(b driver.Backend) []Gauge {
			return []Gauge{{
				"keystile_storage_damaged_reads",
				"Calls that have met a damaged row since the start: storage check names the rows.",
				func() float64 { return float64(b.(*bolt.Store).DamagedReads()) },
			}}
		},
		Compact: func(path string) (before, after int64, err error) {
			size, err := bolt.Compact(path)
			if errors.Is(err, bolt.ErrInUse) {
				err = fmt.Errorf("%s is in use: stop the server that has it open, then compact it", path)
			}
			return size.Before, size.After, err
		},
	}
}

// copying returns what copies an open database; nil if this storage has no copies.
func (s Storage) copying(b driver.Backend) func(io.Writer) (int64, error) {
	if s.Copy == nil {
		return nil
	}
	return func(w io.Writer) (int64, error) { return s.Copy(b, w) }
}

// named is an adapter that says nothing of itself, with the name that its program gives it.
type named struct {
	driver.Backend
	name string
}

// Unwrap lets the store see what the adapter can do besides.
func (n named) Unwrap() driver.Backend { return n.Backend }

// Describe tells operators what the records are in.
func (n named) Describe() (kind, version, at string) { return n.name, "", "" }

// named returns an adapter that says what it is.
func (s Storage) named(b driver.Backend) driver.Backend {
	if _, says := b.(interface {
		Describe() (kind, version, at string)
	}); says {
		return b
	}
	return named{b, s.name()}
}

func (s Storage) name() string { return cmp.Or(s.Name, "unnamed") }

// errReadOnly is returned for what a store that is open for reading would have to write.
var errReadOnly = errors.New("the store is open for reading only")

// readOnly refuses what opening a store may have to write.
type readOnly struct{ driver.Backend }

// Unwrap lets the store see what the adapter can do besides.
func (r readOnly) Unwrap() driver.Backend { return r.Backend }

// ReadsOnly lets the store be read that has moved.
func (readOnly) ReadsOnly() {}

func (readOnly) Put(context.Context, ...driver.Doc) (int64, error) { return 0, errReadOnly }

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
