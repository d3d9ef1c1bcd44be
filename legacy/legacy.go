package legacy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/bruteforce"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Store holds the methods of storage that this package uses; *storage.Store has it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	// OpenID returns the openid of a user for an application, FindOpenID the user of an openid.
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	FindOpenID(ctx context.Context, appID, openid string) (storage.OpenID, error)
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	// Admits reports whether a user may use an application.
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)

	Users // asked unless the Config has others
}

// Users finds the users of codes and tokens; *storage.Store has it.
type Users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Provider signs users in, and issues codes and access tokens; the Legacy of an *oauth.Server does.
type Provider interface {
	// SignIn returns the address of a sign-in for an authenticated application. It is
	// valid for a few minutes and for these values only, so that nobody else can make one. The
	// browser comes back to redirectURI with type, code and state.
	SignIn(app storage.App, loginType, redirectURI, state string) string
	// Begun reports whether a text is the ticket of such a sign-in, still good.
	Begun(app storage.App, ticket string) bool
	// Code issues a code of kind legacy to an application for a user who is signed in in
	// a browser at an address. It returns storage.ErrNotFound if the user has not consented
	// yet: send them to act=login.
	Code(ctx context.Context, app storage.App, who storage.Session, redirectURI string, from netip.Addr) (string, error)
	// Access mints the access token for a legacy code that is about to be redeemed.
	Access(ctx context.Context, code driver.Token) (string, error)
}

// Verifier verifies access tokens; *oauth.Tokens does.
type Verifier interface {
	// Verify returns the caller of a token for this service, or oauth.ErrInvalidToken.
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

// Visitors identifies the signed-in user of a browser; *signin.SignIn has it.
type Visitors interface {
	// Visitor returns the session of a signed-in user, or storage.ErrNotFound.
	Visitor(r *http.Request) (storage.Session, error)
}

// Audit records events; *gateway.Trail does.
type Audit interface{ Note(e event.Event) }

// Values of Config.ErrorStatus.
const (
	AlwaysOK = "always_ok" // HTTP 200: clients that read no body of an error still get to know errcode
	Mapped   = "mapped"    // HTTP 400, 401, 403 or 404 (protocol 7)
)

// Config holds what New needs. Zero values are the defaults of the protocol.
type Config struct {
	BaseURL  string   // the origin, such as https://id.example.com; required
	Store    Store    // required
	Users    Users    // nil: the Store
	Provider Provider // required
	Verifier Verifier // required
	Visitors Visitors // required

	// Types are the methods that the sign-in page offers, as access.Ways lists them: a login type of protocol 1, or
	// another Name of a connector, such as feishu. The first is the default. nil: self; keystile.New fills it in.
	Types []string

	ErrorStatus string // AlwaysOK (default) or Mapped

	Counter  counters.Counter               // of wrong keys and signatures; nil: each process counts alone
	Audit    Audit                          // nil: nothing is taken down
	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

// Legacy serves the old endpoints.
type Legacy struct {
	c        Config
	mux      *reply.Mux
	acts     map[string]act
	failures *bruteforce.Failures
}

// New makes a Legacy. It reports everything that is wrong with the Config at once.
func New(_ context.Context, c Config) (*Legacy, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	l := &Legacy{c: c, failures: bruteforce.New(c.Counter, "legacy")}
	l.acts = map[string]act{"login": l.login, "callback": l.callback, "query": l.query, "check_sso": l.checkSSO}
	l.mux = reply.NewMux(c.Log, l.routes()...)
	return l, nil
}

// routes lists every endpoint of this package (protocol 4.10). There is no HEAD: it would spend a
// code.
func (l *Legacy) routes() (all []reply.Route) {
	methods := []string{http.MethodGet, http.MethodPost}
	for _, php := range []string{"", ".php"} {
		all = append(all,
			reply.Route{Path: "/connect" + php, Methods: methods, Handle: l.connect, Fail: l.fail},
			reply.Route{Path: "/check_token" + php, Methods: methods, Handle: l.checkToken, Fail: l.failToken})
	}
	return all
}

func (l *Legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.mux.ServeHTTP(w, r) }

// Patterns returns the patterns that are served here, as http.ServeMux writes them.
func (l *Legacy) Patterns() []string { return l.mux.Patterns() }

// Mount registers the endpoints with a router, such as an http.ServeMux.
func (l *Legacy) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	for _, path := range l.Patterns() {
		mux.Handle(path, l)
	}
}

// Close does nothing: the Legacy has no goroutines.
func (*Legacy) Close(context.Context) error { return nil }

var loginTypes = []string{
	storage.LoginWX, storage.LoginAlipay, storage.LoginQQ, storage.LoginDouyin, storage.LoginEmail, storage.LoginSelf,
}

var methodShape = pattern.Lazy(`^[a-z][a-z0-9-]{0,31}$`)

func (c *Config) complete() error {
	var errs []error
	if err := origin.Check("BaseURL", c.BaseURL); err != nil {
		errs = append(errs, err)
	}
	if c.Users == nil && c.Store != nil {
		c.Users = c.Store
	}
	for _, need := range []struct {
		name    string
		missing bool
		hint    string
	}{
		{"Store", c.Store == nil, "*storage.Store"}, {"Users", c.Users == nil, "*storage.Store"},
		{"Provider", c.Provider == nil, "Legacy of an *oauth.Server"},
		{"Verifier", c.Verifier == nil, "*oauth.Tokens"}, {"Visitors", c.Visitors == nil, "*signin.SignIn"},
	} {
		if need.missing {
			errs = append(errs, fmt.Errorf("%s is missing: give the %s", need.name, need.hint))
		}
	}
	c.Types = slices.Clone(c.Types)
	if len(c.Types) == 0 {
		c.Types = []string{storage.LoginSelf}
	}
	for _, t := range c.Types {
		if !methodShape().MatchString(t) {
			errs = append(errs, fmt.Errorf("%q in Types is the name of no method: give a letter of a to z and up to 31 of a "+
				"to z, 0 to 9 and -", t))
		}
	}
	if c.ErrorStatus != "" && c.ErrorStatus != AlwaysOK && c.ErrorStatus != Mapped {
		errs = append(errs, fmt.Errorf("ErrorStatus %q is neither always_ok nor mapped", c.ErrorStatus))
	}
	if c.Audit == nil {
		c.Audit = noAudit{}
	}
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	if len(errs) > 0 {
		return fmt.Errorf("legacy: %w", errors.Join(errs...))
	}
	return nil
}

// noAudit is the trail of a host that keeps none.
type noAudit struct{}

func (noAudit) Note(event.Event) {}
