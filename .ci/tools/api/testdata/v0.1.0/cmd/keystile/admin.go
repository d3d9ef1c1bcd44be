package admin // import "github.com/keystile/keystile/cmd/keystile/admin"

import "context"
import "github.com/keystile/keystile/cmd/keystile/config"
import "github.com/keystile/keystile/cmd/keystile/internal/cli"
import "github.com/keystile/keystile/cmd/keystile/internal/folder"
import "github.com/keystile/keystile/gateway/billing"
import "github.com/keystile/keystile/gateway/usage"
import "github.com/keystile/keystile/internal/admin"
import "github.com/keystile/keystile/registry"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/nodes"
import "io"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

func AskOpenTools(ctx context.Context, data string) (*OpenTools, error)

func CheckClocks(ctx context.Context, store interface {
	Beats(context.Context) ([]nodes.Beat, error)
}) Finding

func CheckCounters(ctx context.Context, store Counter) Finding

func Commands(opener Opener) []cli.Command

type Counter interface {
	Counts(ctx context.Context) (storage.Counts, error)
	Recount(ctx context.Context) (storage.Counts, error)
}

var ErrGone error

type Finding struct {
	Name  string
	State State
	Says  string
	Do    string
}

func Handler(target Target, log *slog.Logger) http.Handler

type Keyring struct{ _ struct{} }

func (*Keyring) Make() (keys []storage.MasterKey, from string, err error)
func (*Keyring) Read() (keys []storage.MasterKey, from string, err error)

type Kind struct {
	Elsewhere  bool
	Storage    string
	Copies     bool
	Check      func(path string) (map[string]int, error)
	Compact    func(path string) (before int64, after int64, err error)
	Beside     []string
	Instead    string
	Migrations *Migrations
}

type Location struct {
	Address string
	Folder  string
	File    string
	Copies  bool
	Open    func(ctx context.Context, path string) (driver.Backend, error)
	Read    func(ctx context.Context, path string) (driver.Backend, error)
	Beside  []string
}

type Migration struct {
	Number int
	Name   string
	At     time.Time
}

type Migrations struct {
	Status func(context.Context) ([]Migration, error)
	Up     func(context.Context) ([]Migration, error)
	SQL    func(context.Context) (script string, err error)
}

func NewKeyring(c *config.Config, f *folder.Folder) *Keyring

const Noted State = "note"

type OpenTools struct {
	Tools []string "json:\"open_tools\""
	Count int      "json:\"open_tools_count\""
	By    []string "json:\"open_ways\""
}

type Opener struct {
	Open      func(ctx context.Context, c *config.Config, f *folder.Folder) (Target, io.Closer, error)
	Read      func(ctx context.Context, c *config.Config, f *folder.Folder) (Target, io.Closer, error)
	Scratch   func(ctx context.Context, c *config.Config) (Target, error)
	Try       func(ctx context.Context, c *config.Config, f *folder.Folder, path string) (Target, io.Closer, error)
	Kind      func(c *config.Config) (Kind, error)
	Check     func(ctx context.Context, c *config.Config, nodes int) (int, []Finding, error)
	Belongs   func(ctx context.Context, c *config.Config, f *folder.Folder) error
	At        func(address string) (Location, error)
	Addresses []string
}

type Provider interface {
	ReloadKeys(ctx context.Context) error
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

type Request struct {
	Command string   "json:\"command\""
	Args    cli.Args "json:\"args\""
	By      string   "json:\"by\""
}

type Response struct {
	Output string "json:\"output,omitempty\""
	Error  string "json:\"error,omitempty\""
	Usage  bool   "json:\"usage,omitempty\""
}

const Safe State = "safe"

type State string

type Target struct {
	Store      *storage.Store
	Users      Users
	Provider   Provider
	Copy       func(io.Writer) (int64, error)
	Signed     time.Duration
	Granted    time.Duration
	SigningAlg string
	Forget     func(id string)
	Billing    *billing.Billing
	Usage      *usage.Reader
	Registry   *registry.Registry
	Keys       *Keyring
	By         admin.Actor
	Recorder   admin.Recorder
	Unlock     func(context.Context, netip.Addr) bool
	Reload     func(context.Context) error
	Nodes      func(context.Context) ([]nodes.Info, error)
	Ways       func() (ways access.Ways, invitationPage string, err error)
	Unlisted   func(n int) (names []string, count int)
}

func (Target) EndApp(ctx context.Context, clientID string) error
func (Target) RetireKey(ctx context.Context, kid string) error
func (Target) RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
func (Target) SigningKeys(ctx context.Context) ([]storage.SigningKey, error)

const Unknown State = "unknown"

const Unsafe State = "unsafe"

type Users interface {
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
	LinkEmail(ctx context.Context, sub string, address string) error
	SetPassword(ctx context.Context, sub string, password string) error
}
