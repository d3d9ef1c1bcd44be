package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/trust"
)

const (
	jwtBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessType    = "urn:ietf:params:oauth:token-type:access_token"
	idType        = "urn:ietf:params:oauth:token-type:id_token"
	clientJWT     = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	busResource   = issuer + "/api/mcp"
)

// signer has a key, and signs what it is told to.
type signer struct {
	*ecdsa.PrivateKey
	id string
}

func newSigner(t testing.TB, id string) signer {
	t.Helper()
	return signer{must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t), id}
}

// set returns the JSON Web Key Set of some keys.
func set(all ...signer) []byte {
	var s jose.JSONWebKeySet
	for _, k := range all {
		s.Keys = append(s.Keys, jose.JSONWebKey{Key: k.Public(), KeyID: k.id, Algorithm: "ES256", Use: "sig"})
	}
	text, _ := json.Marshal(s)
	return text
}

// sign makes a compact JWS of whatever header and claims.
func (k signer) sign(t testing.TB, head, claims map[string]any) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	text := func(v map[string]any) string { return encode([]byte(mustJSON(v))) }
	signed := text(head) + "." + text(claims)
	sum := sha256.Sum256([]byte(signed))
	switch head["alg"] {
	case "HS256": // by the public key, as a confused library would
		mac := hmac.New(sha256.New, set(k))
		mac.Write([]byte(signed))
		return signed + "." + encode(mac.Sum(nil))
	case "none":
		return signed + "."
	}
	r, s, err := ecdsa.Sign(rand.Reader, k.PrivateKey, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 64)
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return signed + "." + encode(raw)
}

// trusting is a fixture that trusts two issuers, whose keys one server has, and applications with keys.
type trusting struct {
	*fixture
	idp, ci *issuing
	agent   storage.App // confidential, with a secret
	proven  storage.App // with keys
	keys    signer      // its key
	public  storage.App
	denied  map[string]bool // the applications that the user has not allowed anything
	peers   atomic.Uint32   // the number of addresses that requests came from: guesses are counted by address
}

// issuing is a fake issuer.
type issuing struct {
	*httptest.Server
	key   signer
	set   atomic.Pointer[[]byte] // what it publishes; nil: it is away
	reads atomic.Int32
}

