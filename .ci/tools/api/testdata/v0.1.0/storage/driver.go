package driver // import "github.com/keystile/keystile/storage/driver"

import "context"
import "time"

func After(entry string, id string) string

type Answer struct {
	Docs []Doc
	Next string
}

func As[T any](b Backend) (as T, ok bool) {}

type Ask struct {
	Kind string
	IDs  []string
	Span Span
	N    int
}

type Backend interface {
	Append(ctx context.Context, records ...Record) error
	Appended(ctx context.Context) (last uint64, err error)
	Close() error
	Count(ctx context.Context, b Batch, counts []Count) error
	Exchange(ctx context.Context, key Key, at time.Time, next ...Token) error
	Get(ctx context.Context, kind string, id string) (Doc, error)
	Issue(ctx context.Context, tokens ...Token) error
	List(ctx context.Context, kind string, span Span, n int) (docs []Doc, next string, err error)
	Prune(ctx context.Context, through uint64, n int) (removed int, err error)
	Put(ctx context.Context, docs ...Doc) (version int64, err error)
	Records(ctx context.Context, after uint64, n int) ([]Record, error)
	Revocations(ctx context.Context, after uint64, n int) ([]Revocation, error)
	Revoke(ctx context.Context, rs ...Revocation) error
	Sweep(ctx context.Context, at time.Time, n int) (removed int, err error)
	Token(ctx context.Context, key Key) (Token, error)
	Usage(ctx context.Context, q UsageQuery) ([]Count, error)
}

type Batch struct {
	Node string
	Seq  uint64
}

func Between(from string, to string) Span

func CheckPut(docs ...Doc) error

type Clock interface {
	Now(ctx context.Context) (time.Time, error)
}

func ConsentID(appID string, sub string) string

type Count struct {
	AppID   string
	Product string
	At      time.Time
	Calls   int64
	Errors  int64
}

func (Count) Plus(d Count) Count

type Damaged interface {
	Damaged() (table string, key string)
	error
}

func Day(t time.Time) time.Time

type Described interface {
	Describe() (kind string, version string, at string)
}

type Doc struct {
	Kind      string
	ID        string
	Version   int64
	Index     []string
	ExpiresAt time.Time
	Data      []byte
	Deleted   bool
}

var ErrConflict error

var ErrExists error

var ErrInvalid error

var ErrNewer error

var ErrNotFound error

var ErrRevoked error

var ErrSpent error

type Gatherer interface {
	Gather(ctx context.Context, asks ...Ask) ([]Answer, error)
}

func Hour(t time.Time) time.Time

func Is(entry string) Span

type Key [40]byte

const KindCode = "code"

const KindDevice = "device"

const KindEpoch = "epoch"

const KindLegacy = "legacy"

const KindRefresh = "refresh"

const MaxAsks = 8

const MaxData = 4194304

const MaxIndex = 64

const MaxMeters = 100

const MaxName = 1024

const MaxPut = 100

type Meters interface {
	UsageOf(ctx context.Context, apps []string, q UsageQuery) ([]Count, error)
}

func Newer(what string, since string) error

const Page = 1000

type Picker interface {
	Pick(ctx context.Context, seqs ...uint64) ([]Record, error)
}

type PutError struct {
	Kind string
	ID   string
	Err  error
}

func (*PutError) Error() string
func (*PutError) Unwrap() error

type Record struct {
	Seq  uint64
	At   time.Time
	Data []byte
}

type Revocation struct {
	Seq    uint64
	Kind   string
	ID     string
	Before time.Time
	Until  time.Time
}

func (Revocation) Covers(t Token) bool
func (Revocation) Join(older Revocation) Revocation

const RevokeApp = "app"

const RevokeConsent = "consent"

const RevokeGrant = "grant"

const RevokeJTI = "jti"

const RevokeUser = "user"

const Separator = "\x1f"

type Shared interface {
	Listen(ctx context.Context, hint func()) error
}

type Sized interface{ Size() (bytes int64) }

type Span struct {
	From string
	To   string
}

type Summed interface{ Summed() }

type Token struct {
	Key         Key       "json:\"-\""
	Kind        string    "json:\"kind\""
	Grant       string    "json:\"grant\""
	GrantedAt   time.Time "json:\"granted_at\""
	AppID       string    "json:\"app\""
	UserID      string    "json:\"user\""
	Scope       string    "json:\"scope\""
	IssuedAt    time.Time "json:\"issued_at\""
	ExpiresAt   time.Time "json:\"expires_at\""
	SpentAt     time.Time "json:\"-\""
	AuthTime    time.Time "json:\"auth_time\""
	LoginType   string    "json:\"login_type\""
	Resource    string    "json:\"resource,omitempty\""
	SignIn      string    "json:\"sign_in,omitempty\""
	RedirectURI string    "json:\"redirect_uri,omitempty\""
	Challenge   string    "json:\"challenge,omitempty\""
	Method      string    "json:\"method,omitempty\""
	Nonce       string    "json:\"nonce,omitempty\""
	IP          string    "json:\"ip,omitempty\""
}

func (Token) Live(at time.Time) bool

const UsageHours time.Duration = 34560000000000000

type UsageQuery struct {
	AppID   string
	Product string
	From    time.Time
	To      time.Time
	Daily   bool
}

func ValidName(s string) bool

type Wrapper interface{ Unwrap() Backend }
