package usage // import "github.com/keystile/keystile/gateway/usage"

import "context"
import "github.com/keystile/keystile/gateway/billing"
import "github.com/keystile/keystile/internal/record/ranking"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/driver"
import "time"

const Agents = "agents"

type Answer struct {
	From    time.Time
	To      time.Time
	Daily   bool
	By      string
	Series  []Row
	Totals  map[string]int64
	Overage int64
	Before  int64
	Earlier []Row
	Omitted Omitted
}

const Apps = "apps"

const ByAgent = "agent"

const ByMember = "member"

const ByProduct = "product"

const ByTool = "tool"

const ByUser = "user"

type Config struct {
	Store    Store
	Billing  *billing.Billing
	Products []string
	Series   func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	SeriesOf func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error)
	Live     func(of string, from time.Time, to time.Time) []ranking.Ranking
}

var ErrBusy error

type Figures struct {
	From   time.Time
	To     time.Time
	Daily  bool
	Series []Point
	Total  Point
}

type FiguresQuery struct {
	From    time.Time
	To      time.Time
	Daily   bool
	Product string
}

const MaxDays time.Duration = 34560000000000000

const MaxHours time.Duration = 2764800000000000

const MaxPoints = 744

const MaxTopDays = 32

func New(c Config) (*Reader, error)

type Omitted struct {
	Names int
	Calls int64
}

type Point struct {
	At     time.Time
	Calls  int64
	Errors int64
	P50    time.Duration
	P95    time.Duration
	P99    time.Duration
}

type Query struct {
	ClientID string
	From     time.Time
	To       time.Time
	Daily    bool
	By       string
	Product  string
	Before   bool
	Account  storage.App
}

func (Query) Check() (Query, error)

type Reader struct{ _ []struct{} }

func (*Reader) Calls(ctx context.Context, apps []string, from time.Time, to time.Time) (map[string]Row, error)
func (*Reader) Figures(ctx context.Context, q FiguresQuery) (Figures, error)
func (*Reader) Forecast(ctx context.Context, clientID string) (billing.Forecast, error)
func (*Reader) Top(ctx context.Context, q TopQuery) ([]TopEntry, error)
func (*Reader) Usage(ctx context.Context, q Query) (Answer, error)

type Row struct {
	At     time.Time
	Name   string
	Calls  int64
	Errors int64
}

type Store interface {
	Rankings(ctx context.Context, of string, from time.Time, to time.Time) (all []ranking.Ranking, more bool, err error)
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
}

const Tools = "tools"

type TopEntry struct {
	Name    string
	Calls   int64
	Errors  int64
	AtLeast bool
}

type TopQuery struct {
	Of   string
	From time.Time
	To   time.Time
	N    int
}

const Users = "users"
