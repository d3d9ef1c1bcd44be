package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// Config says how to make a Server. Zero values are the defaults of the protocol.
type Config struct {
	Tokens *Tokens // required: OpenTokens
	SignIn SignIn  // required
	// Users are a host's own table, which goes into signin.Config too; nil: those of the Store of the Tokens. These are
	// remembered for userinfo, because the Store tells of changes.
	Users Users

	// Consent gets the users' consent for applications that are not FirstParty. Nil: every
	// application is granted what it asks for without consent, but never the scope apps, which
	// needs consent each time.
	Consent Consent

	// Devices lets users allow what devices without a browser ask for (RFC 8628); *signin.SignIn
	// implements it. Nil: the device grant is not offered.
	Devices interface {
		// BeginDevice stores what an application asks for on a device, and returns the device_code. The
		// ticket ends with it, and has the code that the user types as its Subject.
		BeginDevice(r *http.Request, app storage.App, scope, resource string) (deviceCode string, t storage.Ticket, err error)
		// PollDevice returns the record by which a device_code of an application is redeemed, once a
		// user has allowed it: of kind device, and the same each time. Until then, and for any other
		// device_code, it returns the error that the device is answered with (RFC 8628 3.5).
		PollDevice(r *http.Request, app storage.App, deviceCode string) (driver.Token, error)
		// DevicePage returns the path of the page where users type the code.
		DevicePage() string
	}

	// Levels judges by how many factors users have signed in; *signin.SignIn implements it. Nil: acr_values
	// are ignored, no application learns of it, and one that requires two factors (storage.App.MFA) gets no codes.
	Levels interface {
		// Levels returns the values of acr, the lowest first.
		Levels() []string
		// Level returns the acr to tell of a session, "" if there is nothing to tell.
		Level(v storage.Session, acrValues string) string
		// Enough reports whether a session is enough for the acr_values of a request and for what its
		// application requires. It is called for users who cannot prove more.
		Enough(ctx context.Context, v storage.Session, app storage.App, acrValues string) (bool, error)
		// AskFactor answers an authorize request of a signed-in user whose session is not enough. It
		// redirects back as SignIn.Ask does.
		AskFactor(w http.ResponseWriter, r *http.Request, app storage.App, acrValues string) error
	}

	// AskBy answers an authorize request of the old endpoints as SignIn.Ask does, but leads straight to the method that
	// the application asks for, where the sign-in page would offer it; AskBy of a *signin.SignIn does. Nil: users
	// choose one on the sign-in page.
	AskBy func(w http.ResponseWriter, r *http.Request, app storage.App, method string) error

	IDTokenLifetime time.Duration // 1 hour

	// Within these, a second use of a code or refresh token is refused but ends nothing:
	// it is a retry, or two tabs. Later it also ends the grant. 10 seconds each.
	CodeReuseLeeway, RefreshReuseLeeway time.Duration

	// AgentsRefreshWindow bounds how long after its replacement a refresh token of an application that registered
	// itself is answered with the same successor as before, unless that has been used: such an agent often runs several
	// times with one set of tokens. Later, the token ends its family. 60 seconds; below 0: it is as for other
	// applications.
	AgentsRefreshWindow time.Duration

	// DefaultScope returns the scope of a grant for a resource (RFC 8707) whose application asks for none that
	// is known here, such as the DefaultScope of a mcpbus.Config. "", and a nil one: openid profile, as where
	// no resource is named.
	DefaultScope func(resource string) string

	// LoginTypes says what login_type is to applications: "protocol" or "", a login type of protocol 1, which
	// calls every other method self; "extended", the method itself, such as feishu or the name of a host's own.
	// The old endpoints always have those of the protocol.
	LoginTypes string

	// ClaimRules add claims to what all applications learn of users; those of an application (storage.App.Claims) come
	// after them, and decide where both say the same claim.
	ClaimRules []claim.Rule

	// Claims returns claims of the host's own, for id_tokens, userinfo and introspection. It must return when ctx ends,
	// which is after a second. If it does not, or fails or panics, its claims are left out and nothing else; the log and
	// the audit trail say so. A claim that a rule says already stays as it is, one whose name has a meaning of its own
	// (claim.Reserved) is dropped, and all that is added takes 4 KiB at most. It is called by many goroutines at once;
	// when 256 calls are under way, it is not asked. nil: there are none.
	Claims func(ctx context.Context, r ClaimsRequest) (map[string]any, error)

	IDTokenAlgs []string // what /.well-known/openid-configuration offers; HS256

	// Meter counts the calls of userinfo against a quota; nil: they are not counted.
	Meter Meter

	// Clients are applications that nobody registered here. They are admitted only where there is a
	// Consent: nobody has checked them.
	Clients ClientsConfig

	// Assertions say whose assertions are redeemed for tokens (RFC 7523).
	Assertions AssertionsConfig

	// of wrong secrets, and of applications that register themselves; nil: each process counts alone
	Counter counters.Counter

	// AllowPrivate lists the private addresses and networks that applications may be told at of the end of
	// sessions: a CIDR, an address or host:port. It is for nothing else: whoever owns an application chooses
	// where it is told, and needs no role for that. A name that leads there is told only where an operator has
	// set it (storage.App.OperatorLogoutURI).
	AllowPrivate []string

	AllowPrivateEvents []string // the same, of user events alone, whose address only an operator sets
	NoDelivery         bool     // this process tells nobody: that waits for one that does

	Audit    Audit                          // nil: nothing is recorded
	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

func (c *Config) complete() error {
	var errs []error
	if c.Tokens == nil {
		errs = append(errs, errors.New("Tokens is missing: use OpenTokens"))
	}
	if c.SignIn == nil {
		errs = append(errs, errors.New("SignIn is missing: use oauth/signin"))
	}
	if c.Users == nil && c.Tokens != nil {
		c.Users = c.Tokens.c.Store
	}
	c.IDTokenLifetime = cmp.Or(c.IDTokenLifetime, time.Hour)
	c.CodeReuseLeeway = cmp.Or(c.CodeReuseLeeway, 10*time.Second)
	c.RefreshReuseLeeway = cmp.Or(c.RefreshReuseLeeway, 10*time.Second)
	c.AgentsRefreshWindow = cmp.Or(c.AgentsRefreshWindow, 60*time.Second)
	if min(c.IDTokenLifetime, c.CodeReuseLeeway, c.RefreshReuseLeeway) < 0 {
		errs = append(errs, errors.New("a lifetime or leeway is negative"))
	}
	if c.LoginTypes = cmp.Or(c.LoginTypes, logintype.Protocol); c.LoginTypes != logintype.Protocol &&
		c.LoginTypes != logintype.Extended {
		errs = append(errs, fmt.Errorf("LoginTypes is %q: it is protocol or extended", c.LoginTypes))
	}
	if err := claim.Check(c.ClaimRules); err != nil {
		errs = append(errs, fmt.Errorf("ClaimRules: %w", err))
	}
	if len(c.IDTokenAlgs) == 0 {
		c.IDTokenAlgs = []string{token.HS256}
	}
	if c.Tokens != nil {
		if err := c.Clients.complete(c.Tokens.c.BaseURL); err != nil {
			errs = append(errs, err)
		}
	}
	if err := c.Assertions.check(); err != nil {
		errs = append(errs, err)
	}
	if c.Consent == nil {
		c.Clients.Registration = registrationOff
	}
	if c.Audit == nil {
		c.Audit = noAudit{}
	}
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if len(errs) > 0 {
		return fmt.Errorf("oauth: %w", errors.Join(errs...))
	}
	return nil
}
