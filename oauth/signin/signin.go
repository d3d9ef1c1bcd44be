package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/lockout"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Config is what a SignIn is made of. The zero value of a field that is not required is
// what the specification says.
type Config struct {
	BaseURL     string                         // required: the service's origin; https makes the cookie Secure
	Store       Store                          // required
	Users       users.Users                    // nil: users and passwords of the Store, which is a UserStore then
	Passwords   *passwords.Hasher              // nil: 19 MiB, 2 passes; not read if Users is set
	ClientIP    func(*http.Request) netip.Addr // nil: the peer's address
	Lock        lockout.Config                 // zero: 10 failures in 5 minutes lock for 15 (spec 8)
	SessionIdle time.Duration                  // 0: 7 days without use end a session
	SessionMax  time.Duration                  // 0: 30 days end it in any case
	Connectors  []connector.Connector          // other providers and methods of your own to sign in with; Users must be ConnectedUsers
	NoQR        bool                           // the page does not offer to scan a code with a phone
	Mailer      Mailer                         // nil: nothing is mailed, and what needs a mail is not offered; Users must be EmailUsers
	SignUp      string                         // "": SignUpClosed; the others need Users that are SignUpUsers
	Revoker     Revoker                        // nil: what ends tokens is not offered: changing a password, removing an application's access, signing out everywhere
	Audit       Audit                          // nil: nothing is written down
	Log         *slog.Logger                   // nil: slog.Default()
}

// Audit is where sign-ins and what people change are written down; *gateway.Gateway has it.
type Audit interface {
	// Note takes an event and does not wait until it is stored.
	Note(e event.Event)
	// NoteNow returns when the event is stored, or why it is not. What people change is
	// answered after it.
	NoteNow(ctx context.Context, e event.Event) error
}

// nowhere is the Audit of a Config without one.
type nowhere struct{}

func (nowhere) Note(event.Event)                           {}
func (nowhere) NoteNow(context.Context, event.Event) error { return nil }

