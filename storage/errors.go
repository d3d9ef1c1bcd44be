package storage

import (
	"errors"
	"fmt"
	"slices"
)

// The verdicts of a Backend. Every other error it returns is trouble: [Store] wraps it
// in [ErrUnavailable], and an HTTP client is told 503.
var (
	// ErrNotFound: no such record.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists: a record with this key or id is there already.
	ErrExists = errors.New("storage: exists already")
	// ErrConflict: the document has changed, or has gone, since the version the caller read.
	ErrConflict = errors.New("storage: changed meanwhile")
	// ErrSpent: the token has been exchanged before.
	ErrSpent = errors.New("storage: token spent")
	// ErrRevoked: a revocation covers the token.
	ErrRevoked = errors.New("storage: token revoked")
)

// ErrUnavailable marks every error of [Store] that is no verdict: the disk, the network,
// a record that cannot be opened. Whether a write behind it happened is unknown.
var ErrUnavailable = errors.New("storage: unavailable")

// ErrMasterKey: Open or BeginRekey was not handed a key that the store is sealed with. The
// error says by id which one the store wants and which ones it was given.
var ErrMasterKey = errors.New("storage: the master key is not the one this store was sealed with")

// ErrInvalid: the caller handed over something no store accepts; nothing was written.
var ErrInvalid = errors.New("storage: invalid")

// PutError is how Put refuses: it names the document in the way.
type PutError struct {
	Kind, ID string
	Err      error // ErrExists or ErrConflict
}

func (e *PutError) Error() string { return fmt.Sprintf("%v: %s %q", e.Err, e.Kind, e.ID) }
func (e *PutError) Unwrap() error { return e.Err }

var verdicts = []error{ErrNotFound, ErrExists, ErrConflict, ErrSpent, ErrRevoked, ErrInvalid}

// trouble passes verdicts through and marks everything else as ErrUnavailable, saying
// what was being done.
func trouble(doing string, err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || verdict(err) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, doing, err)
}

func verdict(err error) bool {
	return slices.ContainsFunc(verdicts, func(v error) bool { return errors.Is(err, v) })
}
