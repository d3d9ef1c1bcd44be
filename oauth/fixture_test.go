package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

const (
	issuer   = "https://id.example.com"
	redirect = "https://app.example.com/cb"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// fixture is a provider over a memory store that counts its calls, with one
// confidential application, one user, and a browser that may be signed in.
type fixture struct {
	testing.TB
	calls   *counting
	store   *storage.Store
	tokens  *oauth.Tokens
	server  *oauth.Server
	app     storage.App
	user    storage.User
	browser *fakeSignIn
}

func newFixture(t testing.TB, changes ...func(*oauth.Config)) *fixture {
	t.Helper()
	return newFixtureWith(t, oauth.TokensConfig{}, changes...)
}

// newFixtureWith is newFixture with a TokensConfig.
func newFixtureWith(t testing.TB, c oauth.TokensConfig, changes ...func(*oauth.Config)) *fixture {
	t.Helper()
	h := &fixture{TB: t, calls: &counting{Backend: memory.New()}}
	t.Cleanup(func() { h.calls.Close() })
	h.store = must(storage.Open(context.Background(), h.calls, storage.NewMasterKey()))(t)
	h.browser = &fakeSignIn{}
	c.BaseURL, c.Store, c.SweepEvery = issuer, h.store, -1
	h.tokens = must(oauth.OpenTokens(context.Background(), c))(t)
	config := oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: h.browser}
	for _, change := range changes {
		change(&config)
	}
	h.server = must(oauth.New(context.Background(), config))(t)
	h.app = h.register(storage.App{Name: "App", Domains: []string{"app.example.com"}})
	h.user = must(h.store.CreateUser(context.Background(), storage.User{
		Username: "ada", Name: "Ada Lovelace", Nickname: "Ada", Picture: "https://img.example.com/ada.png",
		Email: "ada@example.com", EmailVerified: true, Gender: "female", Location: "London", LoginType: storage.LoginSelf,
	}, storage.Login{Method: storage.LoginSelf, Subject: "ada"}))(t)
	h.browser.signIn(h.user)
	return h
}

func (h *fixture) register(app storage.App) storage.App {
	h.Helper()
	return must(h.store.SaveApp(context.Background(), app))(h.TB)
}

// must returns the value of a call that cannot fail in this test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fakeSignIn is a SignIn whose session the test sets.
type fakeSignIn struct {
	session *storage.Session
	prompts int
	owes    bool // its user has a second factor that the session has not proved
}

func (b *fakeSignIn) Proved(context.Context, storage.Session) (bool, error) { return !b.owes, nil }

func (b *fakeSignIn) signIn(u storage.User) {
	b.session = &storage.Session{UserID: u.Sub, LoginType: storage.LoginSelf, AuthTime: time.Now()}
}

func (b *fakeSignIn) Visitor(*http.Request) (storage.Session, error) {
	if b.session == nil {
		return storage.Session{}, storage.ErrNotFound
	}
	return *b.session, nil
}

func (b *fakeSignIn) Ask(w http.ResponseWriter, _ *http.Request, _ storage.App) error {
	b.prompts++
	w.Write([]byte("please sign in"))
	return nil
}

func (b *fakeSignIn) SignOut(http.ResponseWriter, *http.Request) error {
	b.session = nil
	return nil
}

// form is a short way to write parameters: name, value, name, value. A later value of the
// same name wins, so that a test can say what it changes; the value "-" takes one away.
func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "-" {
			v.Del(pairs[i])
		}
	}
	return v
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (h *fixture) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.server.ServeHTTP(w, r)
	return w
}

// authorize sends an authorize request for the fixture's application; pairs change it.
func (h *fixture) authorize(pairs ...string) *httptest.ResponseRecorder {
	v := form(append([]string{"response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect, "state", "xyz"},
		pairs...)...)
	return h.serve(httptest.NewRequest("GET", "/oauth/authorize?"+v.Encode(), nil))
}

// code gets an authorization code; pairs change the authorize request.
func (h *fixture) code(pairs ...string) string {
	h.Helper()
	w := h.authorize(pairs...)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		h.Fatalf("authorize = %d, Location %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	return to.Query().Get("code")
}

// answer is a JSON answer.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func (a answer) text(name string) string { s, _ := a.body[name].(string); return s }
func (a answer) number(name string) int  { n, _ := a.body[name].(float64); return int(n) }

func (h *fixture) answer(w *httptest.ResponseRecorder) answer {
	h.Helper()
	a := answer{status: w.Code, header: w.Result().Header}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		h.Fatalf("answer %d is not JSON: %q", w.Code, w.Body)
	}
	return a
}

func (h *fixture) post(path string, v url.Values) answer {
	h.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return h.answer(h.serve(r))
}

// token sends a token request with the application's credentials; pairs change it.
func (h *fixture) token(pairs ...string) answer {
	h.Helper()
	return h.post("/oauth/token", h.tokenForm(pairs...))
}

func (h *fixture) tokenForm(pairs ...string) url.Values {
	return form(append([]string{"client_id", h.app.ID, "client_secret", h.app.AppKey().Reveal()}, pairs...)...)
}

// exchange redeems a code; pairs change the request.
func (h *fixture) exchange(code string, pairs ...string) answer {
	h.Helper()
	return h.token(append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", redirect},
		pairs...)...)
}

