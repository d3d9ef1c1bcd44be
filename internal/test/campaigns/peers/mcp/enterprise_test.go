package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/trust"
)

var loopback = []string{"127.0.0.0/8"}

// provider is an identity provider of an organization: it exchanges whatever id_token it is sent for an ID-JAG.
type provider struct {
	*httptest.Server
	client string // at the service that the ID-JAG is for
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/keys":
			w.Write([]byte(vendordocs.KeySet(t)))
		case "/token":
			assertion := vendordocs.Assertion(t, p.URL, r.FormValue("audience"), func(head, claims map[string]any) {
				head["typ"] = "oauth-id-jag+jwt"
				claims["sub"], claims["client_id"], claims["resource"] = "ada@acme", p.client, r.FormValue("resource")
				claims["scope"], claims["email"] = r.FormValue("scope"), "ada@acme.example"
			})
			json.NewEncoder(w).Encode(map[string]any{"access_token": assertion, "token_type": "N_A",
				"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"})
		default:
			json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys",
				"authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
				"response_types_supported":         []string{"code"},
				"code_challenge_methods_supported": []string{"S256"}})
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// An organization lets its people's assistants in (MCP enterprise-managed authorization): the Go SDK gets an ID-JAG from
// the identity provider, redeems it here and uses the tools, and nobody is asked anything.
func TestGoSDKIsLetInByTheIdentityProviderOfAnOrganization(t *testing.T) {
	idp := newProvider(t)
	site := agents.Start(t, func(c *keystile.Config) {
		c.OAuth.Assertions.Issuers = []trust.Issuer{{Issuer: idp.URL, Use: trust.IDJAG, Create: true, AllowPrivate: loopback}}
	})
	app := site.App(t, storage.App{Domains: []string{"agent.example.com"}})
	idp.client = app.ID
	handler, err := extauth.NewEnterpriseHandler(&extauth.EnterpriseHandlerConfig{
		IdPIssuerURL: idp.URL, IdPCredentials: &oauthex.ClientCredentials{ClientID: "assistant"},
		MCPAuthServerURL: site.URL, MCPResourceURI: site.URL + "/api/mcp", MCPScopes: []string{"tools"},
		MCPCredentials: &oauthex.ClientCredentials{ClientID: app.ID,
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: app.AppKey().Reveal()}},
		IDTokenFetcher: func(context.Context) (*oauth2.Token, error) {
			return (&oauth2.Token{}).WithExtra(map[string]any{"id_token": "of the identity provider"}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	transport := &mcp.StreamableClientTransport{Endpoint: site.URL + "/api/mcp", OAuthHandler: handler, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "up__status", Arguments: map[string]any{"code": 404}})
	if err != nil || result.IsError {
		t.Errorf("a call = %+v, %v", result, err)
	}
	login, err := site.Store.Login(ctx, "oidc", "i:"+idp.URL+"#ada@acme")
	if err != nil {
		t.Errorf("nobody was made of the assertion: %v", err)
	}

	// The same library hands the token on (RFC 8693), by the application that it was issued to.
	source, err := handler.TokenSource(ctx)
	if err != nil {
		t.Fatal(err)
	}
	token, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	app.Exchange = true
	if app, err = site.Store.SaveApp(ctx, app); err != nil {
		t.Fatal(err)
	}
	site.ForgetApp(app.ID)
	narrower, err := oauthex.ExchangeToken(ctx, site.URL+"/oauth/token", &oauthex.TokenExchangeRequest{
		RequestedTokenType: "urn:ietf:params:oauth:token-type:access_token",
		Audience:           site.URL, Resource: site.URL + "/api/mcp", Scope: []string{"tools:up"},
		SubjectToken:     token.AccessToken,
		SubjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
	}, &oauthex.ClientCredentials{ClientID: app.ID,
		ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: app.AppKey().Reveal()}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := site.Tokens.Verify(ctx, narrower.AccessToken, site.URL+"/api/mcp")
	if err != nil || caller.Scope != "tools:up" || caller.UserID != login.UserID || len(caller.Actors) != 1 {
		t.Errorf("handed on is %+v, %v", caller, err)
	}
}

// A job of CI has no secret: what its platform says of it is enough (SEP-1933, RFC 7523).
func TestJobOfCIUsesToolsByItsPlatformsTokenAlone(t *testing.T) {
	ci := newProvider(t)
	site := agents.Start(t)
	app := site.App(t, storage.App{Domains: []string{"ci.example.com"}})
	if _, err := site.Store.SaveIssuer(t.Context(), trust.Issuer{Issuer: ci.URL, Use: trust.Workload, AllowPrivate: loopback,
		Rules: []trust.Rule{{Subject: "repo:acme/*", ClientID: app.ID}}}); err != nil {
		t.Fatal(err)
	}
	platform := vendordocs.Assertion(t, ci.URL, site.URL, func(_, claims map[string]any) { claims["sub"] = "repo:acme/shop" })
	c := oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: site.URL + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams}}
	token, err := c.Exchange(t.Context(), "", oauth2.SetAuthURLParam("assertion", platform),
		oauth2.SetAuthURLParam("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
		oauth2.SetAuthURLParam("resource", site.URL+"/api/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{Endpoint: site.URL + "/api/mcp",
		HTTPClient: &http.Client{Transport: bearing(token.AccessToken)}, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "job", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "up__status",
		Arguments: map[string]any{"code": 404}}); err != nil || result.IsError {
		t.Errorf("a call = %+v, %v", result, err)
	}
}
