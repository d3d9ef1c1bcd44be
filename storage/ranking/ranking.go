// Package ranking holds which applications, tools and users called most in a day, as one process
// has counted it.
package ranking

import (
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/forward"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Ranking{}.carried}

// What is ranked.
const (
	Apps  = "apps"  // by client_id
	Tools = "tools" // by full name
	Users = "users" // by sub
)

// Kinds lists what is ranked.
func Kinds() []string { return []string{Apps, Tools, Users} }

// MaxNames is the largest number of names in a Ranking.
const MaxNames = 1000

// Ranking holds the names that one process has counted the most calls of in a UTC day. The lists
// belong together: an index is one name.
type Ranking struct {
	ID     string    `json:"id"` // of the process and the day
	Of     string    `json:"of"`
	Day    time.Time `json:"day"`
	Names  []string  `json:"names"`
	Calls  []int64   `json:"calls"`  // at most: of them, as many as Over may be another name's
	Errors []int64   `json:"errors"` // at least
	Over   []int64   `json:"over"`

	// Floor is the most calls that a name which is not here can have; 0: all are here.
	Floor int64 `json:"floor"`

	Version int64 `json:"-"`
	carried
}

// Check returns what is wrong with a ranking, as an ErrInvalid.
func (r Ranking) Check() error {
	n := len(r.Names)
	switch {
	case !slices.Contains(Kinds(), r.Of) || r.ID == "":
		return fmt.Errorf("%w: a ranking has an id, and is of apps, tools or users", driver.ErrInvalid)
	case r.Day.IsZero() || !r.Day.Equal(driver.Day(r.Day)):
		return fmt.Errorf("%w: a ranking is of a day", driver.ErrInvalid)
	case n > MaxNames || len(r.Calls) != n || len(r.Errors) != n || len(r.Over) != n:
		return fmt.Errorf("%w: a ranking has up to %d names, each with its numbers", driver.ErrInvalid, MaxNames)
	}
	return nil
}

// Ends returns when a ranking may be swept: it is kept as long as the rows of hours.
func (r Ranking) Ends() time.Time { return r.Day.Add(driver.UsageHours) }
