package legacy_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	issuer   = "https://id.example.com"
	redirect = "https://app.example.com/cb"
	appKey   = "S3cr3tKeyForTests0123456789abcdef"
	password = "correct horse battery"
)

// fixture is the old endpoints with a provider, with an application 1000, another one, and
// Ada, who is signed in.
type fixture struct {
	testing.TB
	backend    *faulty
	store      *storage.Store
	users      *users.StoreUsers
	tokens     *oauth.Tokens
	provider   *testProvider
	legacy     *legacy.Legacy
	mux        *http.ServeMux
	trail      *trail
	app, other storage.App
	ada        storage.User
	session    string // her cookie
}

func newFixture(t testing.TB, changes ...func(*legacy.Config)) *fixture {
	t.Helper()
	h := newNode(t, backend.New(t), storage.NewMasterKey(), changes...)
	h.people()
	return h
}

// newNode makes a fixture that may share its store with others, and has nobody and nothing in it.
func newNode(t testing.TB, b driver.Backend, key storage.MasterKey, changes ...func(*legacy.Config)) *fixture {
	t.Helper()
	h := &fixture{TB: t, backend: &faulty{Backend: b}, trail: &trail{}, mux: http.NewServeMux()}
	quiet := slog.New(slog.DiscardHandler)
	h.store = must(storage.Open(context.Background(), h.backend, key))(t)
	h.users = users.New(h.store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))
	signIn := must(signin.New(context.Background(), signin.Config{BaseURL: issuer, Store: h.store, Users: h.users.Host(),
		Log: quiet}))(t)
	h.tokens = must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{BaseURL: issuer, Store: h.store,
		SweepEvery: -1, StaleAfter: backend.StaleAfter}))(t)
	t.Cleanup(func() { h.tokens.Close(context.Background()) })
	provider := must(oauth.New(context.Background(), oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: signIn,
		Log: quiet}))(t)
	h.provider = &testProvider{provider, provider.Legacy(), h.store, must(token.OpenKeys(context.Background(),
		h.store))(t), signIn}
	config := legacy.Config{
		BaseURL: issuer, Store: testStore{h.store, h.backend}, Provider: h.provider.codes, Verifier: h.tokens,
		Visitors: signIn,
		Audit:    h.trail, Log: quiet,
	}
	for _, change := range changes {
		change(&config)
	}
	h.legacy = must(legacy.New(context.Background(), config))(t)
	for _, path := range []string{"/connect", "/connect.php", "/check_token", "/check_token.php"} {
		h.mux.Handle(path, h.legacy)
	}
	h.mux.Handle("/oauth/signin", signIn)
	h.mux.Handle("/", h.provider)
	return h
}

// people makes the applications, and Ada, who signs in.
func (h *fixture) people() {
	h.Helper()
	h.ada = must(h.users.Create(context.Background(), storage.User{
		Username: "ada", Nickname: "Ada", Picture: "https://img.example.com/ada.png", Gender: "female", Location: "London",
		LoginType: storage.LoginSelf,
	}, password))(h)
	h.app = h.register(storage.App{ID: "1000", Secrets: []storage.AppSecret{{Secret: storage.NewSecret(appKey)}}})
	h.other = h.register(storage.App{ID: "2000"})
	h.session = h.signIn("ada")
}

// register adds an application on app.example.com.
func (h *fixture) register(app storage.App) storage.App {
	h.Helper()
	app.Name, app.Domains = "App", []string{"app.example.com"}
	return must(h.store.SaveApp(context.Background(), app))(h.TB)
}

// change saves the first application with a change.
func (h *fixture) change(how func(*storage.App)) {
	h.Helper()
	how(&h.app)
	h.app = must(h.store.SaveApp(context.Background(), h.app))(h.TB)
}

func (h *fixture) signIn(name string) string {
	h.Helper()
	w := h.serve(request("POST", "/oauth/signin", form("username", name, "password", password)))
	for _, c := range w.Result().Cookies() {
		if c.Name == "open_sso_token" {
			return c.Value
		}
	}
	h.Fatalf("signing in = %d without a cookie: %s", w.Code, w.Body)
	return ""
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

// form is a short way to write parameters. A later value of the same name wins; "-" takes
// one away.
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

// request carries parameters in the query of a GET or the body of a POST.
func request(method, path string, v url.Values) *http.Request {
	if method == "POST" {
		r := httptest.NewRequest(method, issuer+path, strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	return httptest.NewRequest(method, issuer+path+"?"+v.Encode(), nil)
}

func (h *fixture) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.mux.ServeHTTP(w, r)
	return w
}

// answer is a JSON answer.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a answer) text(name string) string { s, _ := a.body[name].(string); return s }
func (a answer) number(name string) int {
	n, there := a.body[name].(float64)
	if !there {
		return -99
	}
	return int(n)
}

func (h *fixture) call(r *http.Request) answer {
	h.Helper()
	w := h.serve(r)
	a := answer{status: w.Code, header: w.Result().Header, raw: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		h.Fatalf("%s = %d, not JSON: %q", r.URL.Path, w.Code, w.Body)
	}
	return a
}

// connect calls an act with the appkey of application 1000; pairs change the parameters.
func (h *fixture) connect(act string, pairs ...string) answer {
	h.Helper()
	return h.call(request("GET", "/connect.php",
		form(append([]string{"act", act, "appid", "1000", "appkey", appKey}, pairs...)...)))
}

func (h *fixture) callback(code string, pairs ...string) answer {
	h.Helper()
	return h.connect("callback", append([]string{"code", code}, pairs...)...)
}

// code walks a signed-in browser through act=login; pairs change its parameters.
func (h *fixture) code(pairs ...string) string {
	h.Helper()
	a := h.connect("login", append([]string{"redirect_uri", redirect}, pairs...)...).wants(h, "login", 1)
	r := httptest.NewRequest("GET", a.text("url"), nil)
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	w := h.serve(r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		h.Fatalf("authorize = %d, Location %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	return to.Query().Get("code")
}

// wants fails unless the answer is a success with a code.
func (a answer) wants(t testing.TB, what string, code int) answer {
	t.Helper()
	if a.status != 200 || a.number("code") != code || a.text("msg") != "succ" {
		t.Fatalf("%s = %d %s, want code %d", what, a.status, a.raw, code)
	}
	return a
}

// refuses fails unless the answer is this refusal, sent with HTTP 200.
func (a answer) refuses(t testing.TB, what string, errcode int) answer {
	t.Helper()
	if a.status != 200 || a.number("code") != -1 || a.number("errcode") != errcode || a.text("msg") == "" {
		t.Errorf("%s = %d %s, want errcode %d", what, a.status, a.raw, errcode)
	}
	return a
}

// signed signs parameters for application 1000 now; a later timestamp among them wins.
func (h *fixture) signed(v url.Values) url.Values {
	if !v.Has("timestamp") {
		v.Set("timestamp", unix(time.Now()))
	}
	v.Set("sign", md5sign.Of(h.app, v))
	return v
}
