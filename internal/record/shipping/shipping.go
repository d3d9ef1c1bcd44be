package shipping

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Position{}.carried, Hour{}.carried}

// Position says how far a stream has come at its target. Its Version moves with every step, so of several
// processes that go on from the same place one does.
type Position struct {
	Name string `json:"name"` // of the stream and its target

	// Of the audit trail.
	Through uint64 `json:"through,omitempty"` // the target has every record up to this Seq
	Hash    string `json:"hash,omitempty"`    // of the record that has this Seq
	Next    uint64 `json:"next,omitempty"`    // the batch that is on its way ends here; 0: there is none

	// Of usage.
	Begun time.Time `json:"begun,omitzero"`  // the first hour that belongs to the stream
	From  time.Time `json:"from,omitzero"`   // the target has every hour from then to this
	Hours []Hour    `json:"hours,omitempty"` // the last hours that it has, ascending

	Version int64 `json:"-"` // 0: the stream has not begun

	carried
}

// Hour says what a target has of an hour of usage.
type Hour struct {
	At       time.Time `json:"at"`
	Calls    int64     `json:"calls"` // of the whole service, when the rows were read
	Errors   int64     `json:"errors,omitempty"`
	Revision int       `json:"revision"` // from 1
	carried
}

// Check returns what is wrong with a Position, as an ErrInvalid.
func (p Position) Check() error {
	if !driver.ValidName(p.Name) {
		return fmt.Errorf("%w: the name of a stream has up to %d bytes", driver.ErrInvalid, driver.MaxName)
	}
	return nil
}
