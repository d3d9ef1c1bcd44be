package service

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

var streams = document.Kind[shipping.Position]{
	Name:    "stream",
	ID:      func(p shipping.Position) string { return p.Name },
	Version: func(p *shipping.Position) *int64 { return &p.Version },
}

// Stream returns how far a stream has come; Version 0: it has not begun.
func (s *Store) Stream(ctx context.Context, name string) (shipping.Position, error) {
	at, err := document.Find(ctx, s.docs, streams, name)
	at.Name = name
	return at, err
}

// SaveStream writes how far a stream has come, or returns ErrConflict if another process was faster.
func (s *Store) SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error) {
	if err := at.Check(); err != nil {
		return at, err
	}
	return document.Replace(ctx, s.docs, streams, at)
}

// usageMark names accounts that have rows of usage in an hour. A store lists rows by account only.
type usageMark struct {
	ID       string    `json:"id"`
	Hour     time.Time `json:"hour"`
	Accounts []string  `json:"accounts"`
	Ends     time.Time `json:"ends"`
	Version  int64     `json:"-"`
	carried
}

// usageMarkDays bounds for how long it is known which accounts have rows in an hour, from when that was marked:
// longer than package gateway/stream looks at an hour.
const usageMarkDays = 40

// maxMarked bounds the accounts of one mark.
const maxMarked = 2000

var usageMarks = document.Kind[usageMark]{
	Name:    "usagemark",
	ID:      func(m usageMark) string { return m.ID },
	Index:   func(m usageMark) []string { return []string{markedIn(m.Hour)} },
	Expires: func(m usageMark) time.Time { return m.Ends },
	Version: func(m *usageMark) *int64 { return &m.Version },
}

func markedIn(hour time.Time) string { return "hour=" + driver.Hour(hour).Format("2006-01-02T15") }

// MarkUsage writes down which accounts are about to have rows of usage in an hour.
func (s *Store) MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error {
	for len(accounts) > 0 {
		n := min(len(accounts), maxMarked)
		mark := usageMark{ID: rand.Text(), Hour: driver.Hour(hour), Accounts: accounts[:n],
			Ends: time.Now().UTC().AddDate(0, 0, usageMarkDays)}
		if _, err := document.Put(ctx, s.docs, usageMarks, mark); err != nil {
			return err
		}
		accounts = accounts[n:]
	}
	return nil
}

// MarkedUsage returns a page of the accounts that were marked in an hour, some of them several times and in no
// order. It begins at the start or at a next of before, and next is "" at the end.
func (s *Store) MarkedUsage(ctx context.Context, hour time.Time,
	from string) (accounts []string, next string, err error) {
	span := driver.Is(markedIn(hour))
	if from != "" {
		span.From = from
	}
	marks, next, err := document.List(ctx, s.docs, usageMarks, span, usageMarkPage)
	for _, m := range marks {
		accounts = append(accounts, m.Accounts...)
	}
	return accounts, next, err
}

// usageMarkPage bounds the marks that are read at once: as many accounts as some 10 MB.
const usageMarkPage = 50
