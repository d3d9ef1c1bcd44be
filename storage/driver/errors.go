package driver

import (
	"errors"
	"fmt"
)

// The verdicts of a Backend. Every other error is a failure of the adapter: an HTTP client
// gets 503, and whether a write behind it happened is unknown.
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
	// ErrInvalid: the caller handed over something no store accepts; nothing was written.
	ErrInvalid = errors.New("storage: invalid")
	// ErrNewer: the store was written by a newer version, and has a feature that this one does
	// not know. The error names the feature and the version that knows it.
	ErrNewer = errors.New("storage: the store was written by a newer version of Keystile")
)

// Newer returns an ErrNewer about something that a version is the first to know.
func Newer(what, since string) error {
	return fmt.Errorf("%w: %s, which this version does not know and Keystile %s does; use that version or a newer one, "+
		"or put the backup made before the upgrade in its place", ErrNewer, what, since)
}

// PutError is the error of Put: it names the conflicting document.
type PutError struct {
	Kind, ID string
	Err      error // ErrExists or ErrConflict
}

func (e *PutError) Error() string { return fmt.Sprintf("%v: %s %q", e.Err, e.Kind, e.ID) }
func (e *PutError) Unwrap() error { return e.Err }
