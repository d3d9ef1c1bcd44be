package document

import (
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// The verdicts of a Backend, as those who use a [Store] name them. Package driver describes
// what each means. Every other error of a Store wraps one of those below them.
var (
	ErrNotFound = driver.ErrNotFound
	ErrExists   = driver.ErrExists
	ErrConflict = driver.ErrConflict
	ErrSpent    = driver.ErrSpent
	ErrRevoked  = driver.ErrRevoked
	ErrInvalid  = driver.ErrInvalid
	ErrNewer    = driver.ErrNewer

	// ErrUnfinished: the store is a copy that was not finished (package transfer).
	ErrUnfinished = transfer.ErrUnfinished
	// ErrMoved: the store was copied to another place and is served there (package transfer).
	ErrMoved = transfer.ErrMoved

	// ErrUnavailable marks every error of [Store] that is no verdict: the disk, the network,
	// a record that cannot be opened. Whether a write behind it happened is unknown.
	ErrUnavailable = errors.New("storage: unavailable")

	// ErrMasterKey: Open or BeginRekey was not given a key that the store is sealed with. The
	// error has the id of the one that the store needs and of those that were given.
	ErrMasterKey = errors.New("storage: the master key is not the one this store was sealed with")

	// ErrRegressed: the store is behind what was read from it before. After a failover it may have lost
	// its last writes.
	ErrRegressed = errors.New("storage: the store has lost what was read from it before")
)

var verdicts = []error{ErrNotFound, ErrExists, ErrConflict, ErrSpent, ErrRevoked, ErrInvalid}

// Unavailable passes verdicts through and marks everything else as ErrUnavailable, with the
// operation that failed.
func Unavailable(doing string, err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || verdict(err) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, doing, err)
}

func verdict(err error) bool {
	return slices.ContainsFunc(verdicts, func(v error) bool { return errors.Is(err, v) })
}
