package bolt

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// The buckets. Numbers and times in keys are big-endian, so that bytes lie in the order
// of what they mean.
const (
	aboutBucket       = "keystile"    // "format" -> format, "since" -> the version that began with it
	tokensBucket      = "tokens"      // key -> token
	revocationsBucket = "revocations" // kind, id -> seq, before, until
	feedBucket        = "feed"        // seq -> key in revocations
	docsBucket        = "docs"        // kind, id -> version, expires, entries, data
	indexBucket       = "index"       // kind, entry 0x1F id -> nothing
	endsBucket        = "ends"        // time, what, its key -> nothing: what a Sweep finds
	usageBucket       = "usage"       // app, hour or day, time, product -> calls, errors
	batchesBucket     = "batches"     // node -> highest seq seen
	auditBucket       = "audit"       // seq -> time, data
)

// The formats. The rows of both are the same; they differ in who may open the file. A
// version that reads "1" alone does not look at the store's list of features, and must not
// open a file in which there may be some: so it is kept out by the format, which the first
// Open for writing raises.
const (
	format     = "2"
	formatFrom = "v0.1.0" // the version that began with it, for the message of older ones to come
	oldFormat  = "1"
)

var buckets = []string{
	aboutBucket, tokensBucket, revocationsBucket, feedBucket, docsBucket,
	indexBucket, endsBucket, usageBucket, batchesBucket, auditBucket,
}

func prepare(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return mark(tx)
}

// mark writes the format down.
func mark(tx *bbolt.Tx) error {
	about := bucket(tx, aboutBucket)
	return errors.Join(about.Put([]byte("format"), []byte(format)), about.Put([]byte("since"), []byte(formatFrom)))
}

// raise brings a file of an older format to this one.
func raise(db *bbolt.DB) error {
	old := false
	err := db.View(func(tx *bbolt.Tx) error {
		old = string(bucket(tx, aboutBucket).Get([]byte("format"))) != format
		return nil
	})
	if err != nil || !old {
		return err
	}
	return db.Update(mark)
}

func checkFormat(tx *bbolt.Tx, fresh bool) error {
	about := tx.Bucket([]byte(aboutBucket))
	switch {
	case fresh:
		return nil
	case about == nil:
		return fmt.Errorf("it belongs to another program")
	}
	switch got := string(about.Get([]byte("format"))); got {
	case format, oldFormat:
		return nil
	case "":
		return fmt.Errorf("it does not say which format it has")
	default:
		since := cmp.Or(string(about.Get([]byte("since"))), "of a later version")
		return driver.Newer(fmt.Sprintf("the file has the format %q", got), since)
	}
}

func bucket(tx *bbolt.Tx, name string) *bbolt.Bucket {
	b := tx.Bucket([]byte(name))
	switch name {
	case tokensBucket, endsBucket, feedBucket, auditBucket:
		b.FillPercent = 0.9 // they grow at their end: a page that is left behind stays as full as it is
	}
	return b
}

// join makes a key of texts. None of them holds 0x00, so no two lists make the same key.
func join(texts ...string) []byte {
	var key []byte
	for _, text := range texts {
		key = append(append(key, text...), 0)
	}
	return key
}

func appendNumber(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

// behind is the first key after a number's.
func behind(n uint64) []byte { return append(appendNumber(nil, n), 0) }

func cutNumber(b []byte) (uint64, []byte) { return binary.BigEndian.Uint64(b), b[8:] }

const timeSize = 8 + 4

// appendTime writes a time as 12 bytes that sort as times do: seconds with the sign
// turned over, then nanoseconds. Every time fits and comes back as it was; nanoseconds
// in one number would end in the year 2262, and a token that never ends lies beyond.
func appendTime(b []byte, t time.Time) []byte {
	b = appendNumber(b, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

func cutTime(b []byte) (time.Time, []byte) {
	seconds, rest := cutNumber(b)
	return time.Unix(int64(seconds^1<<63), int64(binary.BigEndian.Uint32(rest))).UTC(), rest[4:]
}

// appendText writes a text behind its length, so that no text can reach into the next.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func cutText(b []byte) (string, []byte) {
	size, n := binary.Uvarint(b)
	b = b[n:]
	return string(b[:size]), b[size:]
}
