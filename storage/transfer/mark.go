package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Unfinished is the feature that a target has until it is verified. The list of features is one
// that every version of Keystile looks at before it serves, so the target is refused by those too
// that know of no copies.
const Unfinished = "copy that is not finished"

// unfinishedSince is the version that began to know Unfinished.
const unfinishedSince = "v0.1.0"

// The document that lists the features of a store (package storage).
const markKind, markID = "format", "features"

var markKey = DocRow(driver.Doc{Kind: markKind, ID: markID}).Key

// Mark describes an unfinished copy; it is stored in the target.
type Mark struct {
	Store   string    `json:"store"`  // which store it is a copy of
	Source  string    `json:"source"` // where that was, as Options.Source named it
	BegunAt time.Time `json:"begun_at"`
}

// ErrUnfinished: the store is a copy that was not finished, and must not be served from.
var ErrUnfinished = errors.New("storage: the store is a copy that is not finished")

// Err returns what whoever wants to serve from the store is told.
func (m Mark) Err() error {
	return fmt.Errorf("%w: it was begun at %s from %s; run the same keystile storage copy again, which goes on where it "+
		"was, or empty the store", ErrUnfinished, m.BegunAt.Format(time.RFC3339), m.Source)
}

// list is the document, as far as the mark needs it.
type list struct {
	Features []feature `json:"features"`
	Copy     *Mark     `json:"copy,omitempty"`
}

type feature struct {
	Name  string `json:"name"`
	Since string `json:"since"`
}

// ReadMark returns the mark of a store; nil if it has none.
func ReadMark(ctx context.Context, b driver.Backend) (*Mark, error) {
	d, err := b.Get(ctx, markKind, markID)
	if errors.Is(err, driver.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l list
	if err := json.Unmarshal(d.Data, &l); err != nil {
		return nil, fmt.Errorf("the list of features is not readable: %w", err)
	}
	return l.Copy, nil
}

func (m Mark) row() (Row, error) {
	data, err := json.Marshal(list{Features: []feature{{Unfinished, unfinishedSince}}, Copy: &m})
	return DocRow(driver.Doc{Kind: markKind, ID: markID, Version: 1, Data: data}), err
}

// identity names a store: the mark of its master key is sealed, and no two are sealed alike. A
// store that was never opened by package storage has none.
func identity(ctx context.Context, b driver.Backend) (string, error) {
	d, err := b.Get(ctx, "master", "check")
	if errors.Is(err, driver.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(DocRow(d).Value)
	return hex.EncodeToString(sum[:8]), nil
}

// featuresOf returns the row that a store has in the place of the mark, as a copy has it; nil if it has none.
func featuresOf(ctx context.Context, b driver.Backend) (*Row, error) {
	d, err := b.Get(ctx, markKind, markID)
	switch {
	case errors.Is(err, driver.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return served(new(DocRow(d)))
}
