package engine

import (
	"context"
	"net/url"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store keeps applications and tokens; *storage.Store implements it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Issue(ctx context.Context, tokens ...driver.Token) error
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error) // whether a user may use an application
	Later(now time.Time) time.Time                                           // the date of a grant that is made now
}

// Revoker ends tokens, here and on the other nodes.
type Revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
	// StopsNow reports whether what a caller was granted has been revoked, at whichever node.
	StopsNow(ctx context.Context, c storage.Caller) (bool, error)
}

// Config says how to make an Engine; the oauth package has filled in the defaults.
type Config struct {
	Issuer    string
	Resources []string // audiences besides the issuer (RFC 8707); see token.IsOneOf
	Store     Store
	Keys      *token.Keys
	Revoker   Revoker

	// User returns a user by sub, or storage.ErrNotFound.
	User func(ctx context.Context, sub string) (storage.User, error)
	// OpenID returns the openid of a user for an application.
	OpenID func(ctx context.Context, appID, sub string) (string, error)
	// Groups returns the groups of a user, sorted, as far as an application learns of them by a scope; nil: the scope
	// opens none.
	Groups func(ctx context.Context, app *storage.App, sub, granted string) ([]string, error)
	// ForcePKCE reports whether a request without a challenge is refused.
	ForcePKCE func(ctx context.Context) (bool, error)
	// ElevatedAllowed says that users are asked for consent each time: without it, no application
	// is granted a scope that is never granted silently.
	ElevatedAllowed bool
	// DefaultScope returns the scope of a grant for a resource that names none, "" for that of protocol 4.1; nil:
	// always that.
	DefaultScope func(resource string) string
	// IDToken mints the id_token of a grant, before anything is spent.
	IDToken func(ctx context.Context, g Granted) (string, error)

	// MayGrant returns an error while nothing can be granted, because this machine's clock is far from the store's.
	MayGrant func() error
	// Outlives returns a time by which everything issued by now has expired.
	Outlives func(now time.Time) time.Time

	CodeLifetime, AccessLifetime, RefreshLifetime time.Duration
	CodeReuseLeeway, RefreshReuseLeeway           time.Duration

	// AgentsRefreshWindow bounds how long after its replacement a refresh token of an application that registered
	// itself is answered with the same successor. 0: it never is.
	AgentsRefreshWindow time.Duration
	// SuccessorKey returns the key that those successors are derived by, the same at every node and for ever.
	SuccessorKey func(ctx context.Context) (storage.Secret, error)
}

// Engine runs the grants.
type Engine struct {
	Config
	provider fosite.OAuth2Provider
}

// New makes an Engine. The order of the handlers matters: PKCE is checked after the code is found.
func New(c Config) *Engine {
	e := &Engine{Config: c}
	store, mint := adapter{e}, strategy{e}
	base := baseConfig(c)
	code := &oauth2.AuthorizeExplicitGrantHandler{
		AccessTokenStrategy: mint, RefreshTokenStrategy: mint, AuthorizeCodeStrategy: mint,
		CoreStorage: store, TokenRevocationStorage: store, Config: base,
	}
	refresh := &oauth2.RefreshTokenGrantHandler{
		AccessTokenStrategy: mint, RefreshTokenStrategy: mint, TokenRevocationStorage: store, Config: base,
	}
	clientCredentials := &oauth2.ClientCredentialsGrantHandler{
		HandleHelper: &oauth2.HandleHelper{AccessTokenStrategy: mint, AccessTokenStorage: store, Config: base},
		Config:       base,
	}
	base.AuthorizeEndpointHandlers = fosite.AuthorizeEndpointHandlers{code, pkce{e}}
	e.provider = fosite.NewOAuth2Provider(store, &config{Config: base, byGrant: map[string]fosite.TokenEndpointHandlers{
		GrantCode:              {code, pkce{e}},
		GrantRefresh:           {refresh},
		GrantClientCredentials: {clientCredentials},
	}})
	return e
}

// Grant types (protocol 1).
const (
	GrantCode              = "authorization_code"
	GrantRefresh           = "refresh_token"
	GrantClientCredentials = "client_credentials"
	GrantDevice            = "urn:ietf:params:oauth:grant-type:device_code"    // RFC 8628
	GrantJWTBearer         = "urn:ietf:params:oauth:grant-type:jwt-bearer"     // RFC 7523
	GrantExchange          = "urn:ietf:params:oauth:grant-type:token-exchange" // RFC 8693
)

// config gives fosite only the handlers of the grant type of the request: calling each of the
// others costs a stack trace.
type config struct {
	*fosite.Config
	byGrant map[string]fosite.TokenEndpointHandlers
}

func (c *config) GetTokenEndpointHandlers(ctx context.Context) fosite.TokenEndpointHandlers {
	return c.byGrant[workOf(ctx).form.Get("grant_type")]
}

// baseConfig sets every field that fosite would otherwise fill in on first use, which is
// a data race.
func baseConfig(c Config) *fosite.Config {
	return &fosite.Config{
		AccessTokenLifespan:      c.AccessLifetime,
		RefreshTokenLifespan:     c.RefreshLifetime,
		AuthorizeCodeLifespan:    c.CodeLifetime,
		IDTokenLifespan:          c.AccessLifetime,
		AccessTokenIssuer:        c.Issuer,
		IDTokenIssuer:            c.Issuer,
		RefreshTokenScopes:       []string{}, // every code grant gets a refresh token (protocol 2.1)
		MinParameterEntropy:      1,          // state is optional here; zero would mean 8
		OmitRedirectScopeParam:   true,
		ScopeStrategy:            fosite.ExactScopeStrategy,
		AudienceMatchingStrategy: fosite.ExactAudienceMatchingStrategy,
		ClientSecretsHasher:      noHasher{},
		// App.AllowsRedirect has checked the redirect_uri before fosite sees it.
		RedirectSecureChecker: func(ctx context.Context, u *url.URL) bool {
			w := workOf(ctx)
			return w.app.AllowsRedirect(w.form.Get("redirect_uri")) == nil
		},
		ClientAuthenticationStrategy: authenticated,
		SanitationWhiteList:          []string{"redirect_uri"},
		FormPostHTMLTemplate:         fosite.DefaultFormPostTemplate,
		JWTScopeClaimKey:             2,
	}
}
