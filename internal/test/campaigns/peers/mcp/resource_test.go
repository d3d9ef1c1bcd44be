package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/storage"
)

// said is what the tool of the host's own MCP server answers with: who calls.
type said struct {
	User  string `json:"user"`
	Agent string `json:"agent"`
}

// ownServer is an MCP server of the host's own, made with the Go SDK.
func ownServer() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		caller, _ := remote.CallerFrom(r.Context())
		s := mcp.NewServer(&mcp.Implementation{Name: "own", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "whoami"}, func(context.Context, *mcp.CallToolRequest, struct{}) (
			*mcp.CallToolResult, said, error) {
			return nil, said{caller.UserID, caller.AppID}, nil
		})
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true})
}

// The Go SDK knows the address of the host's own MCP server, and nothing else: it finds the provider by the document
// beside it, registers itself, signs its user in, and calls.
func TestGoSDKSignsInAtAnMCPServerOfTheHost(t *testing.T) {
	for name, edit := range map[string]func(*remote.Config, *agents.Site){
		"in the process":    func(c *remote.Config, s *agents.Site) { c.Tokens = s.Tokens },
		"by the keys":       func(*remote.Config, *agents.Site) {},
		"of another origin": func(*remote.Config, *agents.Site) {},
	} {
		t.Run(name, func(t *testing.T) {
			home, other := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
			origin := "http://" + home.Listener.Addr().String()
			resource := origin + "/mcp"
			if name == "of another origin" {
				resource = "http://" + other.Listener.Addr().String() + "/mcp"
			}
			site := agents.New(t, origin, func(c *keystile.Config) { c.Tokens.Resources = []string{resource} })
			config := remote.Config{BaseURL: origin}
			edit(&config, site)
			guard := must(remote.New(t.Context(), config))(t)
			elsewhere := http.NewServeMux()
			if err := guard.Mount(elsewhere, resource, ownServer(), "tools:own"); err != nil {
				t.Fatal(err)
			}
			if err := guard.Mount(site, resource, ownServer(), "tools:own"); err != nil {
				t.Fatal(err)
			}
			home.Config.Handler, other.Config.Handler = site, elsewhere
			for _, s := range []*httptest.Server{home, other} {
				s.Start()
				t.Cleanup(s.Close)
			}
			asksWho(t, site, resource)
		})
	}
}

func asksWho(t *testing.T, site *agents.Site, resource string) {
	t.Helper()
	person := agents.NewPerson(site.URL)
	handler := must(auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{callback}},
		},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return arrive(person, args.URL, callback)
		},
	}))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	transport := &mcp.StreamableClientTransport{Endpoint: resource, OAuthHandler: handler, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "login", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "whoami"})
	if err != nil || result.IsError {
		t.Fatalf("whoami = %+v, %v", result, err)
	}
	answer, _ := result.StructuredContent.(map[string]any)
	if agent, _ := answer["agent"].(string); answer["user"] != site.Sub || !strings.HasPrefix(agent, "ks-") {
		t.Errorf("whoami = %v, want the user %s and an agent that has registered itself", answer, site.Sub)
	}
}

// Somebody who has let an application sign them in has not let it use the host's MCP server.
func TestSignInToAnApplicationOpensNoMCPServerOfTheHost(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	origin := "http://" + server.Listener.Addr().String()
	site := agents.New(t, origin, func(c *keystile.Config) { c.Tokens.Resources = []string{origin + "/mcp"} })
	guard := must(remote.New(t.Context(), remote.Config{BaseURL: origin, Tokens: site.Tokens}))(t)
	if err := guard.Mount(site, origin+"/mcp", ownServer(), "tools:own"); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = site
	server.Start()
	t.Cleanup(server.Close)
	app := site.App(t, storage.App{Domains: []string{"127.0.0.1"}, Public: true})
	person := agents.NewPerson(origin)
	ask := func(scope, more string) string {
		return must(person.Visit(origin + "/oauth/authorize?response_type=code&state=s&client_id=" + app.ID + "&scope=" + scope +
			"&code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" +
			"&redirect_uri=" + url.QueryEscape(callback) + more))(t)
	}
	resource := "&prompt=none&resource=" + url.QueryEscape(origin+"/mcp")
	if to := ask("openid+profile", ""); !strings.Contains(to, "code=") {
		t.Fatalf("the sign-in leads to %s", to)
	}
	if to := ask("openid+profile+tools:own", resource); !strings.Contains(to, "error=consent_required") {
		t.Errorf("with the scope of the server it leads to %s", to)
	}
	pages := len(person.Pages())
	if to := ask("openid+profile+tools:own", strings.TrimPrefix(resource, "&prompt=none")); !strings.Contains(to, "code=") ||
		len(person.Pages()) == pages || !strings.Contains(person.Pages()[pages], "the tools of own") {
		t.Errorf("it leads to %s by %q", to, person.Pages()[pages:])
	}
}
