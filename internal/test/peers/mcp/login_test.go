package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/keystile/keystile/internal/test/agents"
)

const callback = "http://127.0.0.1:39127/callback"

// Nobody registered anything: the Go SDK is refused, registers itself, sends its user to a browser,
// lists, calls, and stays signed in by refreshing.
func TestTheGoSDKSignsInByRegisteringItself(t *testing.T) {
	site := agents.Start(t)
	signsIn(t, site, &auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{callback}, GrantTypes: []string{"authorization_code", "refresh_token"}, ClientName: "Login test go-sdk",
		}},
	}, "ks-")
}

// signsIn goes the whole way from a 401 to a called tool, and once more with a token that has come to its end.
func signsIn(t *testing.T, site *agents.Site, c *auth.AuthorizationCodeHandlerConfig, client string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if c.RedirectURL == "" {
		c.RedirectURL = callback
	}
	person, visits := agents.NewPerson(site.URL), 0
	c.AuthorizationCodeFetcher = func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		visits++
		asked, err := url.Parse(args.URL)
		if err != nil || !strings.HasPrefix(asked.Query().Get("client_id"), client) {
			t.Errorf("the client_id of %s, want %s", args.URL, client)
		}
		return arrive(person, args.URL, c.RedirectURL)
	}
	last := new(spoiled)
	c.NewTokenSource = last.source
	handler, err := auth.NewAuthorizationCodeHandler(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"signed in", "refreshed"} {
		transport := &mcp.StreamableClientTransport{Endpoint: site.URL + "/api/mcp", OAuthHandler: handler, MaxRetries: -1}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "login", Version: "1"}, nil).Connect(ctx, transport, nil)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer session.Close()
		listed, err := session.ListTools(ctx, nil)
		if err != nil || len(listed.Tools) != 2 {
			t.Fatalf("%s: it lists %+v, %v", when, listed, err)
		}
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "up__status", Arguments: map[string]any{"code": 404}})
		if err != nil || result.IsError || result.StructuredContent.(map[string]any)["code"] != "404" {
			t.Fatalf("%s: a call = %+v, %v", when, result, err)
		}
		last.expire()
	}
	if visits != 1 || last.refreshed != 1 {
		t.Errorf("%d visits of the browser and %d refreshes, want one of each", visits, last.refreshed)
	}
}

// arrive visits an address and returns what the browser brings to the application.
func arrive(person *agents.Person, address, redirect string) (*auth.AuthorizationResult, error) {
	application, err := person.Visit(address)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(application)
	if err != nil || !strings.HasPrefix(application, redirect+"?") {
		return nil, errors.New("the browser is sent to " + application)
	}
	q := to.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// spoiled is a token source whose token can be made to expire.
type spoiled struct {
	ctx       context.Context
	config    *oauth2.Config
	token     *oauth2.Token
	refreshed int
}

func (s *spoiled) source(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	s.ctx, s.config, s.token = ctx, c, token
	return s, nil
}

func (s *spoiled) expire() { s.token.Expiry = time.Now().Add(-time.Hour) }

func (s *spoiled) Token() (*oauth2.Token, error) {
	if s.token.Valid() {
		return s.token, nil
	}
	fresh, err := s.config.TokenSource(s.ctx, s.token).Token()
	if err == nil {
		s.refreshed++
		s.token = fresh
	}
	return s.token, err
}
