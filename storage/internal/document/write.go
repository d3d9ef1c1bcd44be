package document

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Removals returns the documents that remove others that have been read.
func Removals(docs []driver.Doc) []driver.Doc {
	gone := make([]driver.Doc, len(docs))
	for i, d := range docs {
		gone[i] = driver.Doc{Kind: d.Kind, ID: d.ID, Version: d.Version, Deleted: true}
	}
	return gone
}

// LostRace reports whether a write failed because another writer was faster with a document of
// this kind.
func LostRace(err error, kinds ...string) bool {
	in := (*driver.PutError)(nil)
	return errors.As(err, &in) && slices.Contains(kinds, in.Kind)
}

// TimedID draws an id that sorts by its time: 16 hexadecimal digits of Unix nanoseconds,
// then 130 random bits. It has no dot, which would make the signed text of a webhook ambiguous.
func TimedID(prefix string, at time.Time) string {
	return fmt.Sprintf("%s%016x%s", prefix, at.UnixNano(), rand.Text())
}
