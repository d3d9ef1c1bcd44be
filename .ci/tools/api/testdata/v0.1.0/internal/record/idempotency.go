package idempotency // import "github.com/keystile/keystile/internal/record/idempotency"

import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Call struct {
	ID        string    "json:\"id\""
	Charged   bool      "json:\"charged,omitempty\""
	Repeats   int       "json:\"repeats,omitempty\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Call) Check() error

type carried = forward.Fields
