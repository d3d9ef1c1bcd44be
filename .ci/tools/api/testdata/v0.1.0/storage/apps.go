package apps // import "github.com/keystile/keystile/storage/apps"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/claim"
import "github.com/keystile/keystile/storage/client"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/internal/fence"
import "github.com/keystile/keystile/storage/secret"
import "time"

type App struct {
	ID                   string              "json:\"id\""
	Secrets              []AppSecret         "json:\"secrets,omitempty\""
	Name                 string              "json:\"name\""
	Domains              []string            "json:\"domains\""
	RedirectURIs         []string            "json:\"redirect_uris,omitempty\""
	AllowHTTPRedirect    bool                "json:\"allow_http_redirect,omitempty\""
	BackchannelLogoutURI string              "json:\"backchannel_logout_uri,omitempty\""
	OperatorLogoutURI    string              "json:\"operator_logout_uri,omitempty\""
	Held                 []string            "json:\"held,omitempty\""
	Public               bool                "json:\"public,omitempty\""
	ForbidPlain          bool                "json:\"forbid_plain,omitempty\""
	IDTokenAlg           string              "json:\"id_token_alg,omitempty\""
	FirstParty           bool                "json:\"first_party,omitempty\""
	DPoP                 string              "json:\"dpop,omitempty\""
	MFA                  string              "json:\"mfa,omitempty\""
	Tier                 string              "json:\"tier\""
	Tiers                []TierChange        "json:\"tiers,omitempty\""
	Order                string              "json:\"order,omitempty\""
	LegacySuccessCode    *int                "json:\"legacy_success_code,omitempty\""
	ForbidPlainKey       bool                "json:\"forbid_plain_key,omitempty\""
	LegacyNested         bool                "json:\"legacy_nested,omitempty\""
	Brand                *Brand              "json:\"brand,omitempty\""
	Owner                string              "json:\"owner,omitempty\""
	Spent                Quota               "json:\"spent,omitzero\""
	Client               *client.Description "json:\"client,omitempty\""
	Admission            *access.Admission   "json:\"admission,omitempty\""
	GroupFilter          []string            "json:\"group_filter,omitempty\""
	GroupsInAccessToken  bool                "json:\"groups_in_access_token,omitempty\""
	Claims               []claim.Rule        "json:\"claims,omitempty\""
	Keys                 *client.Keys        "json:\"keys,omitempty\""
	Exchange             bool                "json:\"exchange,omitempty\""
	ExchangeFor          []string            "json:\"exchange_for,omitempty\""
	Disabled             bool                "json:\"disabled,omitempty\""
	Counted              bool                "json:\"counted,omitempty\""
	CreatedAt            time.Time           "json:\"created_at\""
	UpdatedAt            time.Time           "json:\"updated_at\""
	Version              int64               "json:\"-\""
	carried
}

func (App) AllowsRedirect(raw string) error
func (App) AppKey() secret.Secret
func (App) Authenticates(text string, at time.Time) bool
func (App) Check() error
func (App) Complete(now time.Time) (App, error)
func (App) Host() string
func (App) KeyBinding() string
func (App) Live(at time.Time) bool
func (*App) RotateSecret(now time.Time, overlap time.Duration) error
func (*App) SetTier(tier string, from time.Time, until time.Time)
func (App) Shown(names []string) []string
func (App) SignsIDTokensWith() string
func (App) SuccessCode() int
func (App) TakesSecret() bool
func (App) Terms() string
func (App) TierAt(at time.Time) string
func (App) TierSince(at time.Time) time.Time
func (App) TierUntil(at time.Time) time.Time
func (App) UsedBefore(period Quota) int64

type AppSecret struct {
	Secret    secret.Secret "json:\"-\""
	CreatedAt time.Time     "json:\"created_at\""
	ExpiresAt time.Time     "json:\"expires_at,omitzero\""
}

var Apps document.Kind[App]

type Brand struct {
	Name  string "json:\"name,omitempty\""
	Logo  string "json:\"logo,omitempty\""
	Color string "json:\"color,omitempty\""
}

type Caller struct {
	AppID         string
	UserID        string
	Scope         string
	Audience      string
	TokenID       string
	Grant         string
	GrantedAt     time.Time
	ExpiresAt     time.Time
	Actors        []string
	Via           []Step
	KeyThumbprint string
}

func (Caller) Account() string

const ConsoleAppID = "console"

func CountApp(t *document.Tally, a *App)

const DPoPAllowed = "allowed"

const DPoPOff = "off"

const DPoPRequired = "required"

var ErrTooManyApps error

