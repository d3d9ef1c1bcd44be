package migration // import "github.com/keystile/keystile/legacy/migration"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "io"
import "time"

func Read(ctx context.Context, trail Trail, from time.Time, to time.Time) (Report, error)

type Report struct {
	From       time.Time "json:\"from\""
	To         time.Time "json:\"to\""
	Rows       []Row     "json:\"rows\""
	Unreadable int       "json:\"unreadable\""
	Truncated  bool      "json:\"truncated\""
}

func (Report) Render(w io.Writer) error

type Row struct {
	App      string "json:\"client_id\""
	Day      string "json:\"day\""
	PlainKey int64  "json:\"plain_key\""
	Signed   int64  "json:\"signed\""
	Unproven int64  "json:\"unproven\""
	NoPKCE   int64  "json:\"no_pkce\""
}

type Trail interface {
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
}
