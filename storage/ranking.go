package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/ranking"
)

var rankings = kind[ranking.Ranking]{
	name:    "ranking",
	id:      func(r ranking.Ranking) string { return r.ID },
	index:   func(r ranking.Ranking) []string { return []string{rankingEntry(r.Of, r.Day)} },
	expires: ranking.Ranking.Ends,
	version: func(r *ranking.Ranking) *int64 { return &r.Version },
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
	saved, err := rankings.put(ctx, s, r.Pack())
	saved.Packed = nil
	return saved, err
}

// Rankings returns the rankings of the days from a time on, and before another, by day. more is true
// where there are others that are too many to be read at once.
func (s *Store) Rankings(ctx context.Context, of string, from, to time.Time) (all []ranking.Ranking, more bool, err error) {
	span := driver.Between(rankingEntry(of, from), rankingEntry(of, to))
	all, next, err := rankings.list(ctx, s, span, maxRankings)
	if err != nil {
		return nil, false, err
	}
	for i, r := range all {
		if all[i], err = r.Unpack(); err != nil {
			return nil, false, fmt.Errorf("%w: ranking %q: %w", ErrUnavailable, r.ID, err)
		}
	}
	return all, next != "", nil
}
