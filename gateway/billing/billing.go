package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store holds the methods of storage that billing uses; *storage.Store has it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	DeleteApp(ctx context.Context, a storage.App, used storage.Quota, canceled ...storage.Order) error
	ClosedApp(ctx context.Context, id string) (storage.App, error)
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, after string, n int) ([]storage.Order, string, error)
	SaveOrder(ctx context.Context, o storage.Order, a storage.App,
		others ...storage.Order) (storage.Order, storage.App, error)
	OrdersOfApps(ctx context.Context, first, last, from string, n int) ([]storage.Order, string, error)
	// Later returns the time by which all processes that share the store date what they agree on.
	Later(now time.Time) time.Time
	counted
}

// counted are the calls that are charged.
type counted interface {
	Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
}

// Decider decides a new order. A host that takes payments brings its own, and decides
// pending orders with [Billing.Approve] and [Billing.Reject].
type Decider interface {
	// Decide returns storage.OrderApproved, OrderRejected with the reason why, OrderPending or
	// OrderContact. It may be called again for the same order after a conflict, and must not
	// charge twice for one id. With an error nothing is stored.
	Decide(ctx context.Context, order storage.Order, app storage.App) (status, reason string, err error)
}

// Config holds what New needs.
type Config struct {
	Store Store  // required
	Plans []Plan // nil: Plans()

	// Decider decides new orders; nil: TierFree is approved, enterprise is OrderContact,
	// and anything else waits for an administrator.
	Decider Decider

	// Usage returns the charged calls of one application; nil: the Store's. A running gateway's
	// own includes the last calls too.
	Usage func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)

	// UsageOf is Usage of several applications in one read, by application; nil: each is read by Usage, or
	// by the Store's UsageOf if it has that and Usage is nil.
	UsageOf func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error)

	// Journal is the folder of a gateway that is not running: calls that a killed process has
	// left in it are sent to the Store before Used answers. "": none.
	Journal string

	// Changed is called for each application whose tier an order has changed; nil: none.
	Changed func(clientID string)
}

// Billing applies the billing rules to the records of a store.
type Billing struct {
	c     Config
	plans plans
}

// now is the time by which tiers begin and end: of the store, so that a node whose clock is behind does not refuse what
// another one has given.
func (b *Billing) now() time.Time { return b.c.Store.Later(time.Now()) }

// New makes a Billing. It reports everything that is wrong with the Config at once.
func New(c Config) (*Billing, error) {
	t, err := newPlans(c.Plans)
	if c.Store == nil {
		err = errors.Join(errors.New("Store is missing"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("billing: %w", err)
	}
	if c.Decider == nil {
		c.Decider = defaultDecider{}
	}
	if c.Usage == nil && c.UsageOf == nil {
		c.UsageOf = ledger.InOne(c.Store.UsageOf)
	}
	if c.Usage == nil {
		c.Usage = c.Store.Usage
	}
	if c.UsageOf == nil {
		c.UsageOf = ledger.OneByOne(c.Usage)
	}
	if c.Changed == nil {
		c.Changed = func(string) {}
	}
	return &Billing{c, t}, nil
}

// Plan returns the plan of a tier. An unknown tier, which no application has, gets that of
// storage.TierFree.
func (b *Billing) Plan(tier string) Plan { return b.plans.of(tier) }

// Plans returns the plans of all tiers, the lowest first.
func (b *Billing) Plans() (all []Plan) {
	for _, tier := range ranks {
		all = append(all, b.plans[tier])
	}
	return all
}

// defaultDecider is the default Decider.
type defaultDecider struct{}

func (defaultDecider) Decide(_ context.Context, o storage.Order, _ storage.App) (status, reason string, err error) {
	switch o.Tier {
	case storage.TierFree:
		return storage.OrderApproved, "", nil
	case storage.TierEnterprise:
		return storage.OrderContact, "", nil
	}
	return storage.OrderPending, "", nil
}
