package command // import "github.com/keystile/keystile/cmd/keystile/command"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "io"
import "log/slog"
import "time"

func Backend(name string, open func(dir string) (driver.Backend, error)) Storage

func Bolt() Storage

type Finding struct {
	Name  string
	State string
	Says  string
	Do    string
}

type Gauge struct {
	Name  string
	Help  string
	Value func() float64
}

func Main(s Storage)

type Migration struct {
	Number int
	Name   string
	At     time.Time
}

type Migrations struct {
	Status func(context.Context) ([]Migration, error)
	Up     func(context.Context) ([]Migration, error)
	SQL    func(context.Context) (script string, err error)
}

func Postgres() Storage

type Storage struct {
	Name         string
	Open         func(ctx context.Context, path string) (driver.Backend, error)
	OpenLogging  func(ctx context.Context, path string) (driver.Backend, error)
	OpenReadOnly func(ctx context.Context, path string) (driver.Backend, error)
	Copy         func(b driver.Backend, w io.Writer) (int64, error)
	Check        func(path string) (map[string]int, error)
	Compact      func(path string) (before int64, after int64, err error)
	Beside       []string
	Schemes      []string
	OpenAt       func(ctx context.Context, address string, w Watch) (driver.Backend, error)
	Instead      string
	Gauges       func(b driver.Backend) []Gauge
	Migrations   func(address string) Migrations
	Findings     func(ctx context.Context, address string, nodes int) []Finding
	ReadAt       func(ctx context.Context, address string, w Watch) (driver.Backend, error)
	Others       []Storage
}

type Watch struct {
	Log     *slog.Logger
	Observe func(ctx context.Context, statement string, took time.Duration, err error)
}
