package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/device"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/federation"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/kept"
	"github.com/keystile/keystile/oauth/signin/internal/notice"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/event"
)

// Config says how to make a SignIn. Zero values are the defaults of the protocol.
type Config struct {
	BaseURL   string                         // required: the service's origin; https makes the cookie Secure
	Store     Store                          // required
	Users     users.Host                     // zero: users and passwords of the Store
	Passwords *passwords.Hasher              // nil: 19 MiB, 2 passes; not read if Users is set
	ClientIP  func(*http.Request) netip.Addr // nil: the peer's address
	Lock      counters.Lock                  // zero: 10 failures in 5 minutes lock for 15 (protocol 8)
	Lockout   counters.Addresses             // nil: each process counts alone, with Lock
	Delays    counters.Accounts              // nil: each process counts alone
	// of sign-ins begun and emails by address, and of attempts at delayed accounts by network; nil: each process counts
	// alone
	Counter     counters.Counter
	SessionIdle time.Duration // 0: 7 days without use end a session
	SessionMax  time.Duration // 0: 30 days end it in any case
	// other providers and methods of your own to sign in with; the Users must have Connected
	Connectors []connector.Connector
	NoQR       bool // no sign-in by scanning a code with a phone
	// nil: no email is sent, and features that need one are off; the Users must have Emails
	Mailer Mailer
	SignUp string       // who becomes a user by themselves, by whichever way in; "": SignUpClosed
	Tools  Tools        // nil: the consent page offers no choice among tools
	MFA    authn.Policy // who needs a second factor; zero: it is offered to everybody
	// RefreshLifetime is that of the oauth.TokensConfig: the consent page says that an application which is not used for
	// so long is signed out. 0: 30 days, as there.
	RefreshLifetime time.Duration
	// nil: features that end tokens are off: changing a password, removing an application's access, signing out
	// everywhere, API keys
	Revoker Revoker
	Audit   Audit // nil: nothing is recorded

	// Records searches the audit trail, as *gateway.Trail does; nil: users' downloads of their data include
	// nothing of it.
	Records interface {
		Search(ctx context.Context, q event.Query) (event.Page, error)
	}

	// ConnectorSignUp says it of one Connector, by its Name, in place of SignUp: such as SignUpOpen for a company's
	// own provider that lets none but its members in. The Users must have Invited.
	ConnectorSignUp map[string]string

	// ProfileAttributes are the attributes that users see and change on the page of their profile; nil: none. A claim
	// that is made of one says what its user says. The Users must have Attributes, and Profiles.
	ProfileAttributes []string

	DeleteAccount string // "": DeleteSelf; it needs a Revoker, and users of the Store or Erasable ones
	// where users reach the operator, such as an email address; with DeleteAsk they are told
	Contact string
	Console string                  // the path that the account page leads users with a role to; "": nowhere
	Place   func(netip.Addr) string // where an address is, for the sessions on the account page; nil: it is not said
	Log     *slog.Logger            // nil: slog.Default()
}

// Values of Config.SignUp: who may create an account. And of Config.DeleteAccount: who deletes that of a user
// who wants it.
const (
	SignUpClosed     = access.SignUpClosed     // nobody
	SignUpOpen       = access.SignUpOpen       // anybody
	SignUpInvitation = access.SignUpInvitation // anybody with the code of a storage.Invitation

	DeleteSelf = "self" // the user, at once
	DeleteAsk  = "ask"  // an operator: the user asks on a page, which is on the audit trail
	DeleteOff  = "off"  // nobody: there is no page for it
)

// SignIn serves the sign-in pages and the account page. Make it with New; end it with Close.
type SignIn struct {
	routes     []reply.Route
	mux        *reply.Mux
	steps      *flow.Steps
	users      users.Host
	consents   *consent.Consents
	codes      *otp.Codes
	account    *account.Account
	federation *federation.Federation
	factors    *factor.Factors
	devices    *device.Devices
	kept       *kept.Forms
	outbox     *outbox.Outbox
}

