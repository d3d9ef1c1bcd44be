package nodes // import "github.com/keystile/keystile/storage/nodes"

import "context"
import "github.com/keystile/keystile/storage/internal/forward"
import "log/slog"
import "time"

type Beat struct {
	ID      string        "json:\"id\""
	Name    string        "json:\"name\""
	Build   string        "json:\"build\""
	Started time.Time     "json:\"started\""
	At      time.Time     "json:\"at\""
	Every   time.Duration "json:\"every\""
	Ends    time.Time     "json:\"ends\""
	Ahead   time.Duration "json:\"ahead,omitzero\""
	Lag     time.Duration "json:\"lag,omitzero\""
	Version int64         "json:\"-\""
	carried
}

func (Beat) Check() error

type Config struct {
	Store Store
	Name  string
	Build string
	Log   *slog.Logger
}

type Info struct {
	ID      string
	Name    string
	Build   string
	Started time.Time
	Age     time.Duration
	Ahead   time.Duration
	Live    bool
	Self    bool
}

func Join(ctx context.Context, c Config) (*Node, error)

type Lease struct {
	Task    string    "json:\"task\""
	Holder  string    "json:\"holder\""
	At      time.Time "json:\"at\""
	Version int64     "json:\"-\""
	carried
}

type LeaseStore interface {
	Lease(ctx context.Context, task string) (Lease, error)
	RemoveLease(ctx context.Context, l Lease) error
	SaveLease(ctx context.Context, l Lease) (Lease, error)
	Shared() bool
}

func Look(ctx context.Context, store Store) ([]Info, error)

func NewTask(store LeaseStore, name string, length time.Duration) *Task

type Node struct{ _ []struct{} }

func (*Node) Close(ctx context.Context) error
func (*Node) ID() string
func (*Node) List(ctx context.Context) ([]Info, error)
func (*Node) Live() int
func (*Node) Name() string

type Store interface {
	Beat(ctx context.Context, id string) (Beat, error)
	Beats(ctx context.Context) ([]Beat, error)
	RemoveBeat(ctx context.Context, b Beat) error
	SaveBeat(ctx context.Context, b Beat) (Beat, error)
	Shared() bool
}

type Task struct{ _ struct{} }

func (*Task) Mine(ctx context.Context) (bool, error)
func (*Task) Release(ctx context.Context) error

type carried = forward.Fields
