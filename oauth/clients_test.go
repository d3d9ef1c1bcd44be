package oauth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

// clientsFixture is a provider that admits documents, whose users allow everything.
type clientsFixture struct {
	*fixture
	consent *fakeConsent
	docs    *vendordocs.Docs
	trail   *recordedAudit
}

func newClientsFixture(t testing.TB, transport http.RoundTripper, docs *vendordocs.Docs,
	changes ...func(*oauth.Config)) *clientsFixture {
	h := &clientsFixture{consent: &fakeConsent{allowed: true}, docs: docs, trail: &recordedAudit{}}
	h.fixture = newFixture(t, append([]func(*oauth.Config){func(c *oauth.Config) {
		c.Consent, c.Audit, c.Clients.Transport = h.consent, h.trail, transport
		c.Log = quiet
	}}, changes...)...)
	return h
}

// inMemory is a fixture whose documents come without connections.
func inMemory(t testing.TB, changes ...func(*oauth.Config)) *clientsFixture {
	docs := vendordocs.New(t)
	return newClientsFixture(t, docs, docs, changes...)
}

// ask sends an authorize request as an MCP client does.
func (h *clientsFixture) ask(clientID, redirectURI string, pairs ...string) *httptest.ResponseRecorder {
	h.Helper()
	return h.authorize(append([]string{"client_id", clientID, "redirect_uri", redirectURI, "code_challenge",
		challengeOf(verifier), "code_challenge_method", "S256"}, pairs...)...)
}

// askAs is ask for a visitor who may leave.
func (h *clientsFixture) askAs(ctx context.Context, clientID, redirectURI string) *httptest.ResponseRecorder {
	v := form("response_type", "code", "client_id", clientID, "redirect_uri", redirectURI, "code_challenge",
		challengeOf(verifier), "code_challenge_method", "S256")
	return h.serve(httptest.NewRequestWithContext(ctx, "GET", "/oauth/authorize?"+v.Encode(), nil))
}

// codeFor returns the code of an authorize request that has to succeed.
func (h *clientsFixture) codeFor(clientID, redirectURI string, pairs ...string) string {
	h.Helper()
	w := h.ask(clientID, redirectURI, pairs...)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" || !strings.HasPrefix(to.String(), redirectURI) {
		h.Fatalf("authorize = %d, Location %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	return to.Query().Get("code")
}

func (h *clientsFixture) redeem(clientID, redirectURI, code string, pairs ...string) answer {
	h.Helper()
	return h.post("/oauth/token", form(append([]string{
		"grant_type", "authorization_code", "client_id", clientID, "redirect_uri", redirectURI, "code", code, "code_verifier",
		verifier,
	}, pairs...)...))
}

// vendors are the clients, and the redirect_uri that each sends.
var vendors = map[string]string{
	vendordocs.ClaudeCode: "http://localhost:54317/callback",
	vendordocs.ClaudeAI:   "https://claude.ai/api/mcp/auth_callback",
	vendordocs.ChatGPT:    "https://chatgpt.com/connector/oauth/kDmjx77UnKOM",
	vendordocs.VSCode:     "http://127.0.0.1:49152/",
	vendordocs.Codex:      "http://127.0.0.1:1455/callback/EDrLtgxAifwZ",
	vendordocs.OpenCode:   "http://127.0.0.1:19876/callback",
	vendordocs.Goose:      "http://localhost:35427/oauth_callback",
	vendordocs.Zed:        "http://127.0.0.1:61234/callback",
}

// Decision 55.
func TestVendorsDocumentSignsAPersonInAndNobodyRegistersIt(t *testing.T) {
	docs := vendordocs.New(t)
	h := newClientsFixture(t, docs.Serve(t), docs)
	for id, redirectURI := range vendors {
		var proof []string
		if id == vendordocs.ChatGPT {
			proof = []string{"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}
		}
		prove := func() []string {
			if proof == nil {
				return nil
			}
			return append(proof, "client_assertion", vendordocs.Assertion(t, id, issuer+"/oauth/token", nil))
		}
		granted := h.redeem(id, redirectURI, h.codeFor(id, redirectURI), prove()...).tokens(t)
		if got := payload(t, granted.text("access_token"))["client_id"]; got != id {
			t.Errorf("%s: the token is of %v", id, got)
		}
		app := must(h.store.App(t.Context(), id))(t)
		if app.Client.Kind != client.Document || !app.Public || app.FirstParty || app.Owner != "" ||
			app.Client.ExpiresAt.IsZero() {
			t.Errorf("%s: stored %+v, want a public third party that ends unless a user keeps it", id, app)
		}
		refresh := granted.text("refresh_token")
		if lists := id != vendordocs.Goose && id != vendordocs.Zed; lists != (refresh != "") {
			t.Errorf("%s: refresh token %q, want one where the document has the grant type", id, refresh)
		}
		if refresh != "" {
			h.post("/oauth/token", form(append(prove(), "grant_type", "refresh_token", "client_id", id, "refresh_token",
				refresh)...)).tokens(t)
		}
		if n := docs.Asked(id); n != 1 {
			t.Errorf("%s: the document was read %d times, want once", id, n)
		}
	}
}

// recordedAudit remembers events.
type recordedAudit struct {
	mu     sync.Mutex
	events []event.Event
}

func (a *recordedAudit) Note(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

func (a *recordedAudit) NoteNow(_ context.Context, e event.Event) error {
	a.Note(e)
	return nil
}

// of returns the details of the events of one kind.
func (a *recordedAudit) of(kind string) (details []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.events {
		if e.Kind == kind {
			details = append(details, e.Detail)
		}
	}
	return details
}

// RFC 8628: the first request of a device that nobody knows is not one to the authorization endpoint.
func TestDeviceBringsItsDocument(t *testing.T) {
	docs := vendordocs.New(t)
	d := newDevices(t, 1, func(c *oauth.Config) { c.Clients.Transport = docs })
	ask := func(clientID string) answer {
		t.Helper()
		return d.begin("client_id", clientID)
	}
	if a := ask(vendordocs.VSCode); a.status != 200 || a.text("user_code") == "" || docs.Asked(vendordocs.VSCode) != 1 {
		t.Errorf("device_authorization = %d %v, want a user_code for a document that was read", a.status, a.body)
	}
	ask(vendordocs.ClaudeCode).wants(t, "one whose document is without the grant", 400, 400, "unauthorized_client")
	ask("https://chatgpt.com/oauth/none.json").wants(t, "one without a document", 401, 401, "invalid_client")
	must(d.nodes[0].store.SetClientHost(t.Context(), "zed.dev", true))(t)
	ask(vendordocs.Zed).wants(t, "one of a denied host", 401, 401, "invalid_client")
	if n := docs.Asked(vendordocs.Zed); n != 0 {
		t.Errorf("a denied host was read %d times", n)
	}
}
