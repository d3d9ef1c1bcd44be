package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Beat{}.carried}

// Store keeps beats; *storage.Store implements it.
type Store interface {
	Shared() bool
	// Beats returns up to driver.Page beats, those included that have ended and are not swept.
	Beats(ctx context.Context) ([]Beat, error)
	// Beat returns one, or driver.ErrNotFound.
	Beat(ctx context.Context, id string) (Beat, error)
	SaveBeat(ctx context.Context, b Beat) (Beat, error)
	RemoveBeat(ctx context.Context, b Beat) error
}

// Beat makes a node known to the others.
type Beat struct {
	ID      string        `json:"id"`   // of this start of the process
	Name    string        `json:"name"` // for people
	Build   string        `json:"build"`
	Started time.Time     `json:"started"`
	At      time.Time     `json:"at"`             // by the clock of the node
	Every   time.Duration `json:"every"`          // until the next beat
	Ends    time.Time     `json:"ends"`           // when it may be swept
	Ahead   time.Duration `json:"ahead,omitzero"` // how far the clock of the node is ahead of the store's; 0 where the store has none
	Lag     time.Duration `json:"lag,omitzero"`   // how far the times by which the node dates grants may be behind it
	Version int64         `json:"-"`
	carried
}

const (
	beatEvery = 2 * time.Second
	beatShare = beatEvery / 50 // for each node: no more beats a second than those of 50 nodes
	beatLife  = 10 * time.Minute
	missed    = 3 // beats, which are the end of a node for the others

	maxEvery = 2 * driver.Page * beatShare
	maxText  = 256 // bytes of a name or a build
)

// Check returns what is wrong with a beat, as an ErrInvalid.
func (b Beat) Check() error {
	switch {
	case b.ID == "" || !driver.ValidName(b.ID):
		return fmt.Errorf("%w: a node needs an id", driver.ErrInvalid)
	case len(b.Name) > maxText || len(b.Build) > maxText:
		return fmt.Errorf("%w: the name of a node, and its version, have at most %d bytes", driver.ErrInvalid, maxText)
	case b.Ends.IsZero():
		return fmt.Errorf("%w: the beat of a node ends", driver.ErrInvalid)
	}
	return nil
}

// patience returns how long the beat may stand still.
func (b Beat) patience() time.Duration { return missed * min(max(b.Every, beatEvery), maxEvery) }

// Info describes a node.
type Info struct {
	ID      string
	Name    string
	Build   string    // the version of the program
	Started time.Time // by the clock of the node
	Age     time.Duration
	Ahead   time.Duration // of the clock of the node, as Beat.Ahead
	Live    bool
	Self    bool
}