// New makes a SignIn, or reports all errors of the Config. Background work has the values of ctx;
// it ends by Close and not with ctx.
func New(ctx context.Context, c Config) (*SignIn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.filled()
	s := &SignIn{users: c.Users}
	if c.Mailer != nil {
		s.outbox = outbox.New(c.Store, c.Mailer, c.Log)
	}
	base, err := c.base(s.outbox)
	if err != nil {
		return nil, err
	}
	s.factors = &factor.Factors{Base: base, Store: c.Store, Users: c.Users, Policy: c.MFA,
		Secure: strings.HasPrefix(c.BaseURL, "https:"), Tools: s.newTools}
	s.steps = &flow.Steps{Base: base, Second: s.factors}
	s.consents = &consent.Consents{Steps: s.steps, Store: c.Store, Users: c.Users, Tools: c.Tools, Revoker: c.Revoker,
		RefreshLifetime: c.RefreshLifetime}
	if s.routes, err = s.features(c); err != nil {
		return nil, err
	}
	s.mux = reply.NewMux(c.Log, s.routes...)
	if s.outbox != nil {
		s.outbox.Start(ctx, map[string]outbox.Write{otp.MailKind: s.codes.Write, notice.MailKind: s.steps.Notices.Write})
	}
	return s, nil
}

// newTools reports whether an application asks a user for tools that they have not allowed it.
func (s *SignIn) newTools(ctx context.Context, app storage.App, sub, query string) (bool, error) {
	return s.consents.New(ctx, app, sub, query)
}

// Close sends the emails that are due, until ctx ends; what is left waits in the Store for the next
// process. A request that needs an email is answered with 503 from then on.
func (s *SignIn) Close(ctx context.Context) error {
	if s.outbox == nil {
		return nil
	}
	return s.outbox.Close(ctx)
}

func (c Config) check() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("signin: "+format, args...)) }
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" ||
		c.BaseURL != base.Scheme+"://"+strings.ToLower(base.Host) {
		complain("BaseURL: %q is no origin; give one such as https://id.example.com, in lower case, without a path or a "+
			"final slash", c.BaseURL)
	}
	if c.Store == nil {
		complain("Store: give the *storage.Store")
	}
	if c.SessionIdle < 0 || c.SessionMax < 0 {
		complain("SessionIdle, SessionMax: %v, %v; neither may be negative", c.SessionIdle, c.SessionMax)
	}
	c.checkWays(complain)
	c.checkProfile(complain)
	if !slices.Contains([]string{"", DeleteSelf, DeleteAsk, DeleteOff}, c.DeleteAccount) {
		complain("DeleteAccount: %q is neither self, ask nor off", c.DeleteAccount)
	}
	if len(c.Contact) > 200 || !toolschema.Visible(c.Contact) {
		complain("Contact: %q; give one line of up to 200 bytes, such as an email address", c.Contact)
	}
	if c.RefreshLifetime < 0 {
		complain("RefreshLifetime: %v; it may not be negative", c.RefreshLifetime)
	}
	if err := c.MFA.Check(); err != nil {
		complain("MFA: %w", err)
	}
	if c.Lock.Failures < 0 || c.Lock.Within < 0 || c.Lock.For < 0 {
		complain("Lock: %+v; nothing in it may be negative", c.Lock)
	}
	return errors.Join(errs...)
}

func peerAddress(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr()
}

// ServeHTTP serves the sign-in pages and the account page.
func (s *SignIn) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (s *SignIn) Patterns() []string { return s.mux.Patterns() }

// Mount registers the pages, and everything below their paths, on a mux.
func (s *SignIn) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle(web.DevicePath, s)
	for _, path := range []string{web.FormPath, web.AccountPath} {
		mux.Handle(path, s)
		mux.Handle(path+"/", s)
	}
}
