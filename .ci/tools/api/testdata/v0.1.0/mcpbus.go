package mcpbus // import "github.com/keystile/keystile/mcpbus"

import "context"
import "encoding/json"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/groups"
import "github.com/keystile/keystile/storage/lasthop"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type Bus struct{ _ []struct{} }

func (*Bus) CallFor(r *http.Request, caller storage.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
func (*Bus) Close(ctx context.Context) error
func (*Bus) Explain(ctx context.Context, v access.Viewer, after string, n int) (all []access.Verdict, next string, err error)
func (*Bus) Forget(id string)
func (*Bus) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Bus) Offer(ctx context.Context, sub string, clientID string, wanted string) (access.Offer, error)
func (*Bus) OpenAPI() []byte
func (*Bus) OpenToAll() bool
func (*Bus) OpenedBySetting() string
func (*Bus) Patterns() []string
func (*Bus) Reload(ctx context.Context) error
func (*Bus) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Bus) ToolsOf(member string) (tools []toolplan.Tool)
func (*Bus) Unlisted(n int) (names []string, count int)
func (*Bus) Update(ctx context.Context, c storage.Capability, tools []toolplan.Tool, created int64) error
func (*Bus) WhyUnlisted(member string) string

type Config struct {
	BaseURL  string
	Store    Store
	Invoker  Invoker
	Meter    Meter
	Verifier Verifier
	Signer   interface {
		SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (statement string, err error)
	}
	Discoverer Discoverer
	Pins       interface {
		Found(ctx context.Context, c storage.Capability, accepted []toolplan.Tool, found []toolplan.Tool) (storage.Capability, []toolplan.Tool, error)
	}
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}
	DefaultAccess string
	Visible       func(storage.Caller, storage.Capability, toolplan.Tool) bool
	Name          string
	Version       string
	Instructions  string
	Scopes        []string
	Origins       []string
	MaxTools      int
	MaxOwnerTools int
	MaxName       int
	PageSize      int
	Refresh       time.Duration
	Discovery     time.Duration
	KeepAlive     time.Duration
	Progress      time.Duration
	PerCaller     int
	PerUpstream   int
	PerListener   int
	Audit         interface{ Note(e event.Event) }
	ClientIP      func(*http.Request) netip.Addr
	Log           *slog.Logger
}

func (Config) DefaultScope(resource string) string

type Discoverer interface {
	Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error)
}

type Invoker interface {
	Call(ctx context.Context, c storage.Capability, t toolplan.Tool, arguments json.RawMessage) (Result, error)
}

const MaxAnswer = 16777216

const MaxName = 64

const MaxPageSize = 1000

type Meter interface {
	ChargeOnce(ctx context.Context, caller storage.Caller, product string, tool string, arguments []byte, took time.Duration, failed bool) error
	Quota(ctx context.Context, caller storage.Caller) (limit int64, remaining int64, reset time.Time, ok bool)
}

const MinAnswer = 65536

const MinName = 40

func New(ctx context.Context, c Config) (*Bus, error)

func NewUpstreams(c UpstreamsConfig) (*Upstreams, error)

const Path = "/api/mcp"

func Resources(issuer string) []string

type Result struct {
	IsError    bool
	Content    []json.RawMessage
	Structured json.RawMessage
	Headers    map[string]string
	Dispatched bool
	Status     int
	Bytes      int64
	Cause      error
}

type Store interface {
	AccessLists(ctx context.Context, from string, n int) (page []access.List, next string, err error)
	App(ctx context.Context, id string) (storage.App, error)
	Bundles(ctx context.Context, from string, n int) (page []access.Bundle, next string, err error)
	Capabilities(ctx context.Context, owner string, from string, n int) (page []storage.Capability, next string, err error)
	GroupsManagedBy(ctx context.Context, sub string, from string, n int) (page []groups.Group, next string, err error)
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	Later(now time.Time) time.Time
	OnChange(f func(storage.Change)) (stop func())
	Setting(ctx context.Context, name string) (string, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	users
}

type Upstreams struct{ _ struct{} }

func (*Upstreams) Call(ctx context.Context, c storage.Capability, t toolplan.Tool, arguments json.RawMessage) (result Result, err error)
func (*Upstreams) Close(ctx context.Context) error
func (*Upstreams) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error)

type UpstreamsConfig struct {
	AllowPrivateUpstreams []string
	MaxAnswer             int64
	Log                   *slog.Logger
}

type Verifier interface {
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

func WriteError(w http.ResponseWriter, _ *http.Request, status int, msg string)

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
