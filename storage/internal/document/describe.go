package document

import (
	"github.com/keystile/keystile/storage/driver"
)

// described is implemented by an adapter that says what it keeps records in: see Describe.
type described interface {
	Describe() (kind, version, at string)
}

// sized is implemented by an adapter that knows without reading how large its store is.
type sized interface{ Size() (bytes int64) }

// Describe returns what the records are kept in, for operators: the kind, such as PostgreSQL, the
// version of its server and where that is reached, as host:port/database. bytes is the size of the
// store. A value that an adapter does not say is "" or 0.
//
// An adapter says the first three by a method Describe() (kind, version, at string), and its size by a
// method Size() (bytes int64). Neither asks a server, and what they return names no user, password or
// parameter of an address.
func (s *Store) Describe() (kind, version, at string, bytes int64) {
	if d, ok := As[described](s.writes.Backend); ok {
		kind, version, at = d.Describe()
	}
	if d, ok := As[sized](s.writes.Backend); ok {
		bytes = d.Size()
	}
	return kind, version, at, bytes
}

// As returns b, or what it wraps, as a T.
func As[T any](b driver.Backend) (as T, ok bool) {
	for b != nil {
		if as, ok = b.(T); ok {
			return as, true
		}
		wrapper, wraps := b.(interface{ Unwrap() driver.Backend })
		if !wraps {
			break
		}
		b = wrapper.Unwrap()
	}
	return as, false
}
