package storage // import "github.com/keystile/keystile/storage"

import "context"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/apps"
import "github.com/keystile/keystile/storage/authn"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/groups"
import "github.com/keystile/keystile/storage/internal/clock"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/people"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/service"
import "github.com/keystile/keystile/storage/state"
import "github.com/keystile/keystile/storage/tools"
import "time"

const APIKeyPattern = "\\bks_[0-9A-Za-z_-]{32}[0-9A-Za-z]{6}\\b"

const AccessAuto = "auto"

const AccessEveryone = "everyone"

const AccessOwner = "owner"

type App = apps.App

type AppSecret = apps.AppSecret

type Brand = apps.Brand

type Caller = apps.Caller

type Capability = tools.Capability

const CapabilityMCP = "mcp"

const CapabilityREST = "rest"

const CapabilityStatic = "static"

type Change = state.Change

const ChangedAccess = "access"

const ChangedApps = "app"

const ChangedBundles = "bundle"

const ChangedCapabilities = "capability"

const ChangedKeys = "key"

const ChangedSettings = "setting"

const ChangedUsers = "user"

type Checkpoint = service.Checkpoint

type Consent = people.Consent

const ConsoleAppID = "console"

type Counts = state.Counts

const DPoPAllowed = "allowed"

const DPoPOff = "off"

const DPoPRequired = "required"

type Delivery = tools.Delivery

const DeliveryLife time.Duration = 604800000000000

func DrawSecret() Secret

var ErrCheckpoint error

var ErrClock error

var ErrConflict error

var ErrExists error

var ErrInvalid error

var ErrLastAdmin error

var ErrMasterKey error

var ErrMoved error

var ErrNewer error

var ErrNotFound error

var ErrRegressed error

var ErrRevoked error

var ErrSpent error

var ErrStillOwns error

var ErrTooManyApps error

var ErrUnavailable error

var ErrUnfinished error

type Factors = authn.Factors

type Feature = state.Feature

func HashCookie(cookie string) string

type Identity struct {
	Begun bool
	ID    string
}

func IdentityOf(ctx context.Context, backend driver.Backend) (Identity, error)

type Invitation = people.Invitation

const KeyActive = "active"

const KeyNext = "next"

const KeyRetired = "retired"

const KeysAppID = "apikey"

func KnownFeatures() []Feature

type Login = people.Login

const LoginAlipay = "alipay"

const LoginDingTalk = "dingtalk"

const LoginDouyin = "douyin"

const LoginEmail = "email"

const LoginFeishu = "feishu"

const LoginQQ = "qq"

const LoginSelf = "self"

const LoginWX = "wx"

const LoginWeCom = "wecom"

const LogoutLife time.Duration = 10800000000000

type Mail = service.Mail

type MasterKey = secret.MasterKey

const MaxInvitationLife time.Duration = 7776000000000000

const MaxMail = 65536

const MaxMailLife time.Duration = 86400000000000

const MaxPayload = 65536

const MaxSessionApps = 40

const MaxTicketLife time.Duration = 3600000000000

const MaxTimeout time.Duration = 600000000000

const MaxTold = 500

const MaxWaiting = 50

type NameTaken = tools.NameTaken

func NewCookie() string

func NewMasterKey() MasterKey

func NewSecret(text string) Secret

func NormalizeDomain(typed string) (string, error)

func Open(ctx context.Context, backend driver.Backend, keys ...MasterKey) (*Store, error)

type OpenID = people.OpenID

type Order = apps.Order

const OrderApproved = "approved"

const OrderCanceled = "canceled"

const OrderContact = "contact"

const OrderPending = "pending"

type OrderQuery = apps.OrderQuery

const OrderRejected = "rejected"

func ParseMasterKey(text string) (MasterKey, error)

type Place = tools.Place

type Quota = apps.Quota

func RedirectOrigin(raw string) string

func RetryOnConflict[T any](ctx context.Context, change func() (T, error)) (T, error) {}

const RoleAdmin = "admin"

const RoleAuditor = "auditor"

const RoleDeveloper = "developer"

type Secret = secret.Secret

type Session = authn.Session

type SessionQuery = authn.SessionQuery

type Setting = service.Setting

const SettingDefaultAccess = "mcp.default_access"

const SettingForcePKCE = "service_config.oauth_force_pkce"

type Settling = apps.Settling

type SigningKey = service.SigningKey

type Step = apps.Step

type Store struct {
	*documents
	*storeClock
	*peopleStore
	*groupStore
	*authnStore
	*appStore
	*toolStore
	*serviceStore
}

func (*Store) Admits(ctx context.Context, a App, u User) (bool, error)
func (*Store) Append(ctx context.Context, records ...driver.Record) error
func (*Store) Appended(ctx context.Context) (uint64, error)
func (*Store) AppsAndUsers(ctx context.Context, ids []string, subs []string) (a []App, u []User, err error)
func (*Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
func (*Store) CreateFirst(ctx context.Context, u User, app *App, set map[string]string, by ...Login) (User, error)
func (*Store) CreateUsers(ctx context.Context, all []people.Newcomer, in [][]groups.Group) (made []User, err error)
func (*Store) DefaultAccess(ctx context.Context, ways access.Ways) (string, error)
func (*Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
func (*Store) Identify(ctx context.Context, proposed string) (id string, err error)
func (*Store) Issue(ctx context.Context, tokens ...driver.Token) error
func (*Store) MayHaveStrangers(ctx context.Context) (bool, error)
func (*Store) NoteWays(ctx context.Context, ways access.Ways) error
func (*Store) OwnedBy(ctx context.Context, owner string, nApps int, nOrders int, nCapabilities int) (a []App, more bool, o []Order, c []Capability, err error)
func (*Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
func (*Store) Prune(ctx context.Context, through uint64) (int, error)
func (*Store) Ready(ctx context.Context) error
func (*Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
func (*Store) Recount(ctx context.Context) (c Counts, err error)
func (*Store) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error
func (*Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
func (*Store) RevokeDated(ctx context.Context, rs ...driver.Revocation) (dated []driver.Revocation, err error)
func (*Store) SaveAppAs(ctx context.Context, setting string, a App) (App, error)
func (*Store) Sweep(ctx context.Context, at time.Time) (int, error)
func (*Store) SweepEvery(ctx context.Context, every time.Duration, failed func(error))
func (*Store) Token(ctx context.Context, key driver.Key) (driver.Token, error)
func (*Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
func (*Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)

type Ticket = authn.Ticket

type TierChange = apps.TierChange

const TierEnterprise = "enterprise"

const TierFree = "free"

const TierWhiteLabel = "white_label"

type User = people.User

type appStore = apps.Store

type authnStore = authn.Store

type documents = document.Store

type groupStore = groups.Store

type peopleStore = people.Store

type serviceStore = service.Store

type storeClock = clock.Clock

type toolStore = tools.Store
