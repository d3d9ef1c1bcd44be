package apikey // import "github.com/keystile/keystile/storage/apikey"

import "github.com/keystile/keystile/internal/record/forward"
import "time"

var ErrTooMany error

type Fence struct {
	UserID    string    "json:\"user\""
	Ended     time.Time "json:\"ended,omitzero\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

type Key struct {
	ID        string    "json:\"id\""
	UserID    string    "json:\"user\""
	Name      string    "json:\"name\""
	Scope     string    "json:\"scope\""
	CreatedAt time.Time "json:\"created_at\""
	ExpiresAt time.Time "json:\"expires_at\""
	UsedAt    time.Time "json:\"used_at,omitzero\""
	Version   int64     "json:\"-\""
	carried
}

func (Key) Check() error
func (Key) Live(at time.Time) bool

const MaxLife time.Duration = 31622400000000000

const MaxLive = 20

const MaxName = 100

const MaxScope = 1000

const UsedEvery time.Duration = 3600000000000

type carried = forward.Fields
