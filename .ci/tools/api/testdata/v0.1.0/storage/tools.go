package tools // import "github.com/keystile/keystile/storage/tools"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/document"
import "github.com/keystile/keystile/storage/internal/fence"
import "github.com/keystile/keystile/storage/lasthop"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/toolplan"
import "time"

var Capabilities document.Kind[Capability]

type Capability struct {
	Member        string           "json:\"member\""
	Label         string           "json:\"label,omitempty\""
	Description   string           "json:\"description,omitempty\""
	Kind          string           "json:\"kind\""
	UpstreamURL   string           "json:\"upstream_url\""
	AuthType      string           "json:\"auth_type,omitempty\""
	AuthName      string           "json:\"auth_name,omitempty\""
	AuthIn        string           "json:\"auth_in,omitempty\""
	AuthSecret    secret.Secret    "json:\"-\""
	WebhookURL    string           "json:\"webhook_url,omitempty\""
	WebhookSecret secret.Secret    "json:\"-\""
	Identity      lasthop.Identity "json:\"identity,omitzero\""
	Timeout       int              "json:\"timeout,omitempty\""
	Publish       bool             "json:\"publish\""
	PinsOff       bool             "json:\"pins_off,omitempty\""
	PinnedAt      time.Time        "json:\"pinned_at,omitzero\""
	Owner         string           "json:\"owner\""
	OwnedSince    time.Time        "json:\"owned_since,omitzero\""
	TakenFrom     string           "json:\"-\""
	ToolCount     int              "json:\"tool_count\""
	Skipped       []toolplan.Skip  "json:\"skipped,omitempty\""
	CreatedAt     time.Time        "json:\"created_at\""
	UpdatedAt     time.Time        "json:\"updated_at\""
	Version       int64            "json:\"-\""
	carried
	_ []struct{}
}

func (Capability) AutoDiscover() bool
func (Capability) CallTimeout() time.Duration
func (Capability) HeaderNames() []string
func (Capability) Pinned() (pinned bool, first bool)
func (Capability) Pins() string
func (Capability) SecretHeaders() map[string]secret.Secret
func (*Capability) SetSecretHeaders(headers map[string]secret.Secret)
func (Capability) Since() time.Time

var CapabilityFences document.Kind[fence.Fence]

const CapabilityMCP = "mcp"

const CapabilityREST = "rest"

const CapabilityStatic = "static"

type Delivery struct {
	ID         string        "json:\"id\""
	Event      string        "json:\"event\""
	Member     string        "json:\"member\""
	URL        string        "json:\"url\""
	Secret     secret.Secret "json:\"-\""
	Payload    []byte        "json:\"payload\""
	CreatedAt  time.Time     "json:\"created_at\""
	NextAt     time.Time     "json:\"next_at\""
	Attempts   int           "json:\"attempts\""
	LastStatus int           "json:\"last_status,omitempty\""
	LastError  string        "json:\"last_error,omitempty\""
	GivenUpAt  time.Time     "json:\"given_up_at,omitzero\""
	ExpiresAt  time.Time     "json:\"expires_at\""
	Dropped    int           "json:\"dropped,omitempty\""
	Version    int64         "json:\"-\""
	carried
}

func (Delivery) Wait(at time.Time) time.Duration
func (Delivery) Waiting() bool
func (Delivery) WaitsAt(at time.Time) bool

const DeliveryLife time.Duration = 604800000000000

var Kinds []document.AnyKind

const LogoutLife time.Duration = 10800000000000

const MaxPayload = 65536

const MaxTimeout time.Duration = 600000000000

const MaxTold = 500

const MaxWaiting = 50

type NameTaken struct {
	By    Capability
	Until time.Time
}

func (*NameTaken) Error() string
func (*NameTaken) Unwrap() error

func New(docs *document.Store, groups fence.Groups) *Store

type Place struct {
	Capability
	Taken *NameTaken
	_     []struct{}
}

func (Place) Owned() []Capability

func Queue(ctx context.Context, s *Store, all []Delivery, write func(queued []driver.Doc) error) error

type Store struct{ _ struct{} }

func (*Store) Access(ctx context.Context, member string) (access.List, error)
func (*Store) AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error)
func (*Store) Bundle(ctx context.Context, name string) (access.Bundle, error)
func (*Store) Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error)
func (*Store) Capabilities(ctx context.Context, owner string, from string, n int) ([]Capability, string, error)
func (*Store) Capability(ctx context.Context, member string) (Capability, error)
func (*Store) DeleteBundle(ctx context.Context, b access.Bundle) error
func (*Store) DeleteCapability(ctx context.Context, c Capability, events ...Delivery) error
func (*Store) DeleteDelivery(ctx context.Context, d Delivery) error
func (*Store) Deliveries(ctx context.Context, member string) ([]Delivery, error)
func (*Store) DueDeliveries(ctx context.Context, at time.Time, n int) ([]Delivery, error)
func (*Store) DueTold(ctx context.Context, at time.Time, n int) ([]Delivery, error)
func (*Store) FindPlace(ctx context.Context, member string, limited string) (Place, error)
func (*Store) FirstDelivery(ctx context.Context, member string) (Delivery, error)
func (*Store) GiveUpNames(ctx context.Context, owner string) error
func (*Store) Held(ctx context.Context, member string) (toolplan.Held, error)
func (*Store) QueueDeliveries(ctx context.Context, all ...Delivery) error
func (*Store) Queued() <-chan struct{}
func (*Store) SaveAccepted(ctx context.Context, c Capability, tools []toolplan.Tool, h toolplan.Held, events ...Delivery) (Capability, error)
func (*Store) SaveAccess(ctx context.Context, l access.List) (access.List, error)
func (*Store) SaveAt(ctx context.Context, p Place, c Capability, tools []toolplan.Tool, allow func(owned []Capability) error, events ...Delivery) (Place, error)
func (*Store) SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error)
func (*Store) SaveCapability(ctx context.Context, c Capability, tools []toolplan.Tool, events ...Delivery) (Capability, error)
func (*Store) SaveDelivery(ctx context.Context, d Delivery) (Delivery, error)
func (*Store) SaveHeld(ctx context.Context, h toolplan.Held, events ...Delivery) (toolplan.Held, error)
func (*Store) StoredPlace(ctx context.Context, member string) (Place, error)
func (*Store) Tools(ctx context.Context, member string) (Capability, []toolplan.Tool, error)
func (*Store) ToolsAt(ctx context.Context, p Place) ([]toolplan.Tool, error)

type carried = forward.Fields
