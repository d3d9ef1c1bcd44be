package storage // import "github.com/keystile/keystile/storage"

import "context"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/authn"
import "github.com/keystile/keystile/storage/client"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/forward"
import "github.com/keystile/keystile/storage/keyed"
import "github.com/keystile/keystile/storage/nodes"
import "github.com/keystile/keystile/storage/ranking"
import "github.com/keystile/keystile/storage/shipped"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "time"

const AccessAuto = "auto"

const AccessEveryone = "everyone"

const AccessOwner = "owner"

type App struct {
	ID                   string              "json:\"id\""
	Secrets              []AppSecret         "json:\"secrets,omitempty\""
	Name                 string              "json:\"name\""
	Domains              []string            "json:\"domains\""
	RedirectURIs         []string            "json:\"redirect_uris,omitempty\""
	AllowHTTPRedirect    bool                "json:\"allow_http_redirect,omitempty\""
	BackchannelLogoutURI string              "json:\"backchannel_logout_uri,omitempty\""
	Public               bool                "json:\"public,omitempty\""
	ForbidPlain          bool                "json:\"forbid_plain,omitempty\""
	IDTokenAlg           string              "json:\"id_token_alg,omitempty\""
	FirstParty           bool                "json:\"first_party,omitempty\""
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
	Disabled             bool                "json:\"disabled,omitempty\""
	Counted              bool                "json:\"counted,omitempty\""
	CreatedAt            time.Time           "json:\"created_at\""
	UpdatedAt            time.Time           "json:\"updated_at\""
	Version              int64               "json:\"-\""
	carried
}

func (App) AllowsRedirect(raw string) error
func (App) AppKey() Secret
func (App) Authenticates(text string, at time.Time) bool
func (App) Check() error
func (App) Host() string
func (App) Live(at time.Time) bool
func (*App) RotateSecret(now time.Time, overlap time.Duration) error
func (*App) SetTier(tier string, from time.Time, until time.Time)
func (App) SignsIDTokensWith() string
func (App) SuccessCode() int
func (App) Terms() string
func (App) TierAt(at time.Time) string
func (App) TierSince(at time.Time) time.Time
func (App) TierUntil(at time.Time) time.Time
func (App) UsedBefore(period Quota) int64

type AppSecret struct {
	Secret    Secret    "json:\"-\""
	CreatedAt time.Time "json:\"created_at\""
	ExpiresAt time.Time "json:\"expires_at,omitzero\""
}

type Brand struct {
	Name  string "json:\"name,omitempty\""
	Logo  string "json:\"logo,omitempty\""
	Color string "json:\"color,omitempty\""
}

type Caller struct {
	AppID     string
	UserID    string
	Scope     string
	Audience  string
	TokenID   string
	Grant     string
	GrantedAt time.Time
	ExpiresAt time.Time
}

func (Caller) Account() string

type Capability struct {
	Member        string          "json:\"member\""
	Label         string          "json:\"label,omitempty\""
	Description   string          "json:\"description,omitempty\""
	Kind          string          "json:\"kind\""
	UpstreamURL   string          "json:\"upstream_url\""
	AuthType      string          "json:\"auth_type,omitempty\""
	AuthName      string          "json:\"auth_name,omitempty\""
	AuthIn        string          "json:\"auth_in,omitempty\""
	AuthSecret    Secret          "json:\"-\""
	WebhookURL    string          "json:\"webhook_url,omitempty\""
	WebhookSecret Secret          "json:\"-\""
	Timeout       int             "json:\"timeout,omitempty\""
	Publish       bool            "json:\"publish\""
	Owner         string          "json:\"owner\""
	ToolCount     int             "json:\"tool_count\""
	Skipped       []toolplan.Skip "json:\"skipped,omitempty\""
	CreatedAt     time.Time       "json:\"created_at\""
	UpdatedAt     time.Time       "json:\"updated_at\""
	Version       int64           "json:\"-\""
	carried
}

