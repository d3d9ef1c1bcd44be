package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/vendordocs"
)

const callback = "http://127.0.0.1:39127/callback"

// Nobody registered anything: the Go SDK is refused, registers itself, sends its user to a browser,
// lists, calls, and stays signed in by refreshing.
func TestGoSDKSignsInByRegisteringItself(t *testing.T) {
	site := agents.Start(t)
	signsIn(t, site, &auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{callback}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ClientName: "Login test go-sdk",
		}},
	}, "ks-", true)
}

// The documents that vendors publish are recorded; the Go SDK plays each vendor's client.
func TestDocumentOfEachVendorLetsTheGoSDKIn(t *testing.T) {
	documents := agents.WithVendors(t)
	for _, vendor := range agents.Vendors() {
		t.Run(vendor.Name, func(t *testing.T) {
			site := agents.Start(t, documents)
			c := &auth.AuthorizationCodeHandlerConfig{
				ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: vendor.ID},
				RedirectURL:                    withPort(vendor.Redirect),
			}
			if vendor.Signs { // the SDK has nothing for that
				c.Client = &http.Client{Transport: &signing{T: t, id: vendor.ID, issuer: site.URL}}
			}
			signsIn(t, site, c, vendor.ID, vendor.Stays)
		})
	}
}

// A user who has allowed tools that change nothing is asked again when the agent wants another.
func TestGoSDKAsksAgainForAToolThatWasNotAllowed(t *testing.T) {
	site := agents.Start(t)
	person, times := agents.NewPerson(site.URL), 0
	person.Choose = func(form url.Values) {
		if times++; times == 1 {
			form.Set("tools", "read")
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{callback}},
		},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return arrive(person, args.URL, callback)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	transport := &mcp.StreamableClientTransport{Endpoint: site.URL + "/api/mcp", OAuthHandler: handler, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "login", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if listed, err := session.ListTools(ctx, nil); err != nil || len(listed.Tools) != 1 {
		t.Errorf("it lists %+v, %v, want the tool that was allowed", listed, err)
	}
	for i, tool := range []string{"up__status", "up__order", "up__status"} {
		asked := min(i+1, 2)
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"code": 404}})
		if err != nil || result.IsError || times != asked {
			t.Fatalf("%s = %+v, %v; the user was asked %d times, want %d", tool, result, err, times, asked)
		}
	}
}

// withPort is a redirect_uri as a program sends it that listens at a port of its own.
func withPort(redirect string) string {
	for _, host := range []string{"http://localhost/", "http://127.0.0.1/"} {
		if path, ok := strings.CutPrefix(redirect, host); ok {
			return strings.TrimSuffix(host, "/") + ":33418/" + path
		}
	}
	return redirect
}

// signing adds what a client with a key sends to the token endpoint (RFC 7523).
type signing struct {
	*testing.T
	id, issuer string
}

func (s *signing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/oauth/token") {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	form.Set("client_id", s.id)
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", vendordocs.Assertion(s, s.id, s.issuer, nil))
	signed := r.Clone(r.Context())
	signed.Header.Del("Authorization") // the SDK tries Basic first
	signed.Body, signed.ContentLength = io.NopCloser(strings.NewReader(form.Encode())), int64(len(form.Encode()))
	return http.DefaultTransport.RoundTrip(signed)
}

// signsIn goes the whole way from a 401 to a called tool, and where the client stays once more with a token
// that has come to its end.
func signsIn(t *testing.T, site *agents.Site, c *auth.AuthorizationCodeHandlerConfig, client string, stays bool) {
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
		if stays != (last.token.RefreshToken != "") {
			t.Fatalf("a refresh token is there: %t, want %t", !stays, stays)
		}
		if !stays {
			break
		}
		last.expire()
	}
	if visits != 1 || stays != (last.refreshed == 1) {
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
