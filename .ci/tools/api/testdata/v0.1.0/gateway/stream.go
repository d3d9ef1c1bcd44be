package stream // import "github.com/keystile/keystile/gateway/stream"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/nodes"
import "github.com/keystile/keystile/storage/shipping"
import "io"
import "log/slog"
import "time"

const Audit = "audit"

type Batch struct {
	Stream string
	Key    string
	Lines  []byte
	Count  int
}

type Config struct {
	Target   Target
	MaxBytes int
	MaxAge   time.Duration
}

func (*Config) Check() error
func (Config) On() bool

type Counts interface {
	Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
	MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
}

func FollowTrail(store TrailStore, c Config, wake <-chan struct{}, log *slog.Logger) *Follower

func FollowUsage(store UsageStore, c Config, log *slog.Logger) *Follower

type Follower struct{ _ []struct{} }

func (*Follower) Run(ctx context.Context)
func (*Follower) Stats() Stats

type Marker struct {
	Counts
	_ []struct{}
}

func (*Marker) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error

func NewWriter(name string, w io.Writer) *Writer

func Shipped(ctx context.Context, store TrailStore, c Config) (through uint64, err error)

type Stats struct {
	Stream string
	Behind uint64
	Age    time.Duration
	Lines  uint64
	Failed uint64
	Err    error
}

type Target interface {
	Name() string
	Put(ctx context.Context, b Batch) error
}

type TrailStore interface {
	Appended(ctx context.Context) (uint64, error)
	Checkpoint(ctx context.Context) (storage.Checkpoint, error)
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
	positions
}

const Usage = "usage"

type UsageStore interface {
	MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
	positions
}

type Writer struct{ _ struct{} }

func (*Writer) Name() string
func (*Writer) Put(ctx context.Context, b Batch) error

type positions interface {
	SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
	Stream(ctx context.Context, name string) (shipping.Position, error)
	nodes.LeaseStore
}