func (Capability) AutoDiscover() bool
func (Capability) CallTimeout() time.Duration

const CapabilityMCP = "mcp"

const CapabilityREST = "rest"

const CapabilityStatic = "static"

type Change struct {
	Kind string
	IDs  []string
}

const ChangedAccess = "access"

const ChangedApps = "app"

const ChangedBundles = "bundle"

const ChangedCapabilities = "capability"

const ChangedKeys = "key"

const ChangedSettings = "setting"

const ChangedUsers = "user"

type Checkpoint struct {
	Text    Secret "json:\"-\""
	Version int64  "json:\"-\""
	carried
}

type Consent struct {
	AppID     string    "json:\"app\""
	UserID    string    "json:\"user\""
	Scope     string    "json:\"scope\""
	Asked     string    "json:\"asked,omitempty\""
	Terms     string    "json:\"terms,omitempty\""
	CreatedAt time.Time "json:\"created_at\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	Once      string    "json:\"once,omitempty\""
	OnceUntil time.Time "json:\"once_until,omitzero\""
	carried
}

func (Consent) With(scope string) Consent

type Counts struct {
	Users      int64
	Apps       int64
	OpenOrders int64
	Whole      bool
}

type Delivery struct {
	ID         string    "json:\"id\""
	Event      string    "json:\"event\""
	Member     string    "json:\"member\""
	URL        string    "json:\"url\""
	Secret     Secret    "json:\"-\""
	Payload    []byte    "json:\"payload\""
	CreatedAt  time.Time "json:\"created_at\""
	NextAt     time.Time "json:\"next_at\""
	Attempts   int       "json:\"attempts\""
	LastStatus int       "json:\"last_status,omitempty\""
	LastError  string    "json:\"last_error,omitempty\""
	GivenUpAt  time.Time "json:\"given_up_at,omitzero\""
	ExpiresAt  time.Time "json:\"expires_at\""
	Dropped    int       "json:\"dropped,omitempty\""
	Version    int64     "json:\"-\""
	carried
}

func (Delivery) Wait(at time.Time) time.Duration
func (Delivery) Waiting() bool
func (Delivery) WaitsAt(at time.Time) bool

const DeliveryLife time.Duration = 604800000000000

func DrawSecret() Secret

var ErrCheckpoint error

var ErrClock error

var ErrConflict error

var ErrExists error

var ErrForgot error

var ErrFull error

var ErrInvalid error

var ErrLastAdmin error

var ErrMasterKey error

var ErrNewer error

var ErrNotFound error

var ErrOwner error

var ErrRevoked error

var ErrSpent error

var ErrUnavailable error

var ErrUnfinished error

type Factors struct {
	UserID        string               "json:\"user\""
	Authenticator *authn.Authenticator "json:\"authenticator,omitempty\""
	AppSecret     Secret               "json:\"-\""
	Passkeys      []authn.Passkey      "json:\"passkeys,omitempty\""
	Recovery      []authn.RecoveryCode "json:\"recovery,omitempty\""
	Epoch         int64                "json:\"epoch,omitempty\""
	DueSince      time.Time            "json:\"due_since,omitzero\""
	UpdatedAt     time.Time            "json:\"updated_at\""
	Version       int64                "json:\"-\""
	carried
}

func (Factors) Any() bool
func (Factors) CodesLeft() (n int)
func (*Factors) Passkey(id string) *authn.Passkey
func (Factors) Summary() string

type Feature struct {
	Name  string "json:\"name\""
	Since string "json:\"since\""
}

func Features() []Feature

