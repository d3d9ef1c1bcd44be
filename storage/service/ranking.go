package service

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

var rankings = document.Kind[ranking.Ranking]{
	Name:    "ranking",
	ID:      func(r ranking.Ranking) string { return r.ID },
	Index:   func(r ranking.Ranking) []string { return []string{rankingEntry(r.Of, r.Day)} },
	Expires: ranking.Ranking.Ends,
	Version: func(r *ranking.Ranking) *int64 { return &r.Version },
}

func rankingEntry(of string, day time.Time) string { return of + " " + day.UTC().Format(time.DateOnly) }

// maxRankings bounds how many rankings are read at once: some 25 MB if they are full.
const maxRankings = 400

// SaveRanking writes what a process has counted, or returns ErrConflict if it was changed or
// removed since it was read.
func (s *Store) SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error) {
	if err := r.Check(); err != nil {
		return r, err
	}
	saved, err := document.Put(ctx, s.docs, rankings, r.Pack())
	saved.Packed = nil
	return saved, err
}

// Rankings returns the rankings of the days from a time on, and before another, by day. more is true
// where there are others that are too many to be read at once.
func (s *Store) Rankings(ctx context.Context, of string,
	from, to time.Time) (all []ranking.Ranking, more bool, err error) {
	span := driver.Between(rankingEntry(of, from), rankingEntry(of, to))
	all, next, err := document.List(ctx, s.docs, rankings, span, maxRankings)
	if err != nil {
		return nil, false, err
	}
	for i, r := range all {
		if all[i], err = r.Unpack(); err != nil {
			return nil, false, fmt.Errorf("%w: ranking %q: %w", document.ErrUnavailable, r.ID, err)
		}
	}
	return all, next != "", nil
}