func (h *fixture) refresh(handle string, pairs ...string) answer {
	h.Helper()
	return h.token(append([]string{"grant_type", "refresh_token", "refresh_token", handle}, pairs...)...)
}

func (h *fixture) revoke(text string, pairs ...string) answer {
	h.Helper()
	return h.post("/oauth/revoke", h.tokenForm(append([]string{"token", text}, pairs...)...))
}

func (h *fixture) userInfo(bearer string) answer {
	h.Helper()
	r := httptest.NewRequest("GET", "/oauth/userinfo", nil)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return h.answer(h.serve(r))
}

// wants fails unless the answer has this status, errcode and RFC 6749 error.
func (a answer) wants(t testing.TB, what string, status, errcode int, name string) {
	t.Helper()
	if a.status != status || a.number("errcode") != errcode || a.number("code") != errcode || a.text("error") != name {
		t.Errorf("%s = %d %v, want %d with errcode %d and error %q", what, a.status, a.body, status, errcode, name)
	}
	if a.text("msg") == "" {
		t.Errorf("%s = %v: says nothing to people", what, a.body)
	}
}

// tokens fails unless the answer is a success.
func (a answer) tokens(t testing.TB) answer {
	t.Helper()
	if a.status != 200 || a.number("code") != 0 || a.text("access_token") == "" {
		t.Fatalf("token = %d %v, want tokens", a.status, a.body)
	}
	return a
}

// payload reads the claims of a JWT without verifying it.
func payload(t testing.TB, jwt string) map[string]any {
	t.Helper()
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", jwt)
	}
	raw := must(base64.RawURLEncoding.DecodeString(parts[1]))(t)
	var claims map[string]any
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// counting counts the calls of a Backend, and fails with the error of fault.
type counting struct {
	driver.Backend
	mu    sync.Mutex
	count map[string]int
	fault func() error // called before each call
	away  string       // the kind of documents that cannot be read
}

func (c *counting) called(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[name]++
	if c.fault != nil {
		return c.fault()
	}
	return nil
}

// during returns the calls that act makes.
func (c *counting) during(act func()) map[string]int {
	c.mu.Lock()
	c.count = nil
	c.mu.Unlock()
	act()
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.count)
}

func (c *counting) Issue(ctx context.Context, ts ...driver.Token) error {
	if err := c.called("Issue"); err != nil {
		return err
	}
	return c.Backend.Issue(ctx, ts...)
}

func (c *counting) Token(ctx context.Context, k driver.Key) (driver.Token, error) {
	if err := c.called("Token"); err != nil {
		return driver.Token{}, err
	}
	return c.Backend.Token(ctx, k)
}

func (c *counting) Exchange(ctx context.Context, k driver.Key, at time.Time, next ...driver.Token) error {
	if err := c.called("Exchange"); err != nil {
		return err
	}
	return c.Backend.Exchange(ctx, k, at, next...)
}

func (c *counting) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	if err := c.called("Revoke"); err != nil {
		return err
	}
	return c.Backend.Revoke(ctx, rs...)
}

func (c *counting) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	if err := c.called("Revocations"); err != nil {
		return nil, err
	}
	return c.Backend.Revocations(ctx, after, n)
}

func (c *counting) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	if err := c.called("Get"); err != nil {
		return driver.Doc{}, err
	}
	if kind == c.away {
		return driver.Doc{}, errors.New("the disk is away")
	}
	return c.Backend.Get(ctx, kind, id)
}

func (c *counting) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	if err := c.called("List"); err != nil {
		return nil, "", err
	}
	return c.Backend.List(ctx, kind, span, n)
}

func (c *counting) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if err := c.called("Put"); err != nil {
		return 0, err
	}
	return c.Backend.Put(ctx, docs...)
}

// tokensOf opens the tokens of a service whose store nobody sweeps.
func tokensOf(t testing.TB, base string, store oauth.Store, resources ...string) *oauth.Tokens {
	t.Helper()
	return must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{BaseURL: base, Store: store,
		Resources: resources, SweepEvery: -1}))(t)
}
