package registry // import "github.com/keystile/keystile/registry"

import "context"
import "encoding/json"
import "github.com/keystile/keystile/registry/pins"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/groups"
import "github.com/keystile/keystile/storage/lasthop"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type Bus interface {
	Reload(ctx context.Context) error
	Update(ctx context.Context, c storage.Capability, tools []toolplan.Tool, created int64) error
	WhyUnlisted(member string) string
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
	Validator             func(ctx context.Context, document []byte) []string
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
	Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error)
}

type Forms struct{ *Registry }

func (Forms) AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
func (Forms) BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
func (Forms) FetchDocument(ctx context.Context, actor storage.User, address string) ([]byte, error)
func (Forms) PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
func (Forms) PreviewBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []toolplan.Tool, []string, error)
func (Forms) RegisterBody(ctx context.Context, actor storage.User, body []byte) (_ storage.Capability, removed []string, advice []string, err error)
func (Forms) UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability, []string, error)

func New(_ context.Context, c Config) (*Registry, error)

type Registered struct {
	storage.Capability
	Tools   []toolplan.Tool
	Removed []string
	Warning string
	Advice  []string
	Usual   []toolplan.Skip
	_       []struct{}
}

type Registry struct{ _ []struct{} }

func (*Registry) AcceptPins(ctx context.Context, actor storage.User, member string, names []string, digest string) (pins.View, error)
func (*Registry) Close(ctx context.Context) error
func (*Registry) Give(ctx context.Context, actor storage.User, member string, owner string) (Registered, error)
func (*Registry) List(ctx context.Context, actor storage.User) ([]Registered, error)
func (*Registry) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Registry) OpenAPI() []byte
func (*Registry) Patterns() []string
func (*Registry) Preview(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) Register(ctx context.Context, actor storage.User, q Request) (Registered, error)
func (*Registry) Remove(ctx context.Context, actor storage.User, member string) error
func (*Registry) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Registry) SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
func (*Registry) Show(ctx context.Context, actor storage.User, member string) (Registered, error)
func (*Registry) ShowPins(ctx context.Context, actor storage.User, member string) (pins.View, error)

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
	Identity      lasthop.Identity
	WebhookURL    string
	WebhookSecret storage.Secret
	Timeout       int
	Private       bool
	PinsOff       bool
	OpenAPI       json.RawMessage
	StaticTools   json.RawMessage
	ResolveRefs   *bool
	Advise        bool
	KeepTools     bool
	Owner         string
	_             []struct{}
}

type Store interface {
	Capabilities(ctx context.Context, owner string, from string, n int) ([]storage.Capability, string, error)
	Capability(ctx context.Context, member string) (storage.Capability, error)
	DeleteCapability(ctx context.Context, c storage.Capability, events ...storage.Delivery) error
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FindPlace(ctx context.Context, member string, limited string) (storage.Place, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveAt(ctx context.Context, p storage.Place, c storage.Capability, tools []toolplan.Tool, allow func(owned []storage.Capability) error, events ...storage.Delivery) (storage.Place, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	StoredPlace(ctx context.Context, member string) (storage.Place, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	ToolsAt(ctx context.Context, p storage.Place) ([]toolplan.Tool, error)
	groupStore
	users
}

type groupStore interface {
	Group(ctx context.Context, name string) (groups.Group, error)
}

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
