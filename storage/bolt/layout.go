package bolt

import (
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"
)

// The buckets. After the fields listed here, rows of tokens, revocations, docs, usage and batches have a checksum
// (sum.go). Entries of feed, index and ends lead to one of these rows, which confirms it. Numbers and times in keys
// are big-endian, so that bytes lie in the order of what they mean.
const (
	aboutBucket       = "keystile"    // what step.go has: "format", "since", "layout"; and logmark.go: "token log"
	tokensBucket      = "tokens"      // key -> token
	revocationsBucket = "revocations" // kind, id -> seq, before, until
	feedBucket        = "feed"        // seq -> key in revocations
	docsBucket        = "docs"        // kind, id -> version, expires, entries, data
	indexBucket       = "index"       // kind, entry 0x1F id -> nothing
	endsBucket        = "ends"        // time, what, its key -> nothing: what a Sweep finds
	usageBucket       = "usage"       // app, hour or day, time, product -> calls, errors
	batchesBucket     = "batches"     // node -> highest seq seen
	auditBucket       = "audit"       // seq -> time, data
	sumsBucket        = "row sums"    // what sumbeside.go has; made with its first row
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
	for i := range steps {
		if err := steps[i].take(tx, firstFormat+1+i); err != nil {
			return err
		}
	}
	return nil
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
