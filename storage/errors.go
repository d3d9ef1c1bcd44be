package storage

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

	// ErrUnavailable marks every error of [Store] that is no verdict: the disk, the network,
	// a record that cannot be opened. Whether a write behind it happened is unknown.
	ErrUnavailable = errors.New("storage: unavailable")

	// ErrMasterKey: Open or BeginRekey was not given a key that the store is sealed with. The
	// error has the id of the one that the store needs and of those that were given.
	ErrMasterKey = errors.New("storage: the master key is not the one this store was sealed with")

	// ErrClock is reported by SweepEvery, and returned by ClockErr, when the clock cannot be right.
	ErrClock = errors.New("storage: the clock disagrees with the times in the store")

	// ErrCheckpoint: there is a checkpoint, and it was not written by this service, or was changed.
	ErrCheckpoint = errors.New("storage: the audit checkpoint does not open: it was changed, or was made without the master key")

	// ErrForgot: the store is behind what was read from it before. After a failover it may have lost
	// its last writes.
	ErrForgot = errors.New("storage: the store has lost what was read from it before")

	// ErrFull: the owner has as many applications as they may.
	ErrFull = fmt.Errorf("%w: no more applications", ErrInvalid)

	// ErrLastAdmin: no enabled administrator would be left.
	ErrLastAdmin = fmt.Errorf("%w: this is the only administrator who is not disabled: make another one first", ErrInvalid)

	// ErrOwner: a user who owns applications or capabilities is not erased.
	ErrOwner = fmt.Errorf("%w: the user owns applications or capabilities", ErrInvalid)
)

var verdicts = []error{ErrNotFound, ErrExists, ErrConflict, ErrSpent, ErrRevoked, ErrInvalid}

// unavailable passes verdicts through and marks everything else as ErrUnavailable, with the
// operation that failed.
func unavailable(doing string, err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || verdict(err) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, doing, err)
}

func verdict(err error) bool {
	return slices.ContainsFunc(verdicts, func(v error) bool { return errors.Is(err, v) })
}
