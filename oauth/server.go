package oauth

import (
	"cmp"
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
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store is what this room asks of storage; *storage.Store has it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	EnsureOpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	Setting(ctx context.Context, name string) (string, error)
	Issue(ctx context.Context, tokens ...driver.Token) error
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	Revoke(ctx context.Context, rs ...driver.Revocation) error
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	Dated(rs ...driver.Revocation) []driver.Revocation
	Later(now time.Time) time.Time
	Reached(now time.Time) time.Time
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	FirstKeys(ctx context.Context, alg string, keys ...storage.SigningKey) error
}

// Users finds the people that tokens are about; *storage.Store has it. A host with its
// own user table implements it.
type Users interface {
	// User returns the user with this sub, or an error that wraps storage.ErrNotFound. A
	// sub is never equal to a client_id; ID, the user_id of spec 2.2, may stay 0.
	User(ctx context.Context, sub string) (storage.User, error)
}

// SignIn knows who sits in front of the browser; *signin.SignIn has it.
type SignIn interface {
	// Visitor returns the session of a signed-in, enabled user, or an error that wraps
	// storage.ErrNotFound if nobody is signed in.
	Visitor(r *http.Request) (storage.Session, error)
	// Ask answers an authorize request with the way to sign in. Afterwards it brings the
	// browser back to /oauth/authorize with the same parameters (r.URL.RawQuery, or
	// r.PostForm where they came as a form), but without prompt=login, prompt=select_account
	// and max_age=0, which would ask for ever. Its errors become a 503 or 500 page.
	Ask(w http.ResponseWriter, r *http.Request, app storage.App) error
	// SignOut ends the visitor's session, if there is one, and forgets the cookie.
	SignOut(w http.ResponseWriter, r *http.Request) error
}

