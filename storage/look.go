package storage

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// look is what a user's name looks like. Its id makes it one user's.
type look struct {
	Text    string `json:"text"`
	UserID  string `json:"user"`
	Version int64  `json:"-"`
	carried
}

var looks = kind[look]{
	name:    "look",
	id:      func(l look) string { return SessionID(l.Text) }, // of one length, however long the name
	version: func(l *look) *int64 { return &l.Version },
}

// looked says that every user's looks of one version have been written down.
type looked struct {
	Of      string `json:"of"`
	Version int64  `json:"-"`
	carried
}

var lookeds = kind[looked]{
	name:    "looked",
	id:      func(l looked) string { return l.Of },
	version: func(l *looked) *int64 { return &l.Version },
}

func looksOf(sub string, texts []string) []look {
	var all []look
	for _, text := range texts {
		if text != "" {
			all = append(all, look{Text: text, UserID: sub})
		}
	}
	return all
}

// ReserveLooks writes down what the names of all users look like who were made before
// CreateUser did it, so that no new user's may look the same. of names how looksOfName works:
// once all are written down for it, nothing is done again. Of two users whose names look
// the same already, both stay as they are.
func (s *Store) ReserveLooks(ctx context.Context, of string, looksOfName func(username string) []string) error {
	if _, err := lookeds.get(ctx, s, of); !errors.Is(err, ErrNotFound) {
		return err
	}
	for from := ""; ; {
		page, next, err := s.Users(ctx, from, driver.Page)
		if err != nil {
			return err
		}
		var all []look
		for _, u := range page {
			all = append(all, looksOf(u.Sub, looksOfName(u.Username))...)
		}
		for some := range slices.Chunk(all, driver.MaxPut) {
			if err := s.reserve(ctx, some); err != nil {
				return err
			}
		}
		if next == "" {
			break
		}
		from = next
	}
	if _, err := lookeds.put(ctx, s, looked{Of: of}); !errors.Is(err, ErrExists) {
		return err
	}
	return nil
}

// reserve writes those of some looks that are not there. It looks again when somebody
// else was quicker with one.
func (s *Store) reserve(ctx context.Context, some []look) error {
	for {
		missing, seen := []look{}, map[string]bool{}
		for _, l := range some {
			_, err := looks.get(ctx, s, looks.id(l))
			switch {
			case err != nil && !errors.Is(err, ErrNotFound):
				return err
			case err != nil && !seen[l.Text]:
				missing, seen[l.Text] = append(missing, l), true
			}
		}
		if len(missing) == 0 {
			return nil
		}
		docs, err := looks.docs(s, missing...)
		if err != nil {
			return err
		}
		if _, err := s.write(ctx, docs...); !errors.Is(err, ErrExists) {
			return err
		}
	}
}
