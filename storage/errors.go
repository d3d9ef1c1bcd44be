package storage

import (
	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/service"
)

// The verdicts of a Backend, as those who use a [Store] name them. Package driver describes
// what each means. Every other error of a Store wraps one of those below them.
var (
	ErrNotFound = document.ErrNotFound
	ErrExists   = document.ErrExists
	ErrConflict = document.ErrConflict
	ErrSpent    = document.ErrSpent
	ErrRevoked  = document.ErrRevoked
	ErrInvalid  = document.ErrInvalid
	ErrNewer    = document.ErrNewer

	// ErrUnfinished: the store is a copy that was not finished (package transfer).
	ErrUnfinished = document.ErrUnfinished
	// ErrMoved: the store was copied to another place and is served there (package transfer).
	ErrMoved = document.ErrMoved

	// ErrUnavailable marks every error of [Store] that is no verdict: the disk, the network,
	// a record that cannot be opened. Whether a write behind it happened is unknown.
	ErrUnavailable = document.ErrUnavailable

	// ErrMasterKey: Open or BeginRekey was not given a key that the store is sealed with. The
	// error has the id of the one that the store needs and of those that were given.
	ErrMasterKey = document.ErrMasterKey

	// ErrClock is reported by SweepEvery, and returned by ClockErr, when the clock cannot be right.
	ErrClock = clock.ErrClock

	// ErrCheckpoint: there is a checkpoint, and it was not written by this service, or was changed.
	ErrCheckpoint = service.ErrCheckpoint

	// ErrRegressed: the store is behind what was read from it before. After a failover it may have lost
	// its last writes.
	ErrRegressed = document.ErrRegressed

	// ErrTooManyApps: the owner has as many applications as they may.
	ErrTooManyApps = apps.ErrTooManyApps

	// ErrLastAdmin: no enabled administrator would be left.
	ErrLastAdmin = people.ErrLastAdmin

	// ErrStillOwns: a user who owns applications or capabilities is not erased.
	ErrStillOwns = people.ErrStillOwns
)
