package people // import "github.com/keystile/keystile/storage/people"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/clock"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/service"
import "github.com/keystile/keystile/storage/tools"
import "time"

type Consent struct {
	AppID     string    "json:\"app\""
	UserID    string    "json:\"user\""
	Scope     string    "json:\"scope\""
	Asked     string    "json:\"asked,omitempty\""
	Since     string    "json:\"since,omitempty\""
	Terms     string    "json:\"terms,omitempty\""
	CreatedAt time.Time "json:\"created_at\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	Once      string    "json:\"once,omitempty\""
	OnceUntil time.Time "json:\"once_until,omitzero\""
	carried
}

func (Consent) With(scope string) Consent

func Create(ctx context.Context, s *Store, u User, by []Login, change document.Tally, along ...driver.Doc) (User, error)

func CreateAll(ctx context.Context, s *Store, all []Newcomer, change document.Tally, along ...driver.Doc) (made []User, err error)

var ErrLastAdmin error

var ErrStillOwns error

type Invitation struct {
	ID        string    "json:\"id\""
	Role      string    "json:\"role,omitempty\""
	CreatedAt time.Time "json:\"created_at\""
	ExpiresAt time.Time "json:\"expires_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Invitation) Live(at time.Time) bool

var Kinds []document.AnyKind

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

const MaxInvitationLife time.Duration = 7776000000000000

func New(docs *document.Store, clock *clock.Clock, service *service.Store, tools *tools.Store) *Store

type Newcomer struct {
	User  User
	By    []Login
	Along func(sub string) ([]driver.Doc, error)
}

type OpenID struct {
	AppID     string    "json:\"app\""
	UserID    string    "json:\"user\""
	OpenID    string    "json:\"openid\""
	CreatedAt time.Time "json:\"created_at\""
	EndedAt   time.Time "json:\"ended_at,omitzero\""
	Version   int64     "json:\"-\""
	carried
}

func RemoveListed(ctx context.Context, s *Store, kind string, entry string, left int) error

func ReserveNumbers(ctx context.Context, s *Store, n int) (first int64, err error)

const RoleAdmin = "admin"

const RoleAuditor = "auditor"

const RoleDeveloper = "developer"

type Store struct{ _ struct{} }

func (*Store) Consent(ctx context.Context, appID string, sub string) (Consent, error)
func (*Store) Consents(ctx context.Context, sub string) ([]Consent, error)
func (*Store) ConsentsOf(ctx context.Context, sub string, from string, n int) ([]Consent, string, error)
func (*Store) ConsentsOfApp(ctx context.Context, appID string, from string, n int) ([]Consent, string, error)
func (*Store) CountOwned(ctx context.Context, sub string) (applications int, capabilities int, err error)
func (*Store) CreateInvited(ctx context.Context, u User, by Invitation, logins ...Login) (User, error)
func (*Store) CreateUser(ctx context.Context, u User, by ...Login) (User, error)
func (*Store) EndConsent(ctx context.Context, c Consent) error
func (*Store) EndLogins(ctx context.Context, some ...Login) error
func (*Store) EndOpenID(ctx context.Context, appID string, sub string, at time.Time) error
func (*Store) EnsureOpenID(ctx context.Context, appID string, sub string) (OpenID, error)
func (*Store) EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
func (*Store) FindOpenID(ctx context.Context, appID string, openid string) (OpenID, error)
func (*Store) FindUsers(ctx context.Context, prefix string, from string, n int) ([]User, string, error)
func (*Store) FindUsersWithRole(ctx context.Context, role string, prefix string, from string, n int) ([]User, string, error)
func (*Store) Invitation(ctx context.Context, id string) (Invitation, error)
func (*Store) LinkLogins(ctx context.Context, sub string, more ...Login) error
func (*Store) Login(ctx context.Context, method string, subject string) (Login, error)
func (*Store) Logins(ctx context.Context, sub string) ([]Login, error)
func (*Store) OpenID(ctx context.Context, appID string, sub string) (OpenID, error)
func (*Store) OpenIDs(ctx context.Context, sub string) ([]OpenID, error)
func (*Store) ReserveSkeletons(ctx context.Context, of string, looksOfName func(username string) []string) error
func (*Store) SaveConsent(ctx context.Context, c Consent) (Consent, error)
func (*Store) SaveInvitation(ctx context.Context, i Invitation) (Invitation, error)
func (*Store) SaveLogin(ctx context.Context, l Login) (Login, error)
func (*Store) SaveUser(ctx context.Context, u User) (User, error)
func (*Store) SaveUserKeepingAdmin(ctx context.Context, u User) (User, error)
func (*Store) Taken(ctx context.Context, by []Login) (Taken, error)
func (*Store) UnlinkLogins(ctx context.Context, keep Login, some ...Login) error
func (*Store) User(ctx context.Context, sub string) (User, error)
func (*Store) UserGrants(ctx context.Context, sub string) (u User, given []Consent, met []OpenID, err error)
func (*Store) Users(ctx context.Context, from string, n int) ([]User, string, error)

type Taken struct{ _ []struct{} }

func (Taken) Login(l Login) (of Login, taken bool)
func (Taken) LooksTaken(l Login) bool

type User struct {
	Sub           string            "json:\"sub\""
	ID            int64             "json:\"id\""
	Username      string            "json:\"username\""
	Name          string            "json:\"name,omitempty\""
	Nickname      string            "json:\"nickname,omitempty\""
	Picture       string            "json:\"picture,omitempty\""
	Email         string            "json:\"email,omitempty\""
	EmailVerified bool              "json:\"email_verified,omitempty\""
	Gender        string            "json:\"gender,omitempty\""
	Location      string            "json:\"location,omitempty\""
	Role          string            "json:\"role,omitempty\""
	Attributes    map[string]string "json:\"attributes,omitempty\""
	LoginType     string            "json:\"login_type,omitempty\""
	Disabled      bool              "json:\"disabled,omitempty\""
	Erasing       bool              "json:\"erasing,omitempty\""
	CreatedAt     time.Time         "json:\"created_at\""
	UpdatedAt     time.Time         "json:\"updated_at\""
	Imported      string            "json:\"imported,omitempty\""
	Version       int64             "json:\"-\""
	carried
}

func (User) Check() error

var Users document.Kind[User]

type carried = forward.Fields
