package nodes // import "github.com/keystile/keystile/storage/nodes"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
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

func Look(ctx context.Context, store Store) ([]Info, error)

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

type carried = forward.Fields
