package ranking

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Ranking{}.carried}

// Kinds of names that are ranked.
const (
	Apps   = "apps"   // by client_id
	Tools  = "tools"  // by full name
	Users  = "users"  // by sub
	Agents = "agents" // by client_id or sub: who acts by delegation, else the application
)

// Kinds lists what is ranked.
func Kinds() []string { return []string{Apps, Tools, Users, Agents} }

// MaxNames is the largest number of names in a Ranking.
const MaxNames = 1000

// Ranking holds the names that one process has counted the most calls of in a UTC day. The lists
// belong together: an index is one name.
type Ranking struct {
	ID     string    `json:"id"` // of the process and the day
	Of     string    `json:"of"`
	Day    time.Time `json:"day"`
	Names  []string  `json:"-"`
	Calls  []int64   `json:"-"` // at most: of them, as many as Over may be another name's
	Errors []int64   `json:"-"` // at least
	Over   []int64   `json:"-"`

	// Packed holds the lists as they are stored: many are read at once, and reading them as JSON
	// would take ten times as long. The store packs and unpacks them.
	Packed []byte `json:"packed"`

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
		return fmt.Errorf("%w: a ranking has an id, and is of apps, tools, users or agents", driver.ErrInvalid)
	case r.Day.IsZero() || !r.Day.Equal(driver.Day(r.Day)):
		return fmt.Errorf("%w: a ranking is of a day", driver.ErrInvalid)
	case n > MaxNames || len(r.Calls) != n || len(r.Errors) != n || len(r.Over) != n:
		return fmt.Errorf("%w: a ranking has up to %d names, each with its numbers", driver.ErrInvalid, MaxNames)
	}
	return nil
}

// Pack returns the ranking with its lists in Packed.
func (r Ranking) Pack() Ranking {
	r.Packed = nil
	for i, name := range r.Names {
		r.Packed = append(binary.AppendUvarint(r.Packed, uint64(len(name))), name...)
		for _, n := range []int64{r.Calls[i], r.Errors[i], r.Over[i]} {
			r.Packed = binary.AppendUvarint(r.Packed, uint64(max(0, n)))
		}
	}
	return r
}

var errPacked = errors.New("the lists of a ranking are damaged")

// Unpack returns the ranking with the lists that Packed holds.
func (r Ranking) Unpack() (Ranking, error) {
	r.Names, r.Calls, r.Errors, r.Over = nil, nil, nil, nil
	rest := r.Packed
	number := func() (n int64, err error) {
		v, size := binary.Uvarint(rest)
		if size <= 0 || v > math.MaxInt64 {
			return 0, errPacked
		}
		rest = rest[size:]
		return int64(v), nil
	}
	for len(rest) > 0 {
		n, err := number()
		if err != nil || n > int64(len(rest)) || len(r.Names) == MaxNames {
			return r, errPacked
		}
		r.Names, rest = append(r.Names, string(rest[:n])), rest[n:]
		for _, to := range []*[]int64{&r.Calls, &r.Errors, &r.Over} {
			if n, err = number(); err != nil {
				return r, err
			}
			*to = append(*to, n)
		}
	}
	r.Packed = nil
	return r, nil
}

// Ends returns when a ranking may be swept: it is kept as long as the rows of hours.
func (r Ranking) Ends() time.Time { return r.Day.Add(driver.UsageHours) }