func newIssuing(t testing.TB, id string) *issuing {
	i := &issuing{key: newSigner(t, id)}
	keys := set(i.key)
	i.set.Store(&keys)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		keys := i.set.Load()
		switch {
		case keys == nil:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/.well-known/openid-configuration":
			w.Write([]byte(mustJSON(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})))
		case r.URL.Path == "/keys":
			w.Write(*keys)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

var loopback = []string{"127.0.0.0/8"}

func newTrusting(t testing.TB, changes ...func(*oauth.Config)) *trusting {
	t.Helper()
	h := &trusting{idp: newIssuing(t, "idp-1"), ci: newIssuing(t, "ci-1"), keys: newSigner(t, "app-1"),
		denied: map[string]bool{}}
	var host users.Host
	h.fixture = newFixtureWith(t, oauth.TokensConfig{Resources: []string{busResource, busResource + "/"}},
		append([]func(*oauth.Config){func(c *oauth.Config) {
			c.Assertions = oauth.AssertionsConfig{
				Issuers: []trust.Issuer{{Issuer: h.idp.URL, Use: trust.IDJAG, AllowPrivate: loopback}},
				Users:   &host, AllowPrivate: loopback,
			}
			c.ClientIP = func(*http.Request) netip.Addr {
				n := h.peers.Add(1)
				return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
			}
			c.Consent = allowing{but: h.denied}
		}}, changes...)...)
	host = users.New(h.store, nil).Host()
	h.agent = h.register(storage.App{Name: "Agent", Domains: []string{"agent.example.com"}, Exchange: true})
	h.proven = h.register(storage.App{Name: "Proven", Domains: []string{"proven.example.com"}, Exchange: true,
		Keys: &client.Keys{Set: set(h.keys)}})
	h.public = h.register(storage.App{Name: "Page", Domains: []string{"page.example.com"}, Public: true})
	h.ciTrusts(trust.Rule{Subject: "repo:acme/*:ref:refs/heads/main", Claims: map[string]any{"actor_id": 7},
		ClientID: h.agent.ID})
	h.knows(h.user, "ada-at-work")
	return h
}

// ciTrusts stores the issuer of workloads, as keystile issuer add does.
func (h *trusting) ciTrusts(rules ...trust.Rule) {
	h.Helper()
	i, _ := h.store.Issuer(context.Background(), h.ci.URL)
	i.Issuer, i.Use, i.AllowPrivate, i.Rules = h.ci.URL, trust.Workload, loopback, rules
	must(h.store.SaveIssuer(context.Background(), i))(h.TB)
}

// knows says that a user is known by a sub of the identity provider.
func (h *trusting) knows(u storage.User, sub string) {
	h.Helper()
	if err := h.store.LinkLogins(context.Background(), u.Sub, storage.Login{Method: "oidc",
		Subject: "i:" + h.idp.URL + "#" + sub}); err != nil {
		h.Fatal(err)
	}
}

// allowing is a Consent of users who have allowed each application everything, but those that it names.
type allowing struct {
	oauth.Consent
	but map[string]bool
}

func (a allowing) Allowed(_ context.Context, app storage.App, _, scope string) (string, bool, error) {
	return scope, !a.but[app.ID], nil
}

// attempt is a token request with an assertion, which a test may spoil.
type attempt struct {
	head, claims map[string]any
	form         url.Values
	key          signer
	field        string // of the assertion
	text         func(string) string
}

func (a *attempt) send(h *trusting) answer {
	h.Helper()
	if a.claims != nil && a.form.Get(a.field) == "" && !a.form.Has(a.field) {
		text := a.key.sign(h.TB, a.head, a.claims)
		if a.text != nil {
			text = a.text(text)
		}
		a.form.Set(a.field, text)
	}
	return h.post("/oauth/token", a.form)
}

// idJAG returns a request that is good.
func (h *trusting) idJAG() *attempt {
	now := time.Now()
	return &attempt{
		key: h.idp.key, field: "assertion",
		head: map[string]any{"alg": "ES256", "kid": h.idp.key.id, "typ": "oauth-id-jag+jwt"},
		claims: map[string]any{
			"iss":       h.idp.URL,
			"sub":       "ada-at-work",
			"aud":       issuer,
			"client_id": h.agent.ID,
			"jti":       rand.Text(),
			"iat":       now.Unix(),
			"exp":       now.Add(5 * time.Minute).Unix(),
			"scope":     "openid profile tools",
			"resource":  busResource,
		},
		form: form("grant_type", jwtBearer, "client_id", h.agent.ID, "client_secret", h.agent.AppKey().Reveal()),
	}
}

// workload returns a request that is good.
func (h *trusting) workload() *attempt {
	now := time.Now()
	return &attempt{
		key: h.ci.key, field: "assertion", head: map[string]any{"alg": "ES256", "kid": h.ci.key.id, "typ": "JWT"},
		claims: map[string]any{"iss": h.ci.URL, "sub": "repo:acme/shop:ref:refs/heads/main", "aud": issuer, "actor_id": 7,
			"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()},
		form: form("grant_type", jwtBearer),
	}
}

// proof returns a request of the application with keys that is good.
func (h *trusting) proof() *attempt {
	now := time.Now()
	return &attempt{
		key: h.keys, field: "client_assertion", head: map[string]any{"alg": "ES256", "kid": h.keys.id, "typ": "JWT"},
		claims: map[string]any{"iss": h.proven.ID, "sub": h.proven.ID, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(),
			"exp": now.Add(time.Minute).Unix()},
		form: form("grant_type", "client_credentials", "client_assertion_type", clientJWT),
	}
}

// exchanges returns a request of the agent for a token that is good.
func (h *trusting) exchanges(subject string, pairs ...string) *attempt {
	return &attempt{form: form(append([]string{"grant_type", tokenExchange, "client_id", h.agent.ID, "client_secret",
		h.agent.AppKey().Reveal(), "subject_token", subject, "subject_token_type", accessType}, pairs...)...)}
}

// issued returns an access token of the user that the agent has got by a code.
func (h *trusting) issued(app storage.App, pairs ...string) answer {
	h.Helper()
	other := *h.fixture
	other.app = app
	where := "https://" + app.Domains[0] + "/cb"
	code := other.code(append([]string{"redirect_uri", where}, pairs...)...)
	return other.exchange(code, "redirect_uri", where).tokens(h.TB)
}

// tokenHS256 signs claims with the appkey of an application, as an id_token is.
func tokenHS256(t testing.TB, app storage.App, claims map[string]any) string {
	t.Helper()
	return token.SignHS256(app.AppKey(), token.TypeID, []byte(mustJSON(claims)))
}
