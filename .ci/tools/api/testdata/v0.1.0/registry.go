package registry // import "github.com/keystile/keystile/registry"

import "context"
import "encoding/json"
import "github.com/keystile/keystile/registry/pins"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

const BadField = 4006

const BadMember = 4004

const BadUpstream = 4005

type Bus interface {
	LeftOut(member string) string
	Reload(ctx context.Context) error
	Take(ctx context.Context, c storage.Capability, tools []toolplan.Tool, created int64) error
}

type Config struct {
	BaseURL  string
	Store    Store
	Visitors interface {
		Proved(ctx context.Context, v storage.Session) (bool, error)
		Visitor(r *http.Request) (storage.Session, error)
	}
	Visit func(r *http.Request) (storage.Session, storage.User, error)
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}
	Lint                  func(ctx context.Context, document []byte) []string
	MaxCapabilities       int
	MaxTools              int
	Discoverer            Discoverer
	Pins                  *pins.Pins
	Bus                   Bus
	NoDelivery            bool
	AllowPrivateUpstreams []string
	Origins               []string
	ResolveRefs           bool
	ClientIP              func(*http.Request) netip.Addr
	Log                   *slog.Logger
}

type Discoverer interface {
	Find(ctx context.Context, c storage.Capability) (tools []toolplan.Tool, skipped []toolplan.Skip, err error)
}

const Empty = 4001

func Lint(ctx context.Context, document []byte, strict func(ctx context.Context, document []byte) []string) []string

func New(_ context.Context, c Config) (*Registry, error)

const NotOpenAPI = 4002

type Options struct {
	Member        string
	ResolveRefs   bool
	MaxDocument   int
	MaxDepth      int
	MaxOperations int
	MaxHops       int
	MaxProperties int
	MaxSchema     int
	MaxTools      int
	_             struct{}
}

func Parse(ctx context.Context, document []byte, o Options) (*Result, error)

type Registered struct {
	storage.Capability
	Tools   []toolplan.Tool
	Removed []string
	Warning string
	Lint    []string
	Usual   []toolplan.Skip
}

type Registry struct{ _ []struct{} }

func (*Registry) AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
func (*Registry) AcceptPins(ctx context.Context, actor storage.User, member string, names []string,
	digest string) (pins.View, error)
func (*Registry) BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
func (*Registry) Close(ctx context.Context) error
func (*Registry) List(ctx context.Context, actor storage.User) ([]storage.Capability, error)
func (*Registry) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Registry) OffBus(c storage.Capability) string
func (*Registry) OpenAPI() []byte
func (*Registry) Patterns() []string
func (*Registry) PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
func (*Registry) Preview(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) PreviewBody(ctx context.Context, actor storage.User,
	body []byte) (storage.Capability, []toolplan.Tool, []string, error)
func (*Registry) Register(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) RegisterBody(ctx context.Context, actor storage.User,
	body []byte) (storage.Capability, []string, error)
func (*Registry) Remove(ctx context.Context, actor storage.User, member string) error
func (*Registry) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Registry) SetPublished(ctx context.Context, actor storage.User, member string,
	on bool) (storage.Capability, error)
func (*Registry) Show(ctx context.Context, actor storage.User, member string) (Registered, error)
func (*Registry) ShowPins(ctx context.Context, actor storage.User, member string) (pins.View, error)
func (*Registry) UpdateBody(ctx context.Context, actor storage.User, member string,
	body []byte) (storage.Capability, []string, error)

type Rejection struct {
	Errcode int
	Msg     string
	Skipped []toolplan.Skip
}

func (*Rejection) Error() string

type Request struct {
	Member        string
	Label         string
	Description   string
	UpstreamURL   string
	AuthType      string
	AuthName      string
	AuthIn        string
	AuthSecret    storage.Secret
	Headers       map[string]storage.Secret
	WebhookURL    string
	WebhookSecret storage.Secret
	Timeout       int
	Private       bool
	PinsOff       bool
	OpenAPI       json.RawMessage
	StaticTools   json.RawMessage
	ResolveRefs   *bool
	Lint          bool
	KeepTools     bool
	Owner         string
	_             []struct{}
}

type Result struct {
	Tools   []toolplan.Tool
	Skipped []toolplan.Skip
	Version string
	Advice  []string
	_       []struct{}
}

func StaticTools(ctx context.Context, raw json.RawMessage, o Options) (*Result, error)

type Store interface {
	Capabilities(ctx context.Context, owner string, from string, n int) ([]storage.Capability, string, error)
	Capability(ctx context.Context, member string) (storage.Capability, error)
	DeleteCapability(ctx context.Context, c storage.Capability, events ...storage.Delivery) error
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FindPlace(ctx context.Context, member string, limited string) (storage.Place, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveAt(ctx context.Context, p storage.Place, c storage.Capability, tools []toolplan.Tool,
		allow func(owned []storage.Capability) error, events ...storage.Delivery) (storage.Place, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	StoredPlace(ctx context.Context, member string) (storage.Place, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	ToolsAt(ctx context.Context, p storage.Place) ([]toolplan.Tool, error)
	users
}

const TooMuch = 4003

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
