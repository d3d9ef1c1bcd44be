package billing // import "github.com/keystile/keystile/gateway/billing"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/driver"
import "time"

type Billing struct{ _ []struct{} }

func (*Billing) App(ctx context.Context, id string) (storage.App, error)
func (*Billing) Approve(ctx context.Context, orderID string, by string, until time.Time, may func(storage.Order, storage.App) error) (storage.Order, error)
func (*Billing) Cancel(ctx context.Context, orderID string, by string, may func(storage.Order, storage.App) error) (storage.Order, error)
func (*Billing) FirstHour(app storage.App, now time.Time) time.Time
func (*Billing) Forecast(ctx context.Context, app storage.App, now time.Time) (Forecast, error)
func (*Billing) Limit(app storage.App) storage.Quota
func (*Billing) Order(ctx context.Context, clientID string, tier string, by string, may func(storage.App) error) (order storage.Order, made bool, err error)
func (*Billing) Plan(tier string) Plan
func (*Billing) Plans() (all []Plan)
func (*Billing) Quota(ctx context.Context, app storage.App, now time.Time) (Quota, error)
func (*Billing) Reject(ctx context.Context, orderID string, by string, reason string, may func(storage.Order, storage.App) error) (storage.Order, error)
func (*Billing) RemoveApp(ctx context.Context, id string) error
func (*Billing) SetTier(ctx context.Context, clientID string, tier string, by string, until time.Time, may func(storage.App) error) (storage.App, error)
func (*Billing) Settle(ctx context.Context, app storage.App, at time.Time) (Settlement, error)
func (*Billing) SettleAll(ctx context.Context, page storage.Settling, at time.Time) (all []Settlement, totalFen int64, err error)
func (*Billing) Usage(ctx context.Context, app storage.App, from time.Time, to time.Time, daily bool) (rows []driver.Count, over int64, err error)
func (*Billing) UsageSince(ctx context.Context, app storage.App, since time.Time, from time.Time, to time.Time, daily bool) (rows []driver.Count, over int64, err error)
func (*Billing) Used(ctx context.Context, app storage.App) (storage.Quota, error)

type Config struct {
	Store   Store
	Plans   []Plan
	Decider Decider
	Usage   func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error)
	Journal string
	Changed func(clientID string)
}

const Currency = "CNY"

type Decider interface {
	Decide(ctx context.Context, order storage.Order, app storage.App) (status string, reason string, err error)
}

type Forecast struct {
	Plan     Plan
	ResetAt  time.Time
	Used     int64
	PerDay   int64
	Expected int64
	Over     int64
	OverFen  int64
	RunsOut  time.Time
}

func New(c Config) (*Billing, error)

func ParseMonth(text string, now time.Time) (time.Time, error)

const PerDay Period = "day"

const PerMonth Period = "month"

type Period string

type Plan struct {
	Tier      string
	PerMinute int
	Calls     int64
	Period    Period
	Branding  bool
	PriceFen  int64
	OverFen   int64
	SLA       string
}

func Plans() []Plan

type Quota struct {
	Plan      Plan
	Remaining int64
	ResetAt   time.Time
	Month     map[string]int64
}

type SettledCall struct {
	Product string "json:\"product\""
	Calls   int64  "json:\"calls\""
	Errors  int64  "json:\"errors\""
	Overage int64  "json:\"overage\""
}

type SettledTier struct {
	Tier    string "json:\"tier\""
	From    string "json:\"from\""
	To      string "json:\"to\""
	Limit   int64  "json:\"calls_limit\""
	Period  Period "json:\"period\""
	Calls   int64  "json:\"calls\""
	Overage int64  "json:\"overage\""
	_       struct{}
}

type Settlement struct {
	ClientID     string        "json:\"client_id\""
	Name         string        "json:\"name\""
	Month        string        "json:\"month\""
	Final        bool          "json:\"final\""
	Tiers        []SettledTier "json:\"tiers\""
	Products     []SettledCall "json:\"products\""
	Calls        int64         "json:\"calls\""
	Overage      int64         "json:\"overage\""
	Subscription int64         "json:\"subscription_fen\""
	OverageFen   int64         "json:\"overage_fen\""
	TotalFen     int64         "json:\"total_fen\""
}

type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	ClosedApp(ctx context.Context, id string) (storage.App, error)
	DeleteApp(ctx context.Context, a storage.App, used storage.Quota, canceled ...storage.Order) error
	Later(now time.Time) time.Time
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, after string, n int) ([]storage.Order, string, error)
	OrdersOfApps(ctx context.Context, first string, last string, from string, n int) ([]storage.Order, string, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	SaveOrder(ctx context.Context, o storage.Order, a storage.App, others ...storage.Order) (storage.Order, storage.App, error)
	counted
}

type counted interface {
	Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
}
