package event

import "time"

// TrailState holds what is known of the audit trail without reading it.
type TrailState struct {
	Appended uint64 // the Seq of the last record that was stored
	Waiting  uint64 // events noted, not yet stored, by this process
	Lost     uint64 // events that found its queue full

	// Stands for records that were removed because of their age or the trail's size.
	Removed uint64    // records, in all; 0: none
	Through uint64    // the Seq up to which they were
	Until   time.Time // when the last of them was noted
	Since   time.Time // when records were first removed
	Forged  bool      // it was not written by this service: it does not open with the master key
}

// TrailReport holds what a reading of the whole trail has found.
type TrailReport struct {
	Records  uint64   // that were read
	Broken   uint64   // places where records are missing, changed or added
	Breaks   []string // the first of them
	Lost     uint64   // events that records say were lost
	Repeated uint64   // records that stand there twice, which is harmless
	Heads    []string // the ends of its chains, at most 20, the newest last
}
