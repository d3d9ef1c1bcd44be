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
	Seq   uint64 // in the store; 0: not known, as in a head of an earlier version
	Ended bool   // the last record is audit.end: its process was closed in order; not part of String
}

// String returns chain:n:hash:seq, which ParseHead reads. The Seq distinguishes a head whose record was
// removed since from one whose record must still be there.
func (h Head) String() string {
	text := fmt.Sprintf("%s:%d:%s", h.Chain, h.N, h.Hash)
	if h.Seq > 0 {
		text += ":" + strconv.FormatUint(h.Seq, 10)
	}
	return text
}

// plain returns the parts of a head to compare: a batch that was stored twice has two Seqs.
func (h Head) plain() Head { return Head{Chain: h.Chain, N: h.N, Hash: h.Hash} }

// ParseHead reads what String wrote, and heads of earlier versions, which have no Seq.
func ParseHead(text string) (Head, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		parts = append(parts, "0")
	}
	if len(parts) == 4 {
		n, err := strconv.ParseUint(parts[1], 10, 64)
		seq, bad := strconv.ParseUint(parts[3], 10, 64)
		if _, hex := parseDigest(parts[2]); hex && err == nil && bad == nil && n > 0 && parts[0] != "" {
			return Head{Chain: parts[0], N: n, Hash: parts[2], Seq: seq}, nil
		}
	}
	return Head{}, fmt.Errorf("audit: %.100q is no head: give it as verify printed it, chain:number:hash:seq", text)
}

// Fault is a way in which a trail is broken.
type Fault string

// The findings of Verify, with their texts.
const (
	Unreadable Fault = "unreadable: the record is damaged or was not written by the trail"
	Changed    Fault = "changed: the record does not match its hash and the record before it in its chain"
	Missing    Fault = "missing: records of the chain before this one are gone"
	Misplaced  Fault = "misplaced: the record stands behind a later one of its chain, or was copied"
	Headless   Fault = "headless: the chain does not begin with its first record"
	Unlinked   Fault = "unlinked: the record this chain began behind is gone or changed"
	Cut        Fault = "cut: the chain no longer holds the head you kept"
	Gone       Fault = "gone: records between this one and the one before it in the store were removed, and no " +
		"checkpoint stands for them"
	Tail   Fault = "tail: the last records of the trail are gone; this is the last Seq that must be there"
	Forged Fault = "checkpoint: it was changed, or made without the master key, so nothing stands for the records " +
		"that are missing"
)

// Notes on what a Report cannot prove.
const (
	// KillNote explains what a chain without its end may have lost.
	KillNote = "a process that is killed loses what it noted in its last second; calls that were charged are in the " +
		"usage ledger all the same"
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
	switch {
	case b.Fault == Forged:
		where = "in front of the trail"
	case b.Seq == 0:
		where = "in no place"
	}
	if b.Chain != "" {
		where += fmt.Sprintf(" (chain %.64q, record %d)", b.Chain, b.N)
	}
	return where + ": " + string(b.Fault) + "; compare with a backup or an earlier export, and find out whether the " +
		"store was set back, by a backup or by a failover to a server that lacked the last writes, and else who could " +
		"write to it"
}

// Report holds the findings of Verify.
type Report struct {
	Records  uint64  // read; those that stand twice count twice
	Repeated uint64  // records of batches that were stored twice, to the letter: no harm
	Lost     uint64  // events that the trail itself says were lost
	Heads    []Head  // of all chains that have records, by Seq
	Breaks   []Break // in the order of Seq, at most 1,000
	Broken   uint64  // all breaks

	Removed Checkpoint // what stands for records that were removed; Through 0: none were
	Behind  []Head     // kept heads whose records were removed: no proof, and no contradiction
}

// Unended returns the heads of the chains that do not end: their process runs, was killed, or
// their tail is lost. Records cannot tell which.
func (r Report) Unended() []Head {
	var open []Head
	for _, h := range r.Heads {
		if !h.Ended {
			open = append(open, h)
		}
	}
	return open
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
