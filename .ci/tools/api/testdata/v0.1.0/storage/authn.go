package authn // import "github.com/keystile/keystile/storage/authn"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/internal/clock"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/service"
import "github.com/keystile/keystile/storage/tools"
import "time"

const AMRCode = "otp"

const AMRHardware = "hwk"

const AMRMultifactor = "mfa"

const AMRPassword = "pwd"

const AMRPresence = "user"

const AMRSoftware = "swk"

type Authenticator struct {
	LastStep  int64     "json:\"last_step,omitempty\""
	CreatedAt time.Time "json:\"created_at,omitzero\""
	UsedAt    time.Time "json:\"used_at,omitzero\""
	carried
}

func CheckMFA(policy string) error

type Factors struct {
	UserID        string         "json:\"user\""
	Authenticator *Authenticator "json:\"authenticator,omitempty\""
	AppSecret     secret.Secret  "json:\"-\""
	Passkeys      []Passkey      "json:\"passkeys,omitempty\""
	Recovery      []RecoveryCode "json:\"recovery,omitempty\""
	Epoch         int64          "json:\"epoch,omitempty\""
	WrongCodes    int            "json:\"wrong_codes,omitempty\""
	DueSince      time.Time      "json:\"due_since,omitzero\""
	UpdatedAt     time.Time      "json:\"updated_at\""
	Version       int64          "json:\"-\""
	carried
}

func (Factors) Any() bool
func (Factors) CodesLeft() (n int)
func (Factors) CodesRest() bool
func (Factors) CodesStopped() bool
func (*Factors) Passkey(id string) *Passkey
func (Factors) Summary() string

var Kinds []document.AnyKind

const MFAOff = "off"

const MFAOffered = "offered"

const MFARequired = "required"

const MaxPasskeys = 20

const MaxSessionApps = 40

const MaxTicketLife time.Duration = 3600000000000

func New(docs *document.Store, clock *clock.Clock, service *service.Store, tools *tools.Store) *Store

var OfUser []string

type Passkey struct {
	ID         string    "json:\"id\""
	Name       string    "json:\"name\""
	Credential string    "json:\"credential\""
	Synced     bool      "json:\"synced,omitempty\""
	CreatedAt  time.Time "json:\"created_at\""
	UsedAt     time.Time "json:\"used_at,omitzero\""
	carried
}

type Policy struct {
	Default string
	Roles   map[string]string
	Grace   time.Duration
}

func (Policy) Check() error
func (Policy) DueAt(since time.Time) time.Time
func (Policy) Of(role string) string

type RecoveryCode struct {
	Hash   string    "json:\"hash\""
	UsedAt time.Time "json:\"used_at,omitzero\""
	carried
}

type Session struct {
	ID        string    "json:\"id\""
	UserID    string    "json:\"user\""
	LoginType string    "json:\"login_type\""
	Method    string    "json:\"method,omitempty\""
	AMR       string    "json:\"amr,omitempty\""
	AuthTime  time.Time "json:\"auth_time\""
	ExpiresAt time.Time "json:\"expires_at\""
	EndsAt    time.Time "json:\"ends_at\""
	Unsaid    bool      "json:\"unsaid,omitempty\""
	Alone     bool      "json:\"alone,omitempty\""
	IP        string    "json:\"ip,omitempty\""
	Agent     string    "json:\"agent,omitempty\""
	Lang      string    "json:\"lang,omitempty\""
	Apps      []string  "json:\"apps,omitempty\""
	Root      string    "json:\"root,omitempty\""
	From      string    "json:\"from,omitempty\""
	Version   int64     "json:\"-\""
	carried
}

func (Session) FreshFrom() time.Time
func (Session) Live(at time.Time) bool
func (Session) Multifactor() bool
func (Session) ProvedAt() time.Time
func (Session) SIDRoot() string
func (Session) SignInMethod() string

type SessionQuery struct {
	UserID string
	IP     string
}

type Store struct{ _ struct{} }

func (*Store) APIKey(ctx context.Context, id string) (apikey.Key, error)
func (*Store) APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
func (*Store) CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
func (*Store) EndAPIKeys(ctx context.Context, sub string, before time.Time) error
func (*Store) EndSession(ctx context.Context, v Session, told ...tools.Delivery) error
func (*Store) EndTicket(ctx context.Context, t Ticket) error
func (*Store) Factors(ctx context.Context, sub string) (Factors, error)
func (*Store) FindSessions(ctx context.Context, q SessionQuery, from string, n int) ([]Session, string, error)
func (*Store) JoinSession(ctx context.Context, v Session, appID string) (sid string, err error)
func (*Store) RemoveAPIKey(ctx context.Context, id string) error
func (*Store) SID(ctx context.Context, root string, appID string) (string, error)
func (*Store) SaveFactors(ctx context.Context, f Factors) (Factors, error)
func (*Store) SaveSession(ctx context.Context, v Session) (Session, error)
func (*Store) SaveTicket(ctx context.Context, t Ticket) (Ticket, error)
func (*Store) Session(ctx context.Context, id string) (Session, error)
func (*Store) Sessions(ctx context.Context, sub string) ([]Session, error)
func (*Store) Ticket(ctx context.Context, id string) (Ticket, error)
func (*Store) TicketsAbout(ctx context.Context, kind string, subject string) ([]Ticket, error)
func (*Store) UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)

type Ticket struct {
	ID         string    "json:\"id\""
	Kind       string    "json:\"kind\""
	Browser    string    "json:\"browser,omitempty\""
	Query      string    "json:\"query,omitempty\""
	AppID      string    "json:\"app,omitempty\""
	Method     string    "json:\"method,omitempty\""
	Subject    string    "json:\"subject,omitempty\""
	Proof      []byte    "json:\"proof,omitempty\""
	Tries      int       "json:\"tries,omitempty\""
	State      string    "json:\"state,omitempty\""
	Number     string    "json:\"number,omitempty\""
	UserID     string    "json:\"user,omitempty\""
	Session    string    "json:\"session,omitempty\""
	LoginType  string    "json:\"login_type,omitempty\""
	IP         string    "json:\"ip,omitempty\""
	Agent      string    "json:\"agent,omitempty\""
	CreatedAt  time.Time "json:\"created_at\""
	ExpiresAt  time.Time "json:\"expires_at\""
	Version    int64     "json:\"-\""
	Invitation string    "json:\"invitation,omitempty\""
	carried
}

func (Ticket) Live(at time.Time) bool

const WrongCodesMost = 100

const WrongCodesRest = 20

const WrongCodesTold = 5

type carried = forward.Fields