type Invitation struct {
	ID        string    "json:\"id\""
	Role      string    "json:\"role,omitempty\""
	CreatedAt time.Time "json:\"created_at\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Invitation) Live(at time.Time) bool

const KeyActive = "active"

const KeyNext = "next"

const KeyRetired = "retired"

const KeysAppID = "apikey"

type Login struct {
	Method       string    "json:\"method\""
	Subject      string    "json:\"subject\""
	UserID       string    "json:\"user\""
	PasswordHash string    "json:\"password_hash,omitempty\""
	CreatedAt    time.Time "json:\"created_at\""
	Version      int64     "json:\"-\""
	Skeletons    [2]string "json:\"-\""
	carried
}

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

type Mail struct {
	ID        string    "json:\"id\""
	Kind      string    "json:\"kind\""
	Of        string    "json:\"of,omitempty\""
	Content   Secret    "json:\"-\""
	CreatedAt time.Time "json:\"created_at\""
	NextAt    time.Time "json:\"next_at\""
	Attempts  int       "json:\"attempts\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Mail) Wait(at time.Time) time.Duration

type MasterKey struct{ _ []struct{} }

func (MasterKey) ID() string
func (MasterKey) Text() string

const MaxInvitationLife time.Duration = 7776000000000000

const MaxMail = 65536

const MaxMailLife time.Duration = 86400000000000

const MaxPayload = 65536

const MaxSessionApps = 40

const MaxTicketLife time.Duration = 3600000000000

const MaxTimeout time.Duration = 600000000000

const MaxTold = 500

const MaxWaiting = 50

type NameTaken struct{ By Capability }

func (*NameTaken) Error() string
func (*NameTaken) Unwrap() error

func NewMasterKey() MasterKey

func NewSecret(text string) Secret

func NormalizeDomain(typed string) (string, error)

func Open(ctx context.Context, backend driver.Backend, keys ...MasterKey) (*Store, error)

type OpenID struct {
	AppID     string    "json:\"app\""
	UserID    string    "json:\"user\""
	OpenID    string    "json:\"openid\""
	CreatedAt time.Time "json:\"created_at\""
	EndedAt   time.Time "json:\"ended_at,omitzero\""
	Version   int64     "json:\"-\""
	carried
}

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

func ParseMasterKey(text string) (MasterKey, error)

type Quota struct {
	Period string    "json:\"period\""
	Until  time.Time "json:\"until\""
	Calls  int64     "json:\"calls\""
}

func RedirectOrigin(raw string) string

func RetryOnConflict[T any](ctx context.Context, change func() (T, error)) (T, error) {}

const RoleAdmin = "admin"

const RoleAuditor = "auditor"

const RoleDeveloper = "developer"

type Secret struct{ _ []struct{} }

func (Secret) Equal(text string) bool
func (Secret) GoString() string
func (Secret) IsZero() bool
func (Secret) LogValue() slog.Value
func (Secret) MarshalText() ([]byte, error)
func (Secret) Reveal() string
func (Secret) String() string

type Session struct {
	ID        string    "json:\"id\""
	UserID    string    "json:\"user\""
	LoginType string    "json:\"login_type\""
	Method    string    "json:\"method,omitempty\""
	AMR       string    "json:\"amr,omitempty\""
	AuthTime  time.Time "json:\"auth_time\""
	ExpiresAt time.Time "json:\"expires_at\""
	EndsAt    time.Time "json:\"ends_at\""
	IP        string    "json:\"ip,omitempty\""
	Agent     string    "json:\"agent,omitempty\""
	Lang      string    "json:\"lang,omitempty\""
	Apps      []string  "json:\"apps,omitempty\""
	Root      string    "json:\"root,omitempty\""
	Version   int64     "json:\"-\""
	carried
}

func (Session) Live(at time.Time) bool
func (Session) Multifactor() bool
func (Session) SIDRoot() string
func (Session) SignInMethod() string

type SessionQuery struct {
	UserID string
	IP     string
}

type Setting struct {
	Name      string    "json:\"name\""
	Value     string    "json:\"value\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	carried
}

const SettingDefaultAccess = "mcp.default_access"

const SettingForcePKCE = "service_config.oauth_force_pkce"

type Settling struct {
	Apps   []App
	Next   string
	Closed bool
	Orders []Order
	Whole  bool
}

type SigningKey struct {
	ID        string    "json:\"kid\""
	Alg       string    "json:\"alg\""
	State     string    "json:\"state\""
	Private   Secret    "json:\"-\""
	CreatedAt time.Time "json:\"created_at\""
	RetiredAt time.Time "json:\"retired_at,omitzero\""
	ExpiresAt time.Time "json:\"expires_at,omitzero\""
	Version   int64     "json:\"-\""
	carried
}

type Store struct{ _ []struct{} }

func (*Store) APIKey(ctx context.Context, id string) (apikey.Key, error)
func (*Store) APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
func (*Store) Access(ctx context.Context, member string) (access.List, error)
func (*Store) AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error)
func (*Store) AddMail(ctx context.Context, m Mail) (Mail, error)
func (*Store) App(ctx context.Context, id string) (App, error)
func (*Store) AppToSettle(ctx context.Context, id string) (out Settling, err error)
func (*Store) Append(ctx context.Context, records ...driver.Record) error
func (*Store) Appended(ctx context.Context) (uint64, error)
func (*Store) Apps(ctx context.Context, owner string, from string, n int) ([]App, string, error)
func (*Store) AppsAndUsers(ctx context.Context, ids []string, subs []string) (a []App, u []User, err error)
func (*Store) AppsToSettle(ctx context.Context, owner string, after string, n int) (Settling, error)
func (*Store) Beat(ctx context.Context, id string) (nodes.Beat, error)
func (*Store) Beats(ctx context.Context) ([]nodes.Beat, error)
func (*Store) BeginRekey(ctx context.Context, keys ...MasterKey) error
func (*Store) Bundle(ctx context.Context, name string) (access.Bundle, error)
func (*Store) Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error)
func (*Store) Capabilities(ctx context.Context, owner string, from string, n int) ([]Capability, string, error)
func (*Store) Capability(ctx context.Context, member string) (Capability, error)
func (*Store) CapabilityLike(ctx context.Context, member string) (Capability, error)
func (*Store) Checkpoint(ctx context.Context) (Checkpoint, error)
func (*Store) ClientHost(ctx context.Context, host string) (client.Host, error)
func (*Store) ClientHosts(ctx context.Context) ([]client.Host, error)
func (*Store) ClientHostsFrom(ctx context.Context, from string, n int) ([]client.Host, string, error)
func (*Store) Clients(ctx context.Context, from string, n int) ([]App, string, error)
func (*Store) ClockErr() error
func (*Store) ClosedApp(ctx context.Context, id string) (App, error)
func (*Store) ClosedApps(ctx context.Context, owner string, from string, n int) (page []App, next string, err error)
func (*Store) ClosedAppsToSettle(ctx context.Context, owner string, after string, n int) (Settling, error)
func (*Store) Consent(ctx context.Context, appID string, sub string) (Consent, error)
func (*Store) Consents(ctx context.Context, sub string) ([]Consent, error)
func (*Store) ConsentsOf(ctx context.Context, sub string, from string, n int) ([]Consent, string, error)
func (*Store) ConsentsOfApp(ctx context.Context, appID string, from string, n int) ([]Consent, string, error)
func (*Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
func (*Store) CountMails(ctx context.Context, kind string, of string, n int) (int, error)
func (*Store) CountOwned(ctx context.Context, sub string) (applications int, tools int, err error)
func (*Store) Counts(ctx context.Context) (c Counts, err error)
func (*Store) CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
func (*Store) CreateApp(ctx context.Context, a App, most int, limit Quota) (App, error)
func (*Store) CreateInvited(ctx context.Context, u User, by Invitation, logins ...Login) (User, error)
func (*Store) CreateUser(ctx context.Context, u User, by ...Login) (User, error)
func (*Store) Dated(rs ...driver.Revocation) []driver.Revocation
func (*Store) DeleteApp(ctx context.Context, a App, used Quota, canceled ...Order) error
func (*Store) DeleteBundle(ctx context.Context, b access.Bundle) error
func (*Store) DeleteCapability(ctx context.Context, c Capability, events ...Delivery) error
func (*Store) DeleteDelivery(ctx context.Context, d Delivery) error
func (*Store) DeleteMail(ctx context.Context, m Mail) error
func (*Store) Deliveries(ctx context.Context, member string) ([]Delivery, error)
func (*Store) Describe() (kind string, version string, at string, bytes int64)
func (*Store) DueDeliveries(ctx context.Context, at time.Time, n int) ([]Delivery, error)
func (*Store) DueMails(ctx context.Context, by time.Time, n int) ([]Mail, error)
func (*Store) DueTold(ctx context.Context, at time.Time, n int) ([]Delivery, error)
func (*Store) EndConsent(ctx context.Context, c Consent) error
func (*Store) EndLogins(ctx context.Context, some ...Login) error
func (*Store) EndOpenID(ctx context.Context, appID string, sub string, at time.Time) error
func (*Store) EndRekey(ctx context.Context) error
func (*Store) EndSession(ctx context.Context, v Session) error
func (*Store) EndTicket(ctx context.Context, t Ticket) error
func (*Store) EnsureOpenID(ctx context.Context, appID string, sub string) (OpenID, error)
func (*Store) EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
func (*Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
func (*Store) Factors(ctx context.Context, sub string) (Factors, error)
func (*Store) Features(ctx context.Context) ([]Feature, error)
func (*Store) FindApps(ctx context.Context, prefix string, owner string, from string, n int) ([]App, string, error)
func (*Store) FindOpenID(ctx context.Context, appID string, openid string) (OpenID, error)
func (*Store) FindSessions(ctx context.Context, q SessionQuery, from string, n int) ([]Session, string, error)
func (*Store) FindUsers(ctx context.Context, prefix string, from string, n int) ([]User, string, error)
func (*Store) FindUsersWithRole(ctx context.Context, role string, prefix string, from string, n int) ([]User, string, error)
func (*Store) FirstDelivery(ctx context.Context, member string) (Delivery, error)
func (*Store) FirstKeys(ctx context.Context, alg string, keys ...SigningKey) error
func (*Store) ForgetClientHost(ctx context.Context, h client.Host) error
func (*Store) GiveApp(ctx context.Context, a App, owner string) (App, error)
func (*Store) HMACKey(ctx context.Context, name string) (Secret, error)
func (*Store) Invitation(ctx context.Context, id string) (Invitation, error)
func (*Store) Issue(ctx context.Context, tokens ...driver.Token) error
func (*Store) JoinSession(ctx context.Context, v Session, appID string) (sid string, err error)
func (*Store) KeepClient(ctx context.Context, id string) error
func (*Store) KeyedCall(ctx context.Context, id string) (keyed.Call, error)
func (*Store) Later(now time.Time) time.Time
func (*Store) Lease(ctx context.Context, task string) (nodes.Lease, error)
func (*Store) LinkLogins(ctx context.Context, sub string, more ...Login) error
func (*Store) Listen(ctx context.Context, hint func()) error
func (*Store) Login(ctx context.Context, method string, subject string) (Login, error)
func (*Store) Logins(ctx context.Context, sub string) ([]Login, error)
func (*Store) Mail(ctx context.Context, id string) (Mail, error)
func (*Store) MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
func (*Store) MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
func (*Store) OnChange(f func(Change)) (stop func())
func (*Store) OpenID(ctx context.Context, appID string, sub string) (OpenID, error)
func (*Store) OpenIDs(ctx context.Context, sub string) ([]OpenID, error)
func (*Store) Order(ctx context.Context, id string) (Order, error)
func (*Store) Orders(ctx context.Context, q OrderQuery, after string, n int) (page []Order, next string, err error)
func (*Store) OrdersOfApps(ctx context.Context, first string, last string, from string, n int) (page []Order, next string, err error)
func (*Store) OwnedBy(ctx context.Context, owner string, nApps int, nOrders int, nCapabilities int) (a []App, more bool, o []Order, c []Capability, err error)
func (*Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
func (*Store) Prune(ctx context.Context, through uint64) (int, error)
func (*Store) Queued() <-chan struct{}
func (*Store) Rankings(ctx context.Context, of string, from time.Time, to time.Time) (all []ranking.Ranking, more bool, err error)
func (*Store) Reached(now time.Time) time.Time
func (*Store) ReadChanges(ctx context.Context) error
func (*Store) Ready(ctx context.Context) error
func (*Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
func (*Store) Recount(ctx context.Context) (c Counts, err error)
func (*Store) Rekeying(ctx context.Context) (bool, error)
func (*Store) RemoveAPIKey(ctx context.Context, id string) error
func (*Store) RemoveBeat(ctx context.Context, b nodes.Beat) error
func (*Store) RemoveClient(ctx context.Context, a App) error
func (*Store) RemoveLease(ctx context.Context, l nodes.Lease) error
func (*Store) Reseal(ctx context.Context) (total int, err error)
func (*Store) ReserveSkeletons(ctx context.Context, of string, looksOfName func(username string) []string) error
func (*Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
func (*Store) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Store) SID(ctx context.Context, root string, appID string) (string, error)
func (*Store) SaveAccess(ctx context.Context, l access.List) (access.List, error)
func (*Store) SaveApp(ctx context.Context, a App) (App, error)
func (*Store) SaveBeat(ctx context.Context, b nodes.Beat) (nodes.Beat, error)
func (*Store) SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error)
func (*Store) SaveCapability(ctx context.Context, c Capability, tools []toolplan.Tool, events ...Delivery) (Capability, error)
func (*Store) SaveCapabilityIf(ctx context.Context, c Capability, tools []toolplan.Tool, allow func(owned []Capability) error, events ...Delivery) (Capability, error)
func (*Store) SaveCheckpoint(ctx context.Context, c Checkpoint) (Checkpoint, error)
func (*Store) SaveConsent(ctx context.Context, c Consent) (Consent, error)
func (*Store) SaveDelivery(ctx context.Context, d Delivery) (Delivery, error)
func (*Store) SaveFactors(ctx context.Context, f Factors) (Factors, error)
func (*Store) SaveInvitation(ctx context.Context, i Invitation) (Invitation, error)
func (*Store) SaveKeyedCalls(ctx context.Context, calls ...keyed.Call) (version int64, err error)
func (*Store) SaveKeys(ctx context.Context, keys ...SigningKey) error
func (*Store) SaveLease(ctx context.Context, l nodes.Lease) (nodes.Lease, error)
func (*Store) SaveLogin(ctx context.Context, l Login) (Login, error)
func (*Store) SaveMail(ctx context.Context, m Mail) (Mail, error)
func (*Store) SaveOrder(ctx context.Context, o Order, a App, others ...Order) (Order, App, error)
func (*Store) SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error)
func (*Store) SaveSession(ctx context.Context, v Session) (Session, error)
func (*Store) SaveStream(ctx context.Context, at shipped.Position) (shipped.Position, error)
func (*Store) SaveTicket(ctx context.Context, t Ticket) (Ticket, error)
func (*Store) SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error)
func (*Store) SaveUser(ctx context.Context, u User) (User, error)
func (*Store) SaveUserKeepingAdmin(ctx context.Context, u User) (User, error)
func (*Store) SealedWith(ctx context.Context) (string, error)
func (*Store) Session(ctx context.Context, id string) (Session, error)
func (*Store) Sessions(ctx context.Context, sub string) ([]Session, error)
func (*Store) Set(ctx context.Context, name string, value string) error
func (*Store) SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error)
func (*Store) SetUserWebhook(ctx context.Context, url string, renew bool) (drawn Secret, err error)
func (*Store) Setting(ctx context.Context, name string) (string, error)
func (*Store) Settings(ctx context.Context) ([]Setting, error)
func (*Store) Shared() bool
func (*Store) SigningKeys(ctx context.Context) ([]SigningKey, error)
func (*Store) Stream(ctx context.Context, name string) (shipped.Position, error)
func (*Store) Sweep(ctx context.Context, at time.Time) (int, error)
func (*Store) SweepEvery(ctx context.Context, every time.Duration, failed func(error))
func (*Store) Ticket(ctx context.Context, id string) (Ticket, error)
func (*Store) TicketsAbout(ctx context.Context, kind string, subject string) ([]Ticket, error)
func (*Store) Token(ctx context.Context, key driver.Key) (driver.Token, error)
func (*Store) Tools(ctx context.Context, member string) (Capability, []toolplan.Tool, error)
func (*Store) TrailIndex(ctx context.Context, span driver.Span, n int) (docs []driver.Doc, next string, err error)
func (*Store) UnlinkLogins(ctx context.Context, keep Login, some ...Login) error
func (*Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
func (*Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
func (*Store) UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)
func (*Store) User(ctx context.Context, sub string) (User, error)
func (*Store) UserGrants(ctx context.Context, sub string) (u User, given []Consent, met []OpenID, err error)
func (*Store) UserWebhook(ctx context.Context) (url string, secret Secret, err error)
func (*Store) Users(ctx context.Context, from string, n int) ([]User, string, error)

type Ticket struct {
	ID        string    "json:\"id\""
	Kind      string    "json:\"kind\""
	Browser   string    "json:\"browser,omitempty\""
	Query     string    "json:\"query,omitempty\""
	AppID     string    "json:\"app,omitempty\""
	Method    string    "json:\"method,omitempty\""
	Subject   string    "json:\"subject,omitempty\""
	Proof     []byte    "json:\"proof,omitempty\""
	Tries     int       "json:\"tries,omitempty\""
	State     string    "json:\"state,omitempty\""
	Number    string    "json:\"number,omitempty\""
	UserID    string    "json:\"user,omitempty\""
	Session   string    "json:\"session,omitempty\""
	LoginType string    "json:\"login_type,omitempty\""
	IP        string    "json:\"ip,omitempty\""
	Agent     string    "json:\"agent,omitempty\""
	CreatedAt time.Time "json:\"created_at\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Ticket) Live(at time.Time) bool

type TierChange struct {
	Tier string    "json:\"tier\""
	At   time.Time "json:\"at\""
}

const TierEnterprise = "enterprise"

const TierFree = "free"

const TierWhiteLabel = "white_label"

type User struct {
	Sub           string    "json:\"sub\""
	ID            int64     "json:\"id\""
	Username      string    "json:\"username\""
	Name          string    "json:\"name,omitempty\""
	Nickname      string    "json:\"nickname,omitempty\""
	Picture       string    "json:\"picture,omitempty\""
	Email         string    "json:\"email,omitempty\""
	EmailVerified bool      "json:\"email_verified,omitempty\""
	Gender        string    "json:\"gender,omitempty\""
	Location      string    "json:\"location,omitempty\""
	Role          string    "json:\"role,omitempty\""
	LoginType     string    "json:\"login_type,omitempty\""
	Disabled      bool      "json:\"disabled,omitempty\""
	Erasing       bool      "json:\"erasing,omitempty\""
	CreatedAt     time.Time "json:\"created_at\""
	UpdatedAt     time.Time "json:\"updated_at\""
	Version       int64     "json:\"-\""
	carried
}

func (User) Check() error

type carried = forward.Fields
