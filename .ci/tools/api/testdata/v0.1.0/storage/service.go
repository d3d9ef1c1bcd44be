package service // import "github.com/keystile/keystile/storage/service"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/internal/record/idempotency"
import "github.com/keystile/keystile/internal/record/lease"
import "github.com/keystile/keystile/internal/record/ranking"
import "github.com/keystile/keystile/internal/record/shipping"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/clock"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/nodes"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/trust"
import "time"

const AccessAuto = "auto"

const AccessEveryone = "everyone"

const AccessOwner = "owner"

const ApplyTime time.Duration = 60000000000

type Checkpoint struct {
	Text    secret.Secret "json:\"-\""
	Version int64         "json:\"-\""
	carried
}

type Declared struct {
	Kind      string    "json:\"kind\""
	Name      string    "json:\"name\""
	ID        string    "json:\"id,omitempty\""
	Digest    string    "json:\"digest,omitempty\""
	Made      bool      "json:\"made,omitempty\""
	Waits     bool      "json:\"waits,omitempty\""
	AppliedAt time.Time "json:\"applied_at\""
	Version   int64     "json:\"-\""
	carried
}

var ErrCheckpoint error

const KeyActive = "active"

const KeyNext = "next"

const KeyRetired = "retired"

var Kinds []document.AnyKind

type Mail struct {
	ID        string        "json:\"id\""
	Kind      string        "json:\"kind\""
	Of        string        "json:\"of,omitempty\""
	Content   secret.Secret "json:\"-\""
	CreatedAt time.Time     "json:\"created_at\""
	NextAt    time.Time     "json:\"next_at\""
	Attempts  int           "json:\"attempts\""
	ExpiresAt time.Time     "json:\"expires_at\""
	Version   int64         "json:\"-\""
	carried
}

func (Mail) Wait(at time.Time) time.Duration

const MaxMail = 65536

const MaxMailLife time.Duration = 86400000000000

func New(docs *document.Store, clock *clock.Clock) *Store

func NewSetting(docs *document.Store, name string, value string) (driver.Doc, error)

type Setting struct {
	Name      string    "json:\"name\""
	Value     string    "json:\"value\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	carried
}

const SettingDefaultAccess = "mcp.default_access"

const SettingForcePKCE = "service_config.oauth_force_pkce"

const SettingKind = "setting"

const SettingUserWebhook = "webhooks.users.url"

type SigningKey struct {
	ID        string        "json:\"kid\""
	Alg       string        "json:\"alg\""
	State     string        "json:\"state\""
	Private   secret.Secret "json:\"-\""
	CreatedAt time.Time     "json:\"created_at\""
	RetiredAt time.Time     "json:\"retired_at,omitzero\""
	ExpiresAt time.Time     "json:\"expires_at,omitzero\""
	Version   int64         "json:\"-\""
	carried
}

type Store struct{ _ struct{} }

func (*Store) AddMail(ctx context.Context, m Mail) (Mail, error)
func (*Store) AllDeclared(ctx context.Context, from string, n int) ([]Declared, string, error)
func (*Store) Beat(ctx context.Context, id string) (nodes.Beat, error)
func (*Store) Beats(ctx context.Context) ([]nodes.Beat, error)
func (*Store) Checkpoint(ctx context.Context) (Checkpoint, error)
func (*Store) CountMails(ctx context.Context, kind string, of string, n int) (int, error)
func (*Store) Declared(ctx context.Context, kind string, name string) (Declared, error)
func (*Store) DeleteMail(ctx context.Context, m Mail) error
func (*Store) DueMails(ctx context.Context, by time.Time, n int) ([]Mail, error)
func (*Store) FirstKeys(ctx context.Context, alg string, keys ...SigningKey) error
func (*Store) HMACKey(ctx context.Context, name string) (secret.Secret, error)
func (*Store) HoldApply(ctx context.Context, holder string) error
func (*Store) Issuer(ctx context.Context, issuer string) (trust.Issuer, error)
func (*Store) Issuers(ctx context.Context, from string, n int) ([]trust.Issuer, string, error)
func (*Store) KeyedCall(ctx context.Context, id string) (idempotency.Call, error)
func (*Store) Lease(ctx context.Context, task string) (lease.Lease, error)
func (*Store) Mail(ctx context.Context, id string) (Mail, error)
func (*Store) MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
func (*Store) MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
func (*Store) Rankings(ctx context.Context, of string, from time.Time, to time.Time) (all []ranking.Ranking, more bool, err error)
func (*Store) ReleaseApply(ctx context.Context, holder string) error
func (*Store) RemoveBeat(ctx context.Context, b nodes.Beat) error
func (*Store) RemoveDeclared(ctx context.Context, d Declared) error
func (*Store) RemoveIssuer(ctx context.Context, i trust.Issuer) error
func (*Store) RemoveLease(ctx context.Context, l lease.Lease) error
func (*Store) SaveBeat(ctx context.Context, b nodes.Beat) (nodes.Beat, error)
func (*Store) SaveCheckpoint(ctx context.Context, c Checkpoint) (Checkpoint, error)
func (*Store) SaveDeclared(ctx context.Context, d Declared) (Declared, error)
func (*Store) SaveIssuer(ctx context.Context, i trust.Issuer) (trust.Issuer, error)
func (*Store) SaveKeyedCalls(ctx context.Context, calls ...idempotency.Call) (version int64, err error)
func (*Store) SaveKeys(ctx context.Context, keys ...SigningKey) error
func (*Store) SaveLease(ctx context.Context, l lease.Lease) (lease.Lease, error)
func (*Store) SaveMail(ctx context.Context, m Mail) (Mail, error)
func (*Store) SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error)
func (*Store) SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
func (*Store) SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error)
func (*Store) Set(ctx context.Context, name string, value string) error
func (*Store) SetNew(ctx context.Context, name string, value string) error
func (*Store) SetUserWebhook(ctx context.Context, url string, renew bool) (drawn secret.Secret, err error)
func (*Store) Setting(ctx context.Context, name string) (string, error)
func (*Store) Settings(ctx context.Context) ([]Setting, error)
func (*Store) SigningKeys(ctx context.Context) ([]SigningKey, error)
func (*Store) Stream(ctx context.Context, name string) (shipping.Position, error)
func (*Store) TrailIndex(ctx context.Context, span driver.Span, n int) (docs []driver.Doc, next string, err error)
func (*Store) UserWebhook(ctx context.Context) (url string, secret secret.Secret, err error)

type carried = forward.Fields
