package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// Head is the last record of a chain. Kept where nobody who can write to the store can
// change it, it makes Verify notice that the chain was cut, or written anew, before it.
type Head struct {
	Chain string
	N     uint64
	Hash  string // 64 hex digits
	Seq   uint64 // in the store; not part of String
	Ended bool   // the last record is audit.end: its process was closed in order; not part of String
}

// String is chain:n:hash, which ParseHead reads.
func (h Head) String() string { return fmt.Sprintf("%s:%d:%s", h.Chain, h.N, h.Hash) }

// plain is the head without what String leaves out.
func (h Head) plain() Head { return Head{Chain: h.Chain, N: h.N, Hash: h.Hash} }

// ParseHead reads what String wrote.
func ParseHead(text string) (Head, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		n, err := strconv.ParseUint(parts[1], 10, 64)
		if _, hex := parseDigest(parts[2]); hex && err == nil && n > 0 && parts[0] != "" {
			return Head{Chain: parts[0], N: n, Hash: parts[2]}, nil
		}
	}
	return Head{}, fmt.Errorf("audit: %.100q is no head: give it as verify printed it, chain:number:hash", text)
}

// Fault is a way in which a trail is broken.
type Fault string

// What Verify finds, and what it says of it.
const (
	Unreadable Fault = "unreadable: the record is damaged or was not written by the trail"
	Changed    Fault = "changed: the record does not match its hash and the record before it in its chain"
	Missing    Fault = "missing: records of the chain before this one are gone"
	Misplaced  Fault = "misplaced: the record stands behind a later one of its chain, or was copied"
	Headless   Fault = "headless: the chain does not begin with its first record"
	Unlinked   Fault = "unlinked: the record this chain began behind is gone or changed"
	Cut        Fault = "cut: the chain no longer holds the head you kept"
)

// Break is a place where a trail is broken.
type Break struct {
	Fault Fault
	Seq   uint64 // in the store; 0 if Cut
	Chain string // "" if Unreadable
	N     uint64 // in its chain; 0 if Unreadable
}

// String says where and what, and what to do.
func (b Break) String() string {
	where := "Seq " + strconv.FormatUint(b.Seq, 10)
	if b.Seq == 0 {
		where = "in no place"
	}
	if b.Chain != "" {
		where += fmt.Sprintf(" (chain %.64q, record %d)", b.Chain, b.N)
	}
	return where + ": " + string(b.Fault) + "; compare with a backup or an earlier export, and find out who could write to the store"
}

// Report is what Verify found.
type Report struct {
	Records  uint64  // read; those that stand twice count twice
	Repeated uint64  // records of batches that were stored twice, to the letter: no harm
	Lost     uint64  // events that the trail itself says were lost
	Heads    []Head  // of all chains, by Seq
	Breaks   []Break // in the order of Seq, at most 1,000
	Broken   uint64  // all breaks
}

const maxBreaks = 1000

func (r *Report) add(b Break) {
	r.Broken++
	if len(r.Breaks) < maxBreaks {
		r.Breaks = append(r.Breaks, b)
	}
}

// Err is nil if the trail is whole; else it names the first break.
func (r Report) Err() error {
	if r.Broken == 0 {
		return nil
	}
	return fmt.Errorf("audit: the trail is broken in %d places, first at %v", r.Broken, r.Breaks[0])
}
