package registry // import "github.com/keystile/keystile/registry"

import "context"
import "encoding/json"
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
}

type Config struct {
	BaseURL  string
	Store    Store
	Visitors interface {
		Visitor(r *http.Request) (storage.Session, error)
	}
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}
	MaxCapabilities       int
	MaxTools              int
	Discoverer            Discoverer
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

func Lint(ctx context.Context, document []byte) []string

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
}

func Parse(ctx context.Context, document []byte, o Options) (*Result, error)

type Registered struct {
	storage.Capability
	Tools   []toolplan.Tool
	Warning string
	Lint    []string
}

type Registry struct{ _ []struct{} }

func (*Registry) Close(ctx context.Context) error
func (*Registry) List(ctx context.Context, actor storage.User) ([]storage.Capability, error)
func (*Registry) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Registry) OffBus(c storage.Capability) string
func (*Registry) OpenAPI() []byte
func (*Registry) Patterns() []string
func (*Registry) Preview(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) PreviewBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []toolplan.Tool, []string, error)
func (*Registry) Register(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) RegisterBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []string, error)
func (*Registry) Remove(ctx context.Context, actor storage.User, member string) error
func (*Registry) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Registry) SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
func (*Registry) Show(ctx context.Context, actor storage.User, member string) (Registered, error)

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
	WebhookURL    string
	WebhookSecret storage.Secret
	Timeout       int
	Private       bool
	OpenAPI       json.RawMessage
	StaticTools   json.RawMessage
	ResolveRefs   *bool
	Lint          bool
	Owner         string
	_             []struct{}
}

type Result struct {
	Tools   []toolplan.Tool
	Skipped []toolplan.Skip
	Version string
}

func StaticTools(ctx context.Context, raw json.RawMessage, o Options) (*Result, error)

type Store interface {
	Capabilities(ctx context.Context, owner string, from string, n int) ([]storage.Capability, string, error)
	Capability(ctx context.Context, member string) (storage.Capability, error)
	CapabilityLike(ctx context.Context, member string) (storage.Capability, error)
	DeleteCapability(ctx context.Context, c storage.Capability, events ...storage.Delivery) error
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveCapabilityIf(ctx context.Context, c storage.Capability, tools []toolplan.Tool, allow func(owned []storage.Capability) error, events ...storage.Delivery) (storage.Capability, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	users
}

const TooMuch = 4003

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
