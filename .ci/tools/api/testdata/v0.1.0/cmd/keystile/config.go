package config // import "github.com/keystile/keystile/cmd/keystile/config"

import "github.com/keystile/keystile/cmd/keystile/internal/cli"
import "github.com/keystile/keystile/gateway"
import "github.com/keystile/keystile/gateway/console"
import "github.com/keystile/keystile/gateway/stream/s3"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/authn"
import "io"
import "log/slog"
import "net/netip"
import "time"

type AlipayCredentials struct {
	ID         string
	PrivateKey storage.Secret
	PublicKey  string
}

type Bus struct {
	Origins   []string
	PageSize  int
	MaxName   int
	PerCaller int
	MaxAnswer int64
}

type Clients struct {
	Documents    string
	Hosts        []string
	AllowPrivate []string
	Registration string
}

type Config struct {
	Data                string
	Listen              string
	BaseURL             string
	StorageURL          storage.Secret
	RedisURL            storage.Secret
	NodeName            string
	MasterKeys          []storage.MasterKey
	MasterKeyFile       string
	TrustedProxies      []netip.Prefix
	Demo                bool
	DemoUnasked         bool
	WX                  Credentials
	QQ                  Credentials
	Douyin              Credentials
	Alipay              AlipayCredentials
	Feishu              FeishuCredentials
	WeCom               WeComCredentials
	DingTalk            Credentials
	OpenID              []OpenID
	FakeProviders       bool
	CodeLifetime        time.Duration
	AccessLifetime      time.Duration
	RefreshLifetime     time.Duration
	SessionIdle         time.Duration
	SessionMax          time.Duration
	CodeReuseLeeway     time.Duration
	RefreshReuseLeeway  time.Duration
	AgentsRefreshWindow time.Duration
	LockFailures        int
	LockWindow          time.Duration
	LockDuration        time.Duration
	QR                  bool
	SignUp              string
	ConnectorSignUp     map[string]string
	MFA                 authn.Policy
	DeleteAccount       string
	Contact             string
	Mail                Mail
	PerAddress          int
	Shadow              gateway.Shadow
	FreeRepeats         int
	StreamLife          time.Duration
	MaxConnections      int
	StreamIdle          time.Duration
	Products            []Product
	OverageFen          int
	Origins             []string
	Bus                 Bus
	Clients             Clients
	PrivateUpstreams    []string
	PrivateLogouts      []string
	PrivateEvents       []string
	ResolveRefs         bool
	MaxCapabilities     int
	MaxTools            int
	LegacyStatus        string
	IDTokenAlgs         []string
	LoginTypes          string
	SigningAlg          string
	AuditKeep           time.Duration
	AuditSize           int64
	Streams             Streams
	StaleAfter          time.Duration
	Drain               time.Duration
	LogLevel            slog.Level
	LogFormat           string
	LogRequests         bool
	OTel                OTel
	AdminListen         string
	AdminHosts          []string
	Values              []Value
	_                   []struct{}
}

func (*Config) Asked(key string) bool
func (*Config) Print(w io.Writer) error
func (*Config) Settings() (all []console.Setting)
func (*Config) TakeSocket(address string)

type Credentials struct {
	ID     string
	Secret storage.Secret
}

type FeishuCredentials struct {
	Credentials
	Lark bool
}

func Flags(names ...string) []cli.Flag

func GoDoc(pkg string) string

func Load(args cli.Args, env []string) (*Config, error)

func Loopback(host string) bool

type Mail struct {
	Host     string
	Port     int
	TLS      string
	Username string
	Password storage.Secret
	From     string
	Timeout  time.Duration
}

type OTel struct {
	Endpoint string
	Headers  map[string]storage.Secret
	Sample   float64
	Follow   bool
	Service  string
}

type OpenID struct {
	Preset       string
	Name         string
	Label        string
	Issuer       string
	Tenant       string
	ID           string
	Secret       storage.Secret
	Scopes       []string
	Domains      []string
	SignUp       string
	AllowPrivate []string
	TrustEmail   bool
}

func ParseDays(s string) (time.Duration, error)

type Product struct {
	Name       string
	Prefix     string
	Upstream   string
	Strip      bool
	KeepBearer bool
	Timeout    time.Duration
	Pace       float64
	UploadRate int
}

func Reference(w io.Writer) error

func ReferenceJSON(w io.Writer) error

const StreamOff = "off"

const StreamS3 = "s3"

const StreamStdout = "stdout"

type Streams struct {
	Audit     string
	Usage     string
	BatchAge  time.Duration
	BatchSize int64
	S3        s3.Config
}

func (Streams) To(where string) bool

type Value struct {
	Key    string "json:\"key\""
	Text   string "json:\"value\""
	Source string "json:\"source\""
	_      struct{}
}

type WeComCredentials struct {
	CorpID  string
	AgentID string
	Secret  storage.Secret
}
