package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/gateway/usage"
	keyedcall "github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/internal/record/lease"
	storedranking "github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/lasthop"
)

// Store holds the methods of storage that this package uses; *storage.Store has it.
type Store interface {
	billing.Store
	usage.Store
	shipped
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	ClosedApps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	OnChange(f func(storage.Change)) (stop func()) // of applications, by other processes
	SaveRanking(ctx context.Context, r storedranking.Ranking) (storedranking.Ranking, error)
	// calls with an Idempotency-Key, see Config.FreeRepeats
	KeyedCall(ctx context.Context, id string) (keyedcall.Call, error)
	SaveKeyedCalls(ctx context.Context, calls ...keyedcall.Call) (version int64, err error)
}

// shipped keeps whose usage there is and how far it was shipped, see Config.UsageStream.
type shipped interface {
	MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
	MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
	Stream(ctx context.Context, name string) (shipping.Position, error)
	SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
	lease.Store
}

// Tokens verifies bearer tokens and ends them; *oauth.Tokens does. It is asked on every request,
// so it must do no I/O for a token that it has seen before.
type Tokens interface {
	// Verify returns whom a token speaks for. Its audience must be one of audiences, or a name
	// right below one that ends in a slash; without any, the issuer. It returns
	// ErrInvalidToken for a token that is not valid; any other error means that it cannot be
	// verified now.
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
	// Resources returns the audiences besides the issuer (RFC 8707). Requests with such tokens are
	// counted here, but only handlers that verify these audiences themselves accept them, such as
	// the tool bus.
	Resources() []string
	// Revoke returns once no token that it covers is accepted in this process.
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// Config holds what New needs. Zero values are the defaults of the protocol.
type Config struct {
	Store  Store  // required
	Tokens Tokens // required: oauth.OpenTokens
	Trail  *Trail // required: OpenTrail

	// Signer signs who makes a call, for services that are told so (lasthop.Signed); *oauth.Tokens does. nil: no
	// Upstream is.
	Signer interface {
		SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (statement string, err error)
	}

	// Notifier notifies the owners of applications, by sub, of changes; nil: nobody is
	// notified. Notify does not wait for the delivery.
	Notifier interface {
		Notify(ctx context.Context, sub string, n event.Notice)
	}

	Decider billing.Decider  // decides about orders; nil: see billing.Config
	Plans   []billing.Plan   // nil: billing.Plans()
	Limiter counters.Limiter // nil: exact, within this process
	// requests in any minute of an address without a valid token; 60 (protocol 8). A /56 of IPv6 may do 4 times
	// as much, a /48 16 times
	PerAddress int
	Shadow     Shadow   // rates that refuse nobody, and are reported
	Products   []string // what calls may be charged to, beside ProductIdentity and its like
	CORS       CORS

	// FreeRepeats repetitions of a call that was charged are not charged again, if they have the
	// Idempotency-Key that it had, are the same in all that its service sees, and come within 24 hours.
	// 0: 1. -1: keys are not looked at.
	FreeRepeats int

	// StreamLife bounds how long a call may go on, such as a WebSocket or server-sent events. 0: 24 hours. It ends
	// before that with its token.
	StreamLife time.Duration

	ExemptPaths []string // paths that are neither counted nor looked at, beside /healthz/

	// ErrorWriters write the refusals of Front and Guard, by path, where clients expect another shape than
	// JSON with code, errcode and msg. The headers are set already. A path that ends in a
	// slash covers everything below it.
	ErrorWriters map[string]func(w http.ResponseWriter, r *http.Request, status int, msg string)

	// HSTS makes Front send Strict-Transport-Security for a year (RFC 6797) on every answer. Set
	// it only for services that are reached by https: browsers that have seen it do not come
	// back by http.
	HSTS bool

	// Journal is a folder where charged calls are stored before they are answered, so that a
	// killed process loses none. "": a killed process loses up to a second of calls.
	Journal string

	// UsageStream says where to usage is shipped, an hour at a time. Every process on a store has it, or none:
	// calls of others are in no row.
	UsageStream stream.Config

	// TrustedProxies may report the method and path of a call that they ask about at
	// /api/v1/verify. Where ClientIP is nil, they may report the client's address too. nil:
	// none.
	TrustedProxies []netip.Prefix

	ClientIP func(*http.Request) netip.Addr // nil: the peer's address, or what TrustedProxies say it is
	Log      *slog.Logger                   // nil: slog.Default()

	// Tracer records a span of each request that comes through Front or a Guard, with those of everything
	// behind them below it; nil: none, unless a middleware in front has begun one. A parent that a request
	// names is anybody's word: its sampled flag is the provider's to judge.
	Tracer trace.TracerProvider
}
