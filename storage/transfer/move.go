package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Moved is the feature of a store whose copy is served in its place. Like Unfinished it keeps every version of
// Keystile from serving the store, those too that know of no moves. It is not copied.
const Moved = "store that has moved"

// movedSince is the version that began to know Moved.
const movedSince = "v0.2.0"

// Move says where a store has gone; it is stored in the store that was left.
type Move struct {
	To string    `json:"to"` // the address of the copy, without a secret
	At time.Time `json:"at"`
}

// ErrMoved: the store was copied to another place and is served there, so nothing may be written to it any more.
var ErrMoved = errors.New("storage: the store has moved")

// Err returns what somebody is told who wants to serve from the store or to write to it.
func (m Move) Err() error {
	return fmt.Errorf("%w: it was copied to %s at %s, and is served there: name that one with --storage-url or --data. "+
		"If this one is to be served again, stop those on the other, then: keystile storage reopen ADDRESS", ErrMoved, m.To,
		m.At.Format(time.RFC3339))
}

// ReadMove returns where a store has moved; nil: it is served where it is.
func ReadMove(ctx context.Context, b driver.Backend) (*Move, error) {
	_, fields, err := formatOf(ctx, b)
	if err != nil || fields["moved"] == nil {
		return nil, err
	}
	m := new(Move)
	if err := json.Unmarshal(fields["moved"], m); err != nil {
		return nil, fmt.Errorf("the mark of a store that has moved is not readable: %w", err)
	}
	return m, nil
}

// Refusal returns why a store must not be served that has a feature of this package; nil: it may be. A store that has
// moved may be read, by a backend that has a method ReadsOnly or wraps one that has.
func Refusal(ctx context.Context, b driver.Backend, feature string) (refused, err error) {
	if feature == Unfinished {
		mark, err := ReadMark(ctx, b)
		if err != nil || mark == nil { // the copy has ended, or its mark was changed
			return ErrUnfinished, err
		}
		return mark.Err(), nil
	}
	move, err := ReadMove(ctx, b)
	if _, reads := driver.As[interface{ ReadsOnly() }](b); err != nil || reads || move == nil {
		return nil, err
	}
	return move.Err(), nil
}

// Leave marks a store as moved: from then on it is read, and not served or written to. A process that has it open
// notices within seconds where several share it, and else within a minute, if it sweeps, or at its next start. The mark
// of a store that has moved before stays as it is.
func Leave(ctx context.Context, b driver.Backend, m Move) error {
	m.At = m.At.UTC().Truncate(time.Second)
	return setMove(ctx, b, &m)
}

// Reopen takes the mark away. The caller sees to it that nobody serves from the copy.
func Reopen(ctx context.Context, b driver.Backend) error { return setMove(ctx, b, nil) }

// maxTries bounds how often a write is tried again that another process was faster with.
const maxTries = 10

func setMove(ctx context.Context, b driver.Backend, m *Move) (err error) {
	for range maxTries {
		var d driver.Doc
		var fields map[string]json.RawMessage
		if d, fields, err = formatOf(ctx, b); err != nil {
			return err
		}
		if m != nil && fields["moved"] != nil {
			return nil
		}
		if d.Data, err = withMove(fields, m); err != nil {
			return err
		}
		if _, err = b.Put(ctx, d); !errors.Is(err, driver.ErrConflict) && !errors.Is(err, driver.ErrExists) {
			return err
		}
	}
	return err
}

// formatOf returns the document that lists the features, which may be a new one, and its fields.
func formatOf(ctx context.Context, b driver.Backend) (driver.Doc, map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	d, err := b.Get(ctx, markKind, markID)
	if errors.Is(err, driver.ErrNotFound) {
		return driver.Doc{Kind: markKind, ID: markID}, fields, nil
	}
	if err == nil {
		err = json.Unmarshal(d.Data, &fields)
	}
	if err != nil {
		return d, nil, fmt.Errorf("the list of features is not readable: %w", err)
	}
	return d, fields, nil
}

// withMove returns the document with a mark, or without one. Fields that this version does not know stay.
func withMove(fields map[string]json.RawMessage, m *Move) ([]byte, error) {
	var all []json.RawMessage
	if fields["features"] != nil {
		if err := json.Unmarshal(fields["features"], &all); err != nil {
			return nil, fmt.Errorf("the list of features is not readable: %w", err)
		}
	}
	kept := []json.RawMessage{}
	for _, one := range all {
		var f feature
		if err := json.Unmarshal(one, &f); err != nil {
			return nil, fmt.Errorf("the list of features is not readable: %w", err)
		}
		if f.Name != Moved {
			kept = append(kept, one)
		}
	}
	delete(fields, "moved")
	if m != nil {
		mark, err := json.Marshal(feature{Moved, movedSince})
		if err != nil {
			return nil, err
		}
		kept = append(kept, mark)
		if fields["moved"], err = json.Marshal(m); err != nil {
			return nil, err
		}
	}
	var err error
	if fields["features"], err = json.Marshal(kept); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// served returns a row of the table of documents as the copy has it, which has not moved.
func served(r *Row) (*Row, error) {
	if r == nil {
		return nil, nil
	}
	d, err := r.Doc()
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(d.Data, &fields); err != nil {
		return nil, fmt.Errorf("the list of features is not readable: %w", err)
	}
	if fields["moved"] == nil {
		return r, nil
	}
	if d.Data, err = withMove(fields, nil); err != nil {
		return nil, err
	}
	return new(DocRow(d)), nil
}
