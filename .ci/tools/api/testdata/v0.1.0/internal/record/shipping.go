package shipping // import "github.com/keystile/keystile/internal/record/shipping"

import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Hour struct {
	At       time.Time "json:\"at\""
	Calls    int64     "json:\"calls\""
	Errors   int64     "json:\"errors,omitempty\""
	Revision int       "json:\"revision\""
	carried
}

type Position struct {
	Name    string    "json:\"name\""
	Through uint64    "json:\"through,omitempty\""
	Hash    string    "json:\"hash,omitempty\""
	Next    uint64    "json:\"next,omitempty\""
	Begun   time.Time "json:\"begun,omitzero\""
	From    time.Time "json:\"from,omitzero\""
	Hours   []Hour    "json:\"hours,omitempty\""
	Version int64     "json:\"-\""
	carried
}

func (Position) Check() error

type carried = forward.Fields