// Config is what New needs. Zero values are the defaults of the specification.
type Config struct {
	Issuer string // the origin, such as https://id.example.com; required
	Store  Store  // required
	SignIn SignIn // required
	Users  Users  // nil: the Store. A host's own table goes into signin.Config too

	// Consent asks users what an application may learn and do, unless it is FirstParty. Nil:
	// nobody is asked, and every application is granted what it wants, but never the scope
	// apps, which takes a question each time.
	Consent Consent

	CodeLifetime    time.Duration // 5 minutes (spec 8)
	AccessLifetime  time.Duration // 168 hours (spec 8)
	RefreshLifetime time.Duration // 30 days (spec 8)
	IDTokenLifetime time.Duration // 1 hour

	// Within these, a second use of a code or refresh token is refused but ends nothing:
	// it is a retry, or two tabs. Later it also ends the grant. 10 seconds each.
	CodeReuseLeeway, RefreshReuseLeeway time.Duration

	SigningAlg  string   // of access tokens: ES256 (default), EdDSA or RS256
	IDTokenAlgs []string // what /.well-known/openid-configuration offers; HS256
	Resources   []string // what tokens may be for besides the issuer (RFC 8707); one that ends in / is every name right below it

	Audit    Audit                          // nil: nothing is written down
	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

// Server is the provider.
type Server struct {
	c          Config
	mux        *reply.Mux
	engine     *engine.Engine
	keys       *token.Keys
	revoked    *token.Revoked
	verifier   *token.Verifier
	sameOrigin *http.CrossOriginProtection
	strikes    bruteforce.Strikes
}

// New makes a Server. It says everything that is wrong with the Config at once.
func New(ctx context.Context, c Config) (*Server, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s := &Server{c: c, sameOrigin: http.NewCrossOriginProtection()}
	err := s.sameOrigin.AddTrustedOrigin(c.Issuer)
	if err != nil {
		return nil, fmt.Errorf("oauth: Issuer: %w", err)
	}
	if s.keys, err = token.OpenKeys(ctx, c.Store, c.SigningAlg); err != nil {
		return nil, fmt.Errorf("oauth: signing keys: %w", err)
	}
	if s.revoked, err = token.OpenRevoked(ctx, c.Store); err != nil {
		return nil, fmt.Errorf("oauth: revocations: %w", err)
	}
	s.verifier = token.NewVerifier(token.VerifierConfig{Issuer: c.Issuer, Keys: s.keys, Revoked: s.revoked})
	s.engine = engine.New(s.engineConfig())
	s.mux = reply.NewMux(c.Log, s.routes()...)
	return s, nil
}

func (c *Config) complete() error {
	var errs []error
	if err := origin.Check("Issuer", c.Issuer); err != nil {
		errs = append(errs, err)
	}
	if c.Store == nil {
		errs = append(errs, errors.New("Store is missing"))
	}
	if c.SignIn == nil {
		errs = append(errs, errors.New("SignIn is missing: use oauth/signin"))
	}
	if users, ok := c.Store.(Users); c.Users == nil && ok {
		c.Users = users
	} else if c.Users == nil {
		errs = append(errs, errors.New("Users is missing, and the Store has none"))
	}
	c.CodeLifetime = cmp.Or(c.CodeLifetime, 5*time.Minute)
	c.AccessLifetime = cmp.Or(c.AccessLifetime, 168*time.Hour)
	c.RefreshLifetime = cmp.Or(c.RefreshLifetime, 30*24*time.Hour)
	c.IDTokenLifetime = cmp.Or(c.IDTokenLifetime, time.Hour)
	c.CodeReuseLeeway = cmp.Or(c.CodeReuseLeeway, 10*time.Second)
	c.RefreshReuseLeeway = cmp.Or(c.RefreshReuseLeeway, 10*time.Second)
	if min(c.CodeLifetime, c.AccessLifetime, c.RefreshLifetime, c.IDTokenLifetime, c.CodeReuseLeeway, c.RefreshReuseLeeway) < 0 {
		errs = append(errs, errors.New("a lifetime or leeway is negative"))
	}
	c.SigningAlg = cmp.Or(c.SigningAlg, token.ES256)
	if !slices.Contains([]string{token.ES256, token.EdDSA, token.RS256}, c.SigningAlg) {
		errs = append(errs, fmt.Errorf("SigningAlg %q is none of ES256, EdDSA, RS256", c.SigningAlg))
	}
	if len(c.IDTokenAlgs) == 0 {
		c.IDTokenAlgs = []string{token.HS256}
	}
	if c.Audit == nil {
		c.Audit = nowhere{}
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

func (s *Server) engineConfig() engine.Config {
	return engine.Config{
		Issuer: s.c.Issuer, Resources: s.c.Resources, Store: s.c.Store, Keys: s.keys, Revoker: s.revoked,
		User: s.c.Users.User,
		OpenID: func(ctx context.Context, appID, sub string) (string, error) {
			o, err := s.c.Store.EnsureOpenID(ctx, appID, sub)
			return o.OpenID, err
		},
		ForcePKCE: func(ctx context.Context) (bool, error) {
			v, err := s.c.Store.Setting(ctx, storage.SettingForcePKCE)
			return v == "1", err
		},
		Elevates:     s.c.Consent != nil,
		IDToken:      s.idToken,
		CodeLifetime: s.c.CodeLifetime, AccessLifetime: s.c.AccessLifetime, RefreshLifetime: s.c.RefreshLifetime,
		CodeReuseLeeway: s.c.CodeReuseLeeway, RefreshReuseLeeway: s.c.RefreshReuseLeeway,
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (s *Server) Patterns() []string { return s.mux.Patterns() }

// Verify returns whom a bearer token speaks for. The token's audience must be one of
// audiences, or a name right below one that ends in a slash; without any, the issuer. A faulty, expired or revoked token is
// ErrInvalidToken; any other error means that it cannot be judged now.
func (s *Server) Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error) {
	return s.verifier.Verify(ctx, bearer, audiences...)
}

// ErrInvalidToken is Verify's answer to a token that opens nothing.
var ErrInvalidToken = token.ErrInvalid

// ReloadKeys reads the signing keys again, after a rotation. If that fails the server goes
// on with those it has.
func (s *Server) ReloadKeys(ctx context.Context) error { return s.keys.Reload(ctx) }

// Revoke ends tokens: in the store first, then here at once. Until may be left zero: then
// the fact is kept until everything it can cover has expired.
func (s *Server) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	rs = slices.Clone(rs)
	for i := range rs {
		if rs[i].Until.IsZero() {
			rs[i].Until = s.engine.Outlives(time.Now())
		}
	}
	return s.revoked.Revoke(ctx, rs...)
}
