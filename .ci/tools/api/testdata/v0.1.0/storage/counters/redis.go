package redis // import "github.com/keystile/keystile/storage/counters/redis"

import "context"
import "crypto/tls"
import "github.com/keystile/keystile/storage/counters"
import "log/slog"
import "time"

type Counters struct{ _ []struct{} }

func (*Counters) Accounts() counters.Accounts
func (*Counters) Addresses(lock counters.Lock) counters.Addresses
func (*Counters) Close() error
func (*Counters) Counter() counters.Counter
func (*Counters) Describe() (kind string, version string, at string)
func (*Counters) Limiter() counters.Limiter
func (*Counters) Reached() (now bool, since time.Time)
func (*Counters) Stats() Stats

func Open(ctx context.Context, address string, o Options) (*Counters, error)

type Options struct {
	Nodes   func() int
	Prefix  string
	Timeout time.Duration
	TLS     *tls.Config
	Log     *slog.Logger
	_       []struct{}
}

type Stats struct {
	Connected bool
	Since     time.Time
	Version   string
	Error     error
	Answered  int64
	Late      int64
	Refused   int64
	Failed    int64
	Alone     int64
	NotUndone int64
	Took      time.Duration
}
