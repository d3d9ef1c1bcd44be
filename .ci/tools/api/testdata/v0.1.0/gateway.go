package gateway // import "github.com/keystile/keystile/gateway"

import "context"
import "github.com/keystile/keystile/gateway/billing"
import "github.com/keystile/keystile/gateway/stream"
import "github.com/keystile/keystile/gateway/usage"
import "github.com/keystile/keystile/internal/record/idempotency"
import "github.com/keystile/keystile/internal/record/lease"
import "github.com/keystile/keystile/internal/record/ranking"
import "github.com/keystile/keystile/internal/record/shipping"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/counters"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/groups"
import "github.com/keystile/keystile/storage/lasthop"
import "go.opentelemetry.io/otel/trace"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type CORS struct {
	Open     []string
	AlsoOpen []string
	Shared   []string
	Origins  []string
}

func CallerFrom(ctx context.Context) (storage.Caller, bool)

type Config struct {
	Store  Store
	Tokens Tokens
	Trail  *Trail
	Signer interface {
		SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (statement string, err error)
	}
	Notifier interface {
		Notify(ctx context.Context, sub string, n event.Notice)
	}
	Decider        billing.Decider
	Plans          []billing.Plan
	Limiter        counters.Limiter
	PerAddress     int
	Shadow         Shadow
	Products       []string
	CORS           CORS
	FreeRepeats    int
	StreamLife     time.Duration
	ExemptPaths    []string
	ErrorWriters   map[string]func(w http.ResponseWriter, r *http.Request, status int, msg string)
	HSTS           bool
	Journal        string
	UsageStream    stream.Config
	TrustedProxies []netip.Prefix
	ClientIP       func(*http.Request) netip.Addr
	Log            *slog.Logger
	Tracer         trace.TracerProvider
}

var ErrEnded error

var ErrInvalidToken error

type Gateway struct{ _ []struct{} }

func (*Gateway) Billing() *billing.Billing
func (*Gateway) Charge(caller storage.Caller, product string, tool string, took time.Duration, failed bool) error
func (*Gateway) ChargeOnce(ctx context.Context, caller storage.Caller, product string, tool string, content []byte, took time.Duration, failed bool) error
func (*Gateway) Close(ctx context.Context) error
func (*Gateway) Forget(clientID string)
func (*Gateway) Front(next http.Handler) http.Handler
func (*Gateway) Guard(product string, service http.Handler) http.Handler
func (*Gateway) Health() error
func (*Gateway) Meter(product string, service http.Handler) http.Handler
func (*Gateway) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Gateway) OpenAPI() []byte
func (*Gateway) Patterns() []string
func (*Gateway) Proxy(u Upstream) (http.Handler, error)
func (*Gateway) Quota(ctx context.Context, caller storage.Caller) (limit int64, left int64, reset time.Time, ok bool)
func (*Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Gateway) Shipping() (s stream.Stats, on bool)
func (*Gateway) Stats() Stats
func (*Gateway) Usage() *usage.Reader

const HeaderClient = "X-Keystile-Client"

const HeaderScope = "X-Keystile-Scope"

const HeaderTier = "X-Keystile-Tier"

const HeaderUser = "X-Keystile-User"

func New(ctx context.Context, c Config) (*Gateway, error)

func OpenTrail(ctx context.Context, c TrailConfig) (*Trail, error)

const ProductAI = "ai"

const ProductIdentity = "identity"

const ProductMCP = "mcp"

const ProductPayment = "payment"

const ProductStorage = "storage"

type Shadow struct {
	Addresses bool
	Tiers     []string
}

type Stats struct {
	Charged            uint64
	Repeated           uint64
	Unremembered       uint64
	StreamsEnded       uint64
	OverRate           uint64
	Uncounted          uint64
	AuditStored        uint64
	AuditWaiting       uint64
	AuditLost          uint64
	AuditLostAnonymous uint64
	Shadowed           map[string]uint64
	JournalMapped      bool
}

type Store interface {
	Apps(ctx context.Context, owner string, from string, n int) ([]storage.App, string, error)
	ClosedApps(ctx context.Context, owner string, from string, n int) ([]storage.App, string, error)
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	KeyedCall(ctx context.Context, id string) (idempotency.Call, error)
	OnChange(f func(storage.Change)) (stop func())
	SaveKeyedCalls(ctx context.Context, calls ...idempotency.Call) (version int64, err error)
	SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error)
	User(ctx context.Context, sub string) (storage.User, error)
	billing.Store
	usage.Store
	shipped
}

type Tokens interface {
	Resources() []string
	Revoke(ctx context.Context, rs ...driver.Revocation) error
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

type Trail struct{ _ []struct{} }

func (*Trail) Close(ctx context.Context) error
func (*Trail) Note(e event.Event)
func (*Trail) NoteNow(ctx context.Context, e event.Event) error
func (*Trail) Search(ctx context.Context, q event.Query) (event.Page, error)
func (*Trail) Shipping() (s stream.Stats, on bool)
func (*Trail) State(ctx context.Context) (event.TrailState, error)
func (*Trail) Verify(ctx context.Context, read func(records int)) (event.TrailReport, error)

type TrailConfig struct {
	Store interface {
		Append(ctx context.Context, records ...driver.Record) error
		Appended(ctx context.Context) (uint64, error)
		Checkpoint(ctx context.Context) (storage.Checkpoint, error)
		Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
		Prune(ctx context.Context, through uint64) (int, error)
		Reached(now time.Time) time.Time
		Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
		SaveCheckpoint(ctx context.Context, c storage.Checkpoint) (storage.Checkpoint, error)
		SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
		SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error)
		Stream(ctx context.Context, name string) (shipping.Position, error)
		TrailIndex(ctx context.Context, span driver.Span, n int) ([]driver.Doc, string, error)
		lease.Store
	}
	Keep     time.Duration
	MaxBytes int64
	Observe  func(event.Event)
	Stream   stream.Config
	Log      *slog.Logger
}

type Upstream struct {
	Product    string
	URL        string
	Strip      string
	KeepBearer bool
	Identity   lasthop.Identity
	PerSecond  float64
	Burst      int
	MaxWait    time.Duration
	Timeout    time.Duration
	UploadRate int
}

type shipped interface {
	MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
	MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
	SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
	Stream(ctx context.Context, name string) (shipping.Position, error)
	lease.Store
}
