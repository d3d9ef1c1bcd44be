package appacts

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
)

// Store holds the methods of storage that Acts use; *storage.Store has it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	Later(now time.Time) time.Time
}

// Billing decides what tiers cost and how orders take effect; *billing.Billing does. Each may refuses the newest state
// of what it is about to change.
type Billing interface {
	Limit(a storage.App) storage.Quota
	Order(ctx context.Context, clientID, tier, by string, may func(storage.App) error) (o storage.Order, made bool,
		err error)
	Approve(ctx context.Context, orderID, by string, until time.Time,
		may func(storage.Order, storage.App) error) (storage.Order, error)
	Reject(ctx context.Context, orderID, by, reason string, may func(storage.Order, storage.App) error) (storage.Order,
		error)
	Cancel(ctx context.Context, orderID, by string, may func(storage.Order, storage.App) error) (storage.Order, error)
	SetTier(ctx context.Context, clientID, tier, by string, until time.Time, may func(storage.App) error) (storage.App,
		error)
	RemoveApp(ctx context.Context, id string) error // of one that is disabled and whose tokens have ended
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Billing  Billing
	Revoke   func(ctx context.Context, rs ...driver.Revocation) error // ends what an application was granted
	Recorder admin.Recorder
	Forget   func(clientID string) // drops what this process remembers of an application; nil: it remembers nothing
}

// Acts are the acts on applications that are registered here.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts {
	c.Forget = orNothing(c.Forget)
	return &Acts{c}
}

func orNothing(forget func(string)) func(string) {
	if forget == nil {
		return func(string) {}
	}
	return forget
}

// Manages reports whether an actor changes an application, or an order of it, by its client_id and its owner: their own
// ones, and an application itself.
func Manages(by admin.Actor, id, owner string) bool {
	return by.Changes(owner) || by.Application != "" && by.Application == id
}

// fresh refuses a session that is too old to change anything (decision 57). Tokens have none.
func fresh(by admin.Actor) error {
	if by.Bearer {
		return nil
	}
	return by.Fresh()
}

// administrator refuses everybody else, and a session that is too old.
func administrator(by admin.Actor) error {
	if err := by.Admin(); err != nil {
		return err
	}
	return by.Fresh()
}
