package console // import "github.com/keystile/keystile/gateway/console"

import "context"
import "encoding/json"
import "github.com/keystile/keystile/gateway/billing"
import "github.com/keystile/keystile/gateway/usage"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/nodes"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type Archive interface {
	Search(ctx context.Context, q event.Query) (event.Page, error)
	State(ctx context.Context) (event.TrailState, error)
	Verify(ctx context.Context, read func(records int)) (event.TrailReport, error)
}

type Bus interface {
	CallFor(r *http.Request, caller storage.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
	Explain(ctx context.Context, v access.Viewer, after string, n int) (all []access.Verdict, next string, err error)
	OpenToAll() bool
	OpenedBySetting() string
	Reload(ctx context.Context) error
	ToolsOf(member string) []toolplan.Tool
	Unlisted(n int) (names []string, count int)
	WhyUnlisted(member string) string
}

type Config struct {
	BaseURL    string
	Store      *storage.Store
	Visitors   Visitors
	Revoker    Revoker
	Trail      Trail
	Billing    *billing.Billing
	Users      Users
	Table      Table
	Visit      func(r *http.Request) (storage.Session, storage.User, error)
	SignIn     SignIn
	Forms      Forms
	Lockout    Lockout
	Usage      *usage.Reader
	Registry   Registry
	Bus        Bus
	Sample     bool
	Ways       access.Ways
	Nodes      Nodes
	Notifier   Notifier
	ForgetApp  func(clientID string)
	ForgetUser func(sub string)
	Origins    []string
	Archive    Archive
	Keys       Keys
	Vitals     func(ctx context.Context) []Vital
	Settings   func() []Setting
	Stored     func() Server
	Counters   func() Server
	Delays     interface {
		UnlockUser(ctx context.Context, u storage.User) bool
		WaitUntil(ctx context.Context, u storage.User) (until time.Time, known bool)
	}
	Passwords interface {
		SetPassword(ctx context.Context, sub string, password string) error
	}
	FactorsPage    string
	InvitationPage string
	ClientIP       func(*http.Request) netip.Addr
	Log            *slog.Logger
}

type Console struct{ _ []struct{} }

func (*Console) Close(context.Context) error
func (*Console) Forget(sub string)
func (*Console) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Console) OpenAPI() []byte
func (*Console) Patterns() []string
func (*Console) ServeHTTP(w http.ResponseWriter, r *http.Request)

func ExemptPaths() []string

type Forms interface {
	KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string, fields [][2]string) error
	KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error)
}

type Keys interface {
	RetireKey(ctx context.Context, kid string) error
	RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
	SigningAlg() string
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
}

type Lockout interface {
	Unlock(ctx context.Context, ip netip.Addr) bool
}

func New(_ context.Context, c Config) (*Console, error)

type Nodes interface {
	List(ctx context.Context) ([]nodes.Info, error)
}

type Notifier interface {
	Notify(ctx context.Context, sub string, n event.Notice)
}

type Registry interface {
	AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
	BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
	FetchDocument(ctx context.Context, actor storage.User, address string) ([]byte, error)
	PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
	PreviewBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []toolplan.Tool, []string, error)
	RegisterBody(ctx context.Context, actor storage.User, body []byte) (_ storage.Capability, removed []string, advice []string, err error)
	Remove(ctx context.Context, actor storage.User, member string) error
	SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
	UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability, []string, error)
}

type Revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

type Server struct {
	Kind    string
	Version string
	At      string
	Bytes   int64
	Away    bool
	Since   time.Time
}

type Setting struct {
	Key         string
	Value       string
	Source      string
	Default     string
	Help        string
	HelpChinese string
}

type SignIn interface {
	AskFor(w http.ResponseWriter, r *http.Request, path string) error
}

type Table interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

type Trail interface {
	NoteNow(ctx context.Context, e event.Event) error
}

type Users interface {
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

type Visitors interface {
	Proved(ctx context.Context, v storage.Session) (bool, error)
	Visitor(r *http.Request) (storage.Session, error)
}

type Vital struct {
	Name  string
	Value string
	Well  bool
	Says  string
}
