package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/bruteforce"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/oauth/internal/issuers"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/trust"
)

// Store keeps applications, tokens, revocations and keys; *storage.Store implements it. Its OnChange tells of
// changed users too.
type Store interface {
	appStore
	userStore
	tokenStore
	keyStore
	deliveryStore
	sharedStore
	Setting(ctx context.Context, name string) (string, error)
}

// appStore keeps applications, and clients that registered themselves.
type appStore interface {
	App(ctx context.Context, id string) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	RemoveClient(ctx context.Context, a storage.App) error
	ClientHost(ctx context.Context, host string) (client.Host, error)
	Issuer(ctx context.Context, issuer string) (trust.Issuer, error)
	// whether a user may use an application
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
}

// userStore keeps how applications know users, and flows that users have begun.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	EnsureOpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	JoinSession(ctx context.Context, v storage.Session, appID string) (sid string, err error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
}

// tokenStore keeps codes and refresh tokens, and what is revoked.
type tokenStore interface {
	Issue(ctx context.Context, tokens ...driver.Token) error
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	// returns them as they are stored
	RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error)
	// that the store has lost, as they were
	RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error
	// why nothing can be granted now
	MayGrant() error
	// persistent, the same for every process over the store
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	Later(now time.Time) time.Time
	Reached(now time.Time) time.Time
}

// keyStore keeps API keys and signing keys.
type keyStore interface {
	APIKey(ctx context.Context, id string) (apikey.Key, error)
	UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)
	RemoveAPIKey(ctx context.Context, id string) error
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	SaveKeys(ctx context.Context, keys ...storage.SigningKey) error
	FirstKeys(ctx context.Context, alg string, keys ...storage.SigningKey) error
}

