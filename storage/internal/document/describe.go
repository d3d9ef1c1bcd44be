package document

import "github.com/keystile/keystile/storage/driver"

// Describe returns what the records are kept in, for operators, as driver.Described does, and the size of the store. A
// value that an adapter does not say is "" or 0.
func (s *Store) Describe() (kind, version, at string, bytes int64) {
	if d, ok := driver.As[driver.Described](s.writes.Backend); ok {
		kind, version, at = d.Describe()
	}
	if d, ok := driver.As[driver.Sized](s.writes.Backend); ok {
		bytes = d.Size()
	}
	return kind, version, at, bytes
}
