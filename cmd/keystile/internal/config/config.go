package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/redact"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/trust"
)

// Config is the effective configuration.
type Config struct {
	Data    string // the data folder
	Listen  string // host:port; port 0 is any free one
	BaseURL string // "": made from the listener's address
	// plain requests at Listen are served by package plainhttp
	ListenFast bool

	StorageURL storage.Secret // where the store is, with a password perhaps; zero: in the data folder
	TokenLog   *bool          // the store has a log of tokens before it; nil: if it can have one
	// where several nodes count together, with a password perhaps; zero: each counts alone
	RedisURL      storage.Secret
	NodeName      string              // zero: the name of the machine
	MasterKeys    []storage.MasterKey // the first seals, all of them open; nil: those in MasterKeyFile
	MasterKeyFile string              // "": master.key in the data folder

	TrustedProxies []netip.Prefix
	Demo           bool
	DemoUnasked    bool // no source says whether; it follows from where the service is reached

	WX, QQ, Douyin Credentials // zero: nobody signs in there
	Alipay         AlipayCredentials
	Feishu         FeishuCredentials
	WeCom          WeComCredentials
	DingTalk       Credentials
	OpenID         []OpenID // nil: none
	FakeProviders  bool

	CodeLifetime, AccessLifetime, RefreshLifetime time.Duration
	SessionIdle, SessionMax                       time.Duration
	CodeReuseLeeway, RefreshReuseLeeway           time.Duration
	AgentsRefreshWindow                           time.Duration // below 0: off

	LockFailures             int
	LockWindow, LockDuration time.Duration

	QR     bool   // the sign-in page offers to scan a code
	SignUp string // closed, invitation or open

	ConnectorSignUp map[string]string // the same of one connector, by name; nil: SignUp holds for all

	MFA authn.Policy // who needs a second factor

	DeleteAccount     string   // self, ask or off
	Contact           string   // where users reach the operator; "": it is not said
	ProfileAttributes []string // those that users change themselves

	Mail Mail

	PerAddress     int            // requests a minute without a valid token
	Shadow         gateway.Shadow // rates that refuse nobody
	FreeRepeats    int            // of a charged call
	StreamLife     time.Duration  // of a call
	MaxConnections int            // of one address
	StreamIdle     time.Duration  // of a connection
	Products       []Product
	OverageFen     int // of a thousand calls beyond a quota
	Origins        []string
	Bus            Bus
	Clients        Clients

	PrivateUpstreams []string // what tools may be called at although it is private
	PrivateLogouts   []string // where applications may be told of the end of sessions although it is private
	PrivateEvents    []string // where user events may be sent although it is private
	ResolveRefs      bool

	MaxCapabilities, MaxTools int // of one owner

	LegacyStatus string // always_ok or mapped

	IDTokenAlgs []string
	LoginTypes  string // protocol or extended
	ClaimRules  []claim.Rule
	Assertions  struct {
		Issuers               []trust.Issuer
		TokenEndpointAudience bool
	}
	SigningAlg string

	AuditKeep time.Duration // 0: for ever
	AuditSize int64         // bytes of records; 0: any number

	Streams Streams

	StaleAfter time.Duration // where other processes share the store

	Drain        time.Duration // between a signal and the end of listening; 0: none
	drainUnasked bool

	LogLevel    slog.Level
	LogFormat   string // text or json
	LogRequests bool

	OTel OTel

	AdminListen string   // "": there is no admin listener
	AdminHosts  []string // hosts that requests to it may name, beside its own

	Values []Value // where each of them came from, in the order of the table
}

// Mail is the server that mails are handed to.
type Mail struct {
	Host     string // "": there is none
	Port     int    // 0: that of TLS
	TLS      string // starttls, implicit or none
	Username string
	Password storage.Secret
	From     string
	Timeout  time.Duration
}

// Value is one key's effective value.
type Value struct {
	Key     string `json:"key"`
	Text    string `json:"value"`
	Source  string `json:"source"`
	inFile  bool   // may stand in a file
	objects bool   // may be a list of objects
}

