package driver

import (
	"math"
	"time"
)

// Batch names one flush of counters, so that a flush sent twice counts once.
type Batch struct {
	Node string // who counted; unique among all processes that write to the store
	Seq  uint64 // rising per Node, never reused; 1 to 2^63-1
}

// Count is one usage row, or an amount to add to it.
type Count struct {
	AppID   string
	Product string
	At      time.Time // start of the UTC hour or day
	Calls   int64     // never negative
	Errors  int64     // never negative
}

// Plus adds two counts of one row. It stops at the largest number instead of overflowing.
func (c Count) Plus(d Count) Count {
	c.Calls = saturate(c.Calls, d.Calls)
	c.Errors = saturate(c.Errors, d.Errors)
	return c
}

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// UsageQuery selects usage of one application.
type UsageQuery struct {
	AppID   string
	Product string    // "": all products
	From    time.Time // inclusive
	To      time.Time // exclusive
	Daily   bool      // rows by UTC day; else by UTC hour
}

// Hour is the start of t's UTC hour.
func Hour(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// Day is the start of t's UTC day.
func Day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Record is one line of the audit trail. Its Data belongs to the package that wrote it.
type Record struct {
	Seq  uint64 // given by the Backend, rising
	At   time.Time
	Data []byte
}
