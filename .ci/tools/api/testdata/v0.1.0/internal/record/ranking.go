package ranking // import "github.com/keystile/keystile/internal/record/ranking"

import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Ranking struct {
	ID      string    "json:\"id\""
	Of      string    "json:\"of\""
	Day     time.Time "json:\"day\""
	Names   []string  "json:\"-\""
	Calls   []int64   "json:\"-\""
	Errors  []int64   "json:\"-\""
	Over    []int64   "json:\"-\""
	Packed  []byte    "json:\"packed\""
	Floor   int64     "json:\"floor\""
	Version int64     "json:\"-\""
	carried
}

func (Ranking) Check() error
func (Ranking) Ends() time.Time
func (Ranking) Pack() Ranking
func (Ranking) Unpack() (Ranking, error)

type carried = forward.Fields