// Load reads the three sources and says everything that is wrong with them at once. Of
// the arguments it reads those that Flags made; env is written as by os.Environ.
func Load(args cli.Args, env []string) (*Config, error) {
	var l loader
	flags, environment := l.flags(args), l.environment(env)
	file := l.file(first("config", flags, environment).text)
	c := &Config{}
	for _, k := range c.keys() {
		l.apply(c, k, first(k.name, flags, environment, file, map[string]given{k.name: {k.fallback, "default"}}))
	}
	c.settleDemo()
	c.settleDrain()
	l.check(c)
	if len(l.errs) > 0 {
		return nil, mistakes(l.errs)
	}
	return c, nil
}

// given is a value as a source has it.
type given struct{ text, source string }

func first(name string, sources ...map[string]given) given {
	for _, s := range sources {
		if v, ok := s[name]; ok {
			return v
		}
	}
	return given{}
}

type loader struct{ errs []error }

func (l *loader) complain(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf(format, args...))
}

// apply sets one key. A bad value is not repeated if it is a secret or may have one in it.
func (l *loader) apply(c *Config, k key, v given) {
	text := strings.TrimSpace(v.text)
	if k.objects {
		text = oneLine(text)
	}
	err := k.set(text)
	if err == nil && !k.secret && !k.prose && slices.ContainsFunc(k.texts(text), redact.Hides) {
		err = errors.New("it has a user or password in it, which is shown wherever settings are")
	}
	if err != nil {
		l.complain("%s: %s (%s) cannot be used: %w%s", k.name, k.quoted(text), v.source, k.explained(err, text),
			k.forExample())
	}
	c.Values = append(c.Values, Value{Key: k.name, Text: shown(k, text), Source: v.source, inFile: k.in(inFile),
		objects: k.objects})
}

func (k key) quoted(text string) string {
	if k.secret {
		return "the value"
	}
	return fmt.Sprintf("%q", shown(k, text))
}

// errHidden stands for an error that repeats what may be a password.
var errHidden = errors.New("it cannot be read; take the user and password out of it")

// explained returns what is wrong with a value, without what is not shown of it.
func (k key) explained(err error, text string) error {
	if slices.ContainsFunc(k.texts(text), func(part string) bool { return redact.Repeats(err.Error(), part) }) {
		return errHidden
	}
	return err
}

func (k key) forExample() string {
	if k.example == "" {
		return ""
	}
	return ", for example " + k.example
}

// check judges what no key can alone.
func (l *loader) check(c *Config) {
	if len(l.errs) > 0 {
		return
	}
	l.checkConnectors(c)
	if c.SessionIdle > c.SessionMax {
		l.complain("lifetimes.session_idle: %s is longer than lifetimes.session_max, %s: a session cannot slide past its end",
			c.SessionIdle, c.SessionMax)
	}
	l.checkStreams(c)
	l.checkShipped(c)
	l.checkOTel(c)
	if c.StaleAfter < 2*time.Second {
		l.complain("storage.stale_after: %s is less than 2s: the store is read once a second", c.StaleAfter)
	}
	switch m := c.Mail; {
	case m.Host == "" && (m.Port != 0 || m.Username != "" || !m.Password.IsZero() || m.From != ""):
		l.complain("mail.smtp.host: it is empty, and other keys of mail.smtp are not")
	case m.Host != "" && m.From == "":
		l.complain("mail.smtp.from: give the sender of mails, for example Example <id@example.com>")
	}
	if len(c.MasterKeys) > 0 && c.MasterKeyFile != "" {
		l.complain("master_key_file: KEYSTILE_MASTER_KEY is set too; keep one of them")
	}
}

func mistakes(errs []error) error {
	if len(errs) == 1 {
		return &cli.UsageError{Err: fmt.Errorf("the configuration: %w", errs[0])}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the configuration has %d mistakes:", len(errs))
	for _, err := range errs {
		fmt.Fprintf(&text, "\n  - %v", err)
	}
	return &cli.UsageError{Err: errors.New(text.String())}
}