var Fences document.Kind[fence.Fence]

const KeysAppID = "apikey"

var Kinds []document.AnyKind

func New(docs *document.Store, groups fence.Groups) *Store

func NormalizeDomain(typed string) (string, error)

type Order struct {
	ID          string    "json:\"id\""
	AppID       string    "json:\"app\""
	Owner       string    "json:\"owner\""
	By          string    "json:\"by\""
	From        string    "json:\"from\""
	Tier        string    "json:\"tier\""
	Status      string    "json:\"status\""
	AmountFen   int64     "json:\"amount_fen\""
	CreatedAt   time.Time "json:\"created_at\""
	DecidedAt   time.Time "json:\"decided_at,omitzero\""
	DecidedBy   string    "json:\"decided_by,omitempty\""
	Reason      string    "json:\"reason,omitempty\""
	EffectiveAt time.Time "json:\"effective_at,omitzero\""
	ExpiresAt   time.Time "json:\"expires_at,omitzero\""
	PriorEnd    time.Time "json:\"prior_end,omitzero\""
	Counted     bool      "json:\"counted,omitempty\""
	Version     int64     "json:\"-\""
	carried
}

func (Order) Open() bool

const OrderApproved = "approved"

const OrderCanceled = "canceled"

const OrderContact = "contact"

const OrderPending = "pending"

type OrderQuery struct {
	Owner  string
	AppID  string
	Status string
}

const OrderRejected = "rejected"

var Orders document.Kind[Order]

type Quota struct {
	Period string    "json:\"period\""
	Until  time.Time "json:\"until\""
	Calls  int64     "json:\"calls\""
}

func RedirectOrigin(raw string) string

type Settling struct {
	Apps   []App
	Next   string
	Closed bool
	Orders []Order
	Whole  bool
}

var Spents document.Kind[spent]

type Step struct {
	AppID   string
	TokenID string
}

type Store struct{ _ struct{} }

func (*Store) App(ctx context.Context, id string) (App, error)
func (*Store) AppToSettle(ctx context.Context, id string) (out Settling, err error)
func (*Store) Apps(ctx context.Context, owner string, from string, n int) ([]App, string, error)
func (*Store) AppsToSettle(ctx context.Context, owner string, after string, n int) (Settling, error)
func (*Store) ClientHost(ctx context.Context, host string) (client.Host, error)
func (*Store) ClientHosts(ctx context.Context) ([]client.Host, error)
func (*Store) ClientHostsFrom(ctx context.Context, from string, n int) ([]client.Host, string, error)
func (*Store) Clients(ctx context.Context, from string, n int) ([]App, string, error)
func (*Store) ClosedApp(ctx context.Context, id string) (App, error)
func (*Store) ClosedApps(ctx context.Context, owner string, from string, n int) (page []App, next string, err error)
func (*Store) ClosedAppsToSettle(ctx context.Context, owner string, after string, n int) (Settling, error)
func (*Store) CreateApp(ctx context.Context, a App, most int, limit Quota) (App, error)
func (*Store) DeleteApp(ctx context.Context, a App, used Quota, canceled ...Order) error
func (*Store) DisownAccounts(ctx context.Context, owner string) error
func (*Store) FindApps(ctx context.Context, prefix string, owner string, from string, n int) ([]App, string, error)
func (*Store) ForgetClientHost(ctx context.Context, h client.Host) error
func (*Store) GiveApp(ctx context.Context, a App, owner string) (App, error)
func (*Store) KeepClient(ctx context.Context, id string) error
func (*Store) Order(ctx context.Context, id string) (Order, error)
func (*Store) Orders(ctx context.Context, q OrderQuery, after string, n int) (page []Order, next string, err error)
func (*Store) OrdersOfApps(ctx context.Context, first string, last string, from string, n int) (page []Order, next string, err error)
func (*Store) RemoveClient(ctx context.Context, a App) error
func (*Store) SaveApp(ctx context.Context, a App) (App, error)
func (*Store) SaveOrder(ctx context.Context, o Order, a App, others ...Order) (Order, App, error)
func (*Store) SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error)

type TierChange struct {
	Tier string    "json:\"tier\""
	At   time.Time "json:\"at\""
}

const TierEnterprise = "enterprise"

const TierFree = "free"

const TierWhiteLabel = "white_label"

func WriteApp(ctx context.Context, s *Store, a App, change document.Tally, beside ...driver.Doc) (App, error)

type carried = forward.Fields

type spent struct {
	carried
	Owner   string  "json:\"owner\""
	Used    []Quota "json:\"used\""
	Version int64   "json:\"-\""
}
