package bolt

import (
	"bytes"
	"context"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// hours knows how far the rows of hours are swept. They lie by application and then by time,
// so those that are too old are at the front of each application: a look costs one step for
// each application that has any, and there is only a new one to be had each hour.
// Noting them among the rows that end would take one more row for each.
type hours struct {
	mu    sync.Mutex
	start time.Time // rows that began before it go
	from  []byte    // none is left in front of this key
	clean bool      // none is left at all
}

// forget is called after rows were written that began at some times: one that is too old
// already has to be looked for again.
func (h *hours) forget(counts []driver.Count) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range counts {
		if driver.Hour(c.At).Before(h.start) {
			h.from, h.clean = nil, false
		}
	}
}

// sweepHours removes up to n rows of hours that began longer than driver.UsageHours before at.
func (s *Store) sweepHours(ctx context.Context, at time.Time, n int) (int, error) {
	h := &s.hours
	h.mu.Lock()
	defer h.mu.Unlock()
	start := firstHour(at)
	if start.After(h.start) {
		h.start, h.from, h.clean = start, nil, false
	}
	if h.clean || n <= 0 {
		return 0, nil
	}
	var due [][]byte
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		due = oldHours(tx, h.from, start, n)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(due) > 0 {
		if err := s.removeHours(ctx, due); err != nil {
			return 0, err
		}
	}
	if start.Equal(h.start) { // else there may be more in front of what was found
		if h.clean = len(due) < n; !h.clean {
			h.from = due[len(due)-1]
		}
	}
	return len(due), nil
}

// firstHour is the first hour whose row is kept at a time.
func firstHour(at time.Time) time.Time {
	oldest := at.Add(-driver.UsageHours)
	start := driver.Hour(oldest)
	if start.Before(oldest) {
		start = start.Add(time.Hour)
	}
	return start
}

// oldHours returns the first n keys from a key on of rows that began before start.
func oldHours(tx *bbolt.Tx, from []byte, start time.Time, n int) (due [][]byte) {
	c := bucket(tx, usageBucket).Cursor()
	for key, _ := c.Seek(from); key != nil && len(due) < n; {
		app, rest, _ := bytes.Cut(key, []byte{0})
		if rest[0] == hourly && bytes.Compare(rest[1:1+timeSize], appendTime(nil, start)) < 0 {
			due = append(due, bytes.Clone(key))
			key, _ = c.Next()
			continue
		}
		// On to what comes behind the rows of this application, or to those of its hours.
		next := append(bytes.Clone(app), 1)
		if rest[0] < hourly {
			next = append(join(string(app)), hourly)
		}
		key, _ = c.Seek(next)
	}
	return due
}

func (s *Store) removeHours(ctx context.Context, due [][]byte) error {
	return s.write(ctx, func(tx *bbolt.Tx) error {
		rows := bucket(tx, usageBucket)
		for _, key := range due {
			if checkCount(key, rows.Get(key)) != nil {
				continue // its hour may be another one; who reads it or checks the file is told
			}
			if err := rows.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}