// Store is what sign-in needs of storage beside the users; *storage.Store has it.
type Store interface {
	TicketStore
	AccountStore
	App(ctx context.Context, id string) (storage.App, error)
	Session(ctx context.Context, id string) (storage.Session, error)
	SaveSession(ctx context.Context, v storage.Session) (storage.Session, error)
	EndSession(ctx context.Context, v storage.Session) error
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	// HMACKey returns a key that stays and that every process over the store is given alike.
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// TicketStore keeps what is begun in a browser.
type TicketStore interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	TicketsAbout(ctx context.Context, kind, subject string) ([]storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
}

// SignIn serves the sign-in pages and the account page. Make it with New; end it with Close.
type SignIn struct {
	abilities
	mux        *reply.Mux
	store      Store
	users      users.Users
	guard      *lockout.Guard
	delays     *limits.Delays
	firsts     *limits.Delays // of passwords that known browsers have hashed before strangers'
	sameOrigin *http.CrossOriginProtection
	peer       func(*http.Request) netip.Addr
	base       string
	secure     bool
	qr         bool
	rates      limits.Rates
	idle       time.Duration
	max        time.Duration
	audit      Audit
	log        *slog.Logger
	offered    []way // to sign in, beside the password; as they stand on the page
	upstreams  []upstream
	labels     methods.Labels                 // of the upstreams
	linkable   []way                          // to be linked to an account; as they stand on its page
	marks      atomic.Pointer[storage.Secret] // the key of what known browsers have; nil: not read yet

	members members
	account *account
}

// abilities are what the Users of a Config can do beside the two methods of Users. They are
// found once, by New; nil where they cannot.
type abilities struct {
	named     users.NamedUsers
	connected users.ConnectedUsers
	marker    users.PasswordMarker
	logins    users.LoginStore // never nil: the Store's, of Users who do not know
}

func abilitiesOf(of users.Users, store Store) (a abilities) {
	a.named, _ = of.(users.NamedUsers)
	a.connected, _ = of.(users.ConnectedUsers)
	a.marker, _ = of.(users.PasswordMarker)
	a.logins = store
	if linked, ok := of.(users.LinkedUsers); ok {
		a.logins = linked
	}
	return a
}

// New makes a SignIn, or says everything that is wrong with the Config. What runs beside the
// requests has the values of ctx; it ends by Close and not with ctx.
func New(ctx context.Context, c Config) (*SignIn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &SignIn{
		store: c.Store, users: c.Users, peer: c.ClientIP, audit: c.Audit, log: c.Log,
		guard: lockout.New(c.Lock), delays: limits.NewDelays(), firsts: limits.NewDelays(), sameOrigin: http.NewCrossOriginProtection(),
		base: c.BaseURL, secure: strings.HasPrefix(c.BaseURL, "https:"), qr: !c.NoQR, rates: limits.NewRates(),
		idle: cmp.Or(c.SessionIdle, 7*24*time.Hour), max: cmp.Or(c.SessionMax, 30*24*time.Hour),
	}
	if err := s.sameOrigin.AddTrustedOrigin(c.BaseURL); err != nil {
		return nil, fmt.Errorf("signin: BaseURL: %w", err)
	}
	if s.users == nil {
		s.users = users.New(c.Store.(users.Store), c.Passwords)
	}
	s.abilities = abilitiesOf(s.users, s.store)
	if s.audit == nil {
		s.audit = nowhere{}
	}
	if s.peer == nil {
		s.peer = remote
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.qr {
		s.offered = append(s.offered, way{Path: qrPath, Label: "Scan with your phone"})
	}
	s.enableFeatures(ctx, c) // our own ways stand before those of others
	if err := s.connect(c.Connectors); err != nil {
		return nil, err
	}
	s.account = &account{in: s, store: c.Store, logins: s.logins, revoker: c.Revoker}
	s.mux = reply.NewMux(s.log, s.routes()...)
	return s, nil
}

// Close waits until every mail is sent, or until ctx ends; those that are left then are
// given up. What is asked for afterwards is answered without a mail, with 503.
func (s *SignIn) Close(ctx context.Context) error { return s.members.outbox.close(ctx) }

func (c Config) check() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("signin: "+format, args...)) }
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || c.BaseURL != base.Scheme+"://"+strings.ToLower(base.Host) {
		complain("BaseURL: %q is no origin; give one such as https://id.example.com, in lower case, without a path or a final slash", c.BaseURL)
	}
	if c.Store == nil {
		complain("Store: give the *storage.Store")
	}
	if _, keeps := c.Store.(users.Store); c.Store != nil && c.Users == nil && !keeps {
		complain("Users: the Store keeps none: give some")
	}
	if c.SessionIdle < 0 || c.SessionMax < 0 {
		complain("SessionIdle, SessionMax: %v, %v; neither may be negative", c.SessionIdle, c.SessionMax)
	}
	if !slices.Contains([]string{"", SignUpClosed, SignUpOpen, SignUpInvitation}, c.SignUp) {
		complain("SignUp: %q is neither closed, open nor invitation", c.SignUp)
	}
	if c.Lock.Failures < 0 || c.Lock.Within < 0 || c.Lock.For < 0 {
		complain("Lock: %+v; nothing in it may be negative", c.Lock)
	}
	return errors.Join(errs...)
}

func remote(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr()
}

func (s *SignIn) routes() []reply.Route {
	routes := []reply.Route{
		{Path: formPath, Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handle: s.serve, Fail: failPage},
	}
	routes = append(routes, s.consentRoutes()...)
	routes = append(routes, s.upstreamRoutes()...)
	if s.qr {
		routes = append(routes, s.qrRoutes()...)
	}
	routes = append(routes, s.memberRoutes()...)
	return append(routes, s.account.routes()...)
}

func (s *SignIn) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (s *SignIn) Patterns() []string { return s.mux.Patterns() }

// Mount hangs everything that is served here, and the answers to what is not found below it,
// into a mux.
func (s *SignIn) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	for _, path := range []string{formPath, accountPath} {
		mux.Handle(path, s)
		mux.Handle(path+"/", s)
	}
}

func (s *SignIn) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.enter(w, r)
	}
	return s.look(w, r)
}