// deliveryStore keeps what applications are told, and user events.
type deliveryStore interface {
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
	DueTold(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	QueueDeliveries(ctx context.Context, all ...storage.Delivery) error
	Queued() <-chan struct{}
}

// sharedStore tells what other processes change in the store, and is swept.
type sharedStore interface {
	Shared() bool
	Listen(ctx context.Context, hint func()) error
	OnChange(f func(storage.Change)) (stop func())
	ReadChanges(ctx context.Context) error
	SweepEvery(ctx context.Context, every time.Duration, failed func(error))
}

// Users finds the users that tokens are about; *storage.Store implements it. A host with its own
// user table implements it too. Users in the Store of the Tokens are remembered for userinfo until it
// tells that they have changed; a host's table is asked at each request.
type Users interface {
	// User returns the user with this sub, or an error that wraps storage.ErrNotFound. A
	// sub is never equal to a client_id; ID, the user_id of protocol 2.2, may stay 0.
	User(ctx context.Context, sub string) (storage.User, error)
}

// SignIn knows which user a browser belongs to; *signin.SignIn implements it.
type SignIn interface {
	// Visitor returns the session of a signed-in, enabled user, or an error that wraps
	// storage.ErrNotFound if nobody is signed in.
	Visitor(r *http.Request) (storage.Session, error)
	// Proved reports whether a session has proved everything that its user has, including a second factor if there is
	// one. Where there are no second factors, each has.
	Proved(ctx context.Context, v storage.Session) (bool, error)
	// Ask answers an authorize request with the sign-in page. After the sign-in it redirects to
	// /oauth/authorize with the same parameters (r.URL.RawQuery, or r.PostForm where they came
	// as a form), but without prompt=login, prompt=select_account and max_age=0, which would
	// loop for ever. Where the user was signed in by a provider that does not prove the new sign-in that prompt or
	// max_age asks for, it adds keystile_login=unproven, and the application is told login_required. Its errors become
	// a 503 or 500 page.
	Ask(w http.ResponseWriter, r *http.Request, app storage.App) error
	// SignOut ends the visitor's session, if there is one, and forgets the cookie.
	SignOut(w http.ResponseWriter, r *http.Request) error
}

// Meter counts calls; *gateway.Gateway implements it.
type Meter interface {
	// Meter returns a handler whose calls are charged to a product.
	Meter(product string, handler http.Handler) http.Handler
}

// identity is the product that userinfo is charged to (protocol 8).
const identity = "identity"

// Server is the OAuth 2.1 and OpenID Connect provider.
type Server struct {
	*core
	mux             *reply.Mux
	userInfoHandler http.Handler // mux, metered
	userInfo        *userInfo
	legacy          *Legacy
	unfollow        func()
	sender          *webhook.Sender // nil: this process tells nobody
}

// core holds what the endpoints share.
type core struct {
	c       Config
	issuer  string
	store   Store
	engine  *engine.Engine
	tokens  *Tokens
	clients *clients
	keys    *issuers.Keys
	host    *claims.Host // nil: the host has no Claims
}

// New makes a Server. It reports all errors of the Config at once.
func New(_ context.Context, c Config) (*Server, error) {
	own := c.Users != nil
	if err := c.complete(); err != nil {
		return nil, err
	}
	sameOrigin := http.NewCrossOriginProtection()
	if err := sameOrigin.AddTrustedOrigin(c.Tokens.c.BaseURL); err != nil {
		return nil, fmt.Errorf("oauth: BaseURL: %w", err)
	}
	failures := bruteforce.New(c.Counter, "oauth")
	if c.Counter == nil {
		c.Counter = counters.NewCounter()
	}
	k := &core{c: c, tokens: c.Tokens, issuer: c.Tokens.c.BaseURL, store: registered{c.Tokens.c.Store},
		keys: issuers.New(c.Log)}
	s := &Server{core: k, legacy: &Legacy{visitors{k}}}
	var err error
	if k.clients, err = k.newClients(); err != nil {
		return nil, fmt.Errorf("oauth: Clients: %w", err)
	}
	if err := s.send(); err != nil {
		return nil, fmt.Errorf("oauth: %w", err)
	}
	k.engine = engine.New(k.engineConfig())
	if c.Claims != nil {
		k.host = claims.NewHost()
	}
	s.userInfo = &userInfo{k, claims.NewAnswers(s.issuer, k.shownUser, !own), claims.NewApps(c.Tokens.c.Store.App)}
	s.unfollow = s.store.OnChange(s.userInfo.changed)
	s.mux = reply.NewMux(c.Log, s.routes(s.userInfo, failures, sameOrigin)...)
	s.userInfoHandler = s.mux
	if c.Meter != nil {
		s.userInfoHandler = c.Meter.Meter(identity, s.mux)
	}
	return s, nil
}

// registered is a Store without the applications of API keys and of the console, which no client is: keys are made on
// the account page and by an operator, and nothing is authorized for either.
type registered struct{ Store }

func (s registered) App(ctx context.Context, id string) (storage.App, error) {
	if id == storage.KeysAppID || id == storage.ConsoleAppID {
		return storage.App{}, storage.ErrNotFound
	}
	return s.Store.App(ctx, id)
}

func (k *core) engineConfig() engine.Config {
	return engine.Config{
		Issuer: k.issuer, Resources: k.tokens.c.Resources, Store: k.store, Keys: k.tokens.keys, Revoker: k.tokens.revoked,
		User: k.c.Users.User, Groups: k.groups,
		OpenID: func(ctx context.Context, appID, sub string) (string, error) {
			o, err := k.store.EnsureOpenID(ctx, appID, sub)
			return o.OpenID, err
		},
		ForcePKCE: func(ctx context.Context) (bool, error) {
			v, err := k.store.Setting(ctx, storage.SettingForcePKCE)
			return v == "1", err
		},
		ElevatedAllowed: k.c.Consent != nil,
		IDToken:         k.idToken,
		MayGrant:        k.tokens.c.Store.MayGrant,
		Outlives:        k.tokens.outlives,
		CodeLifetime:    k.tokens.c.CodeLifetime, AccessLifetime: k.tokens.c.AccessLifetime,
		RefreshLifetime: k.tokens.c.RefreshLifetime,
		CodeReuseLeeway: k.c.CodeReuseLeeway, RefreshReuseLeeway: k.c.RefreshReuseLeeway, DefaultScope: k.c.DefaultScope,
		AgentsRefreshWindow: k.c.AgentsRefreshWindow, SuccessorKey: successorKeyOf(k.tokens.c.Store),
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == pathUserInfo || r.URL.Path == pathUserInfo+php {
		s.userInfoHandler.ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Mount registers the endpoints on a router, such as an http.ServeMux.
func (s *Server) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle("/oauth/", s)
	mux.Handle("/.well-known/", s)
	if s.registers() {
		mux.Handle(pathRegisterRoot, s)
	}
}

// closeTimeout bounds how long Close waits for what is being sent.
const closeTimeout = 2 * time.Second

// Close ends the Server. Messages that have not been sent wait in the store for the next process. The
// caller closes the Tokens.
func (s *Server) Close(ctx context.Context) error {
	s.unfollow()
	var errs []error
	ending, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if s.sender != nil {
		errs = append(errs, s.sender.Close(ending))
	}
	if s.host != nil {
		errs = append(errs, s.host.Close(ending))
	}
	return errors.Join(append(errs, s.clients.fetch.Close(ctx))...)
}

// Forget drops what userinfo has cached of an application, so that its rules and its filter of groups are read again.
// Otherwise they are within five seconds, and after a change by another process within one.
func (s *Server) Forget(clientID string) {
	s.userInfo.apps.Changed(storage.Change{Kind: storage.ChangedApps, IDs: []string{clientID}})
}

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (s *Server) Patterns() []string { return s.mux.Patterns() }
