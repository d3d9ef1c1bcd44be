package users // import "github.com/keystile/keystile/oauth/signin/users"

import "context"
import "github.com/keystile/keystile/oauth/signin/connector"
import "github.com/keystile/keystile/oauth/signin/passwords"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/groups"

type Admission struct {
	Open       bool
	Invitation string
}

func AdmissionOf(ctx context.Context) Admission

type AttributeChange struct {
	Name string
	Was  string
	Is   string
}

type AttributeUsers interface {
	SetProfileWith(ctx context.Context, sub string, p Profile, changes []AttributeChange) (before Profile, err error)
}

type ConnectedUsers interface {
	Connect(ctx context.Context, sub string, method string, p connector.Profile) error
	Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error)
	Users
}

type Creator interface {
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

type DataStore interface {
	Apps(ctx context.Context, owner string, from string, n int) ([]storage.App, string, error)
	Capabilities(ctx context.Context, owner string, from string, n int) ([]storage.Capability, string, error)
	CountOwned(ctx context.Context, sub string) (apps int, capabilities int, err error)
	EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
	SaveUserKeepingAdmin(ctx context.Context, u storage.User) (storage.User, error)
	UserGrants(ctx context.Context, sub string) (storage.User, []storage.Consent, []storage.OpenID, error)
}

type EmailUsers interface {
	ByEmail(ctx context.Context, address string) (storage.User, error)
	CreateByEmail(ctx context.Context, address string) (storage.User, error)
	EnteredByEmail(ctx context.Context, u storage.User) (storage.User, error)
	LinkEmail(ctx context.Context, sub string, address string) error
}

type ErasableUsers interface {
	EraseUser(ctx context.Context, sub string) error
}

var ErrAttributeChanged error

type GroupStore interface {
	FollowGroups(ctx context.Context, sub string, connector string, names []string) (before []string, after []string, err error)
	Group(ctx context.Context, name string) (groups.Group, error)
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	SaveGroup(ctx context.Context, g groups.Group) (groups.Group, error)
}

type Host struct {
	Users
	Named      NamedUsers
	Connected  ConnectedUsers
	Logins     LoginStore
	Emails     EmailUsers
	Passwords  PasswordUsers
	Marks      PasswordMarker
	Profiles   ProfileUsers
	Attributes AttributeUsers
	Erasable   ErasableUsers
	SignUps    SignUpUsers
	Invited    InvitedUsers
	Creator    Creator
	Closed     bool
	_          struct{}
}

func (Host) Asserted(ctx context.Context, method string, subject string, email string, create bool) (storage.User, error)
func (Host) In(store Store) bool
func (Host) Stored() bool

type InvitedUsers interface {
	Invited(ctx context.Context, code string) (id string, err error)
}

type LoginStore interface {
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	UnlinkLogins(ctx context.Context, keep storage.Login, some ...storage.Login) error
}

type NamedUsers interface {
	Named(ctx context.Context, username string) (sub string, err error)
}

func New(store Store, hasher *passwords.Hasher) *StoreUsers

func NormalizeEmail(text string) (string, error)

type PasswordMarker interface {
	PasswordMark(ctx context.Context, sub string) (string, error)
}

type PasswordUsers interface {
	HasPassword(ctx context.Context, sub string) (bool, error)
	SetPassword(ctx context.Context, sub string, password string) error
}

type Profile struct {
	Name     string
	Nickname string
	Picture  string
	Gender   string
	Location string
}

func ProfileOf(u storage.User) Profile

type ProfileUsers interface {
	SetProfile(ctx context.Context, sub string, p Profile) (before Profile, err error)
}

type SignUpUsers interface {
	SignUp(ctx context.Context, u storage.User, password string, invitation string) (storage.User, error)
}

type Store interface {
	CreateInvited(ctx context.Context, u storage.User, by storage.Invitation, logins ...storage.Login) (storage.User, error)
	CreateUser(ctx context.Context, u storage.User, by ...storage.Login) (storage.User, error)
	Invitation(ctx context.Context, id string) (storage.Invitation, error)
	LinkLogins(ctx context.Context, sub string, more ...storage.Login) error
	Login(ctx context.Context, method string, subject string) (storage.Login, error)
	ReserveSkeletons(ctx context.Context, of string, looks func(username string) []string) error
	SaveLogin(ctx context.Context, l storage.Login) (storage.Login, error)
	SaveUser(ctx context.Context, u storage.User) (storage.User, error)
	User(ctx context.Context, sub string) (storage.User, error)
	LoginStore
}

type StoreUsers struct{ _ struct{} }

func (*StoreUsers) Adopt(ctx context.Context, u storage.User, hash string) (storage.User, storage.Login, error)
func (*StoreUsers) Authenticate(ctx context.Context, username string, password string) (storage.User, error)
func (*StoreUsers) ByEmail(ctx context.Context, address string) (storage.User, error)
func (*StoreUsers) Connect(ctx context.Context, sub string, method string, p connector.Profile) error
func (*StoreUsers) Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error)
func (*StoreUsers) Create(ctx context.Context, u storage.User, password string) (storage.User, error)
func (*StoreUsers) CreateByEmail(ctx context.Context, address string) (storage.User, error)
func (*StoreUsers) CreateWith(ctx context.Context, u storage.User, password string, write func(storage.User, storage.Login) (storage.User, error)) (storage.User, error)
func (*StoreUsers) EnteredByEmail(ctx context.Context, u storage.User) (storage.User, error)
func (*StoreUsers) HasPassword(ctx context.Context, sub string) (bool, error)
func (*StoreUsers) Host() Host
func (*StoreUsers) Invited(ctx context.Context, code string) (id string, err error)
func (*StoreUsers) LinkEmail(ctx context.Context, sub string, address string) error
func (*StoreUsers) Named(ctx context.Context, username string) (sub string, err error)
func (*StoreUsers) PasswordMark(ctx context.Context, sub string) (string, error)
func (*StoreUsers) SetPassword(ctx context.Context, sub string, password string) error
func (*StoreUsers) SetProfile(ctx context.Context, sub string, p Profile) (before Profile, err error)
func (*StoreUsers) SetProfileWith(ctx context.Context, sub string, p Profile, changes []AttributeChange) (before Profile, err error)
func (*StoreUsers) SignUp(ctx context.Context, u storage.User, password string, invitation string) (storage.User, error)
func (*StoreUsers) User(ctx context.Context, sub string) (storage.User, error)

type Users interface {
	Authenticate(ctx context.Context, username string, password string) (storage.User, error)
	User(ctx context.Context, sub string) (storage.User, error)
}

func WithAdmission(ctx context.Context, a Admission) context.Context
