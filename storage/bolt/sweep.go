package bolt

import (
	"bytes"
	"context"
	"time"

	"go.etcd.io/bbolt"
)

// Sweep removes up to n of what ended by at. The notes of what ends lie in the order of
// time, so it costs what goes and nothing for what stays.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	removed, err := s.sweepEnded(ctx, at, n)
	if err != nil {
		return removed, err
	}
	old, err := s.sweepHours(ctx, at, n-removed)
	return removed + old, err
}

func (s *Store) sweepEnded(ctx context.Context, at time.Time, n int) (int, error) {
	if err := s.settled(ctx); err != nil {
		return 0, err
	}
	var due [][]byte
	err := s.view(ctx, func(tx *bbolt.Tx) (err error) {
		if due, err = ended(tx, at, 1); len(due) > 0 {
			err = nil // first what can be removed
		}
		return err
	})
	if err != nil || len(due) == 0 {
		return 0, err // mostly nothing is due, and that takes no write
	}
	removed := 0
	err = s.write(ctx, func(tx *bbolt.Tx) error {
		notes, _ := ended(tx, at, n)
		for _, note := range notes {
			if err := remove(tx, note); err != nil {
				return err
			}
		}
		removed = len(notes)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// ended returns the first n notes of what ended by at. One that does not agree with its row is left out and named by
// the error: either of them is damaged, so it is not known when the row ends. It stays until the file is mended.
func ended(tx *bbolt.Tx, at time.Time, n int) (notes [][]byte, bad error) {
	last := appendTime(nil, at)
	c := bucket(tx, endsBucket).Cursor()
	for note, _ := c.First(); note != nil && len(notes) < n; note, _ = c.Next() {
		if err := agrees(tx, note); err != nil {
			if bad == nil {
				bad = err
			}
			continue
		}
		if bytes.Compare(note[:timeSize], last) > 0 {
			break
		}
		notes = append(notes, bytes.Clone(note))
	}
	return notes, bad
}

// agrees fails unless a note is about a row that ends then.
func agrees(tx *bbolt.Tx, note []byte) error {
	if len(note) <= timeSize+1 {
		return damagedRow(endsBucket, note)
	}
	what, key := note[timeSize], note[timeSize+1:]
	rows, behind := tokenRows(tx), 3*timeSize // as parts has them
	switch what {
	case aRevocation:
		rows, behind = revocationRows(tx), 8+timeSize
	case aDoc:
		rows, behind = docRows(tx), 8
	}
	body, err := rows.find(tx, key)
	if err != nil {
		return err
	}
	if len(body) < behind+timeSize || !bytes.Equal(body[behind:behind+timeSize], note[:timeSize]) {
		return damagedRow(endsBucket, note)
	}
	return nil
}

// remove takes away what a note is about, and the note.
func remove(tx *bbolt.Tx, note []byte) error {
	switch what, key := note[timeSize], note[timeSize+1:]; what {
	case aRevocation:
		return forget(tx, key)
	case aDoc:
		return removeDoc(tx, key)
	default:
		if err := bucket(tx, tokensBucket).Delete(key); err != nil {
			return err
		}
		return bucket(tx, endsBucket).Delete(note)
	}
}

// Kinds of notes.
const (
	aToken      = 't'
	aRevocation = 'r'
	aDoc        = 'd'
)

// noteEnd notes when something ends. A zero time notes nothing: it never does.
func noteEnd(tx *bbolt.Tx, end time.Time, what byte, key []byte) error {
	if end.IsZero() {
		return nil
	}
	return bucket(tx, endsBucket).Put(endKey(end, what, key), nil)
}

// dropEnd takes the note back.
func dropEnd(tx *bbolt.Tx, end time.Time, what byte, key []byte) error {
	return bucket(tx, endsBucket).Delete(endKey(end, what, key))
}

func endKey(end time.Time, what byte, key []byte) []byte {
	return append(append(appendTime(nil, end), what), key...)
}
