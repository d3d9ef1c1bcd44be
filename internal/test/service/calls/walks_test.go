package calls

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

const callback = "https://shop.example.com/cb"

// walker sends the requests of one application and one browser.
type walker struct {
	*service
	app    storage.App
	secret string
	cookie string
}

func newWalker(t *testing.T) *walker {
	h := start(t)
	secret := storage.DrawSecret()
	app, err := h.Store.SaveApp(t.Context(), storage.App{Name: "Shop", Domains: []string{"shop.example.com"},
		Owner: "u-admin", FirstParty: true, Secrets: []storage.AppSecret{{Secret: secret, CreatedAt: time.Now()}}})
	if err != nil {
		t.Fatal(err)
	}
	return &walker{h, app, secret.Reveal(), h.browser(storage.RoleAdmin)}
}

// ask returns the answer to a request, with a cookie, an API key or a token.
func (w *walker) ask(method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequestWithContext(asked(w.Context()), method, base+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a := httptest.NewRecorder()
	w.ServeHTTP(a, r)
	return a
}

func (w *walker) want(a *httptest.ResponseRecorder, status int) *httptest.ResponseRecorder {
	w.Helper()
	if a.Code != status {
		w.Fatalf("answered %d %s, want %d", a.Code, a.Body, status)
	}
	return a
}

// token posts to the token endpoint.
func (w *walker) token(form ...string) map[string]any {
	w.Helper()
	v := url.Values{"client_id": {w.app.ID}, "client_secret": {w.secret}}
	for i := 0; i < len(form); i += 2 {
		v.Set(form[i], form[i+1])
	}
	var out map[string]any
	if err := json.Unmarshal(w.want(w.ask("POST", "/oauth/token", v), 200).Body.Bytes(), &out); err != nil {
		w.Fatal(err)
	}
	return out
}

const verifier = "0123456789012345678901234567890123456789012"

// authorize returns a code.
func (w *walker) authorize() string {
	w.Helper()
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{"response_type": {"code"}, "client_id": {w.app.ID}, "redirect_uri": {callback}, "scope": {"openid"},
		"state": {"0123456789"}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}}
	a := w.want(w.ask("GET", "/oauth/authorize?"+q.Encode(), nil, "Cookie", w.cookie), http.StatusFound)
	to, err := url.Parse(a.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		w.Fatalf("it leads to %q", a.Header().Get("Location"))
	}
	return to.Query().Get("code")
}

// see returns the reads of a page: who looks at it, by their session, their record and whether they have a second
// factor, and what is on it.
func see(what ...string) []string {
	return append([]string{"Get session", "Get user", "Get factors"}, what...)
}

// twice holds what two parts keep of one document, each for seconds: the first request fills both. At userinfo these
// are the tier of an application, for its rate, and its rules about claims.
var twice = map[string]string{"userinfo": "Get app"}

// kindsOf returns calls without ids and spans, and fails if a document is read twice: it would be decoded twice, and
// might have changed in between.
func (w *walker) kindsOf(name string, steps []string) (kinds []string) {
	seen := map[string]bool{}
	for _, step := range steps {
		if seen[step] && strings.HasPrefix(step, "Get ") && step != twice[name]+" "+w.app.ID {
			w.Errorf("%s: %s is done twice: %q", name, step, steps)
		}
		seen[step] = true
		words := strings.SplitN(step, " ", 3)
		kinds = append(kinds, strings.Join(words[:min(2, len(words))], " "))
	}
	return kinds
}

// Each request reads what its row says, in this order, and no document twice.
func TestRequestReadsWhatTheTableSays(t *testing.T) {
	w := newWalker(t)
	mina, err := w.Store.CreateUser(t.Context(), storage.User{Username: "mina"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.SaveApp(t.Context(), storage.App{Name: "Others", Domains: []string{"a.example.com"},
		Owner: mina.Sub}); err != nil {
		t.Fatal(err)
	}
	page := func(path string) func() {
		return func() { w.want(w.ask("GET", path, nil, "Cookie", w.cookie), http.StatusOK) }
	}
	var code string
	var got map[string]any
	bearer := func() string { return "Bearer " + got["access_token"].(string) }
	for _, walk := range []struct {
		name string
		act  func()
		want []string
	}{
		{"a token for an application", func() { w.token("grant_type", "client_credentials") }, []string{"Get app"}},
		{"the first code of a user for an application", func() { code = w.authorize() },
			[]string{"Get app", "Get session", "Get user", "Get openid", "Put openid", "Get erased", "Issue"}},
		{"another code", func() { code = w.authorize() },
			[]string{"Get app", "Get session", "Get user", "Get openid", "Issue"}},
		{"tokens for a code", func() {
			got = w.token("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier)
		}, []string{"Get app", "Token", "Get user", "Get openid", "Exchange"}},
		{"tokens for a refresh token", func() {
			got = w.token("grant_type", "refresh_token", "refresh_token", got["refresh_token"].(string))
		}, []string{"Get app", "Token", "Get user", "Exchange"}},
		{"userinfo", func() { w.want(w.ask("GET", "/oauth/userinfo", nil, "Authorization", bearer()), 200) },
			[]string{"Get app", "Get user", "Get app"}},
		{"userinfo again", func() { w.want(w.ask("GET", "/oauth/userinfo", nil, "Authorization", bearer()), 200) }, nil},
		{"introspection", func() {
			w.want(w.ask("POST", "/oauth/introspect", url.Values{"client_id": {w.app.ID}, "client_secret": {w.secret},
				"token": {got["access_token"].(string)}}), 200)
		}, []string{"Get app", "Get user"}},
		{"registration of a client", func() {
			r := httptest.NewRequestWithContext(asked(t.Context()), "POST", base+"/oauth/register", strings.NewReader(
				`{"client_name":"Agent","redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"none"}`))
			r.Header.Set("Content-Type", "application/json")
			a := httptest.NewRecorder()
			w.ServeHTTP(a, r)
			w.want(a, http.StatusCreated)
		}, []string{"Put app"}},
		{"console: overview", page("/console/"), see("List counter", "Usage", "Usage", "Get setting",
			"List ranking", "List ranking", // of today
			"List mail", "List mail", "List delivery", "List delivery", "List delivery", "List delivery", "List key",
			"List capability", "List app",
			"List ranking", "List ranking")}, // of a month: nobody has called a tool today, and no agent has
		{"console: overview, a moment later", page("/console/"), see("List counter", "Usage", "Usage")},
		{"console: applications", page("/console/apps"), see("List app", "Get user")},
		{"console: applications again", page("/console/apps"), see("List app")},
		{"console: an application", page("/console/apps/" + w.app.ID), see("Get app")},
		{"console: users", page("/console/users"), see("List user")},
		{"console: a user", page("/console/users/" + mina.Sub), see("Get user", "List session")},
		{"console: audit trail", page("/console/audit"), see("List trail", "Records")},
		{"console: usage", page("/console/usage"), see("List app", "Usage", "Usage", "List ranking")},
		{"console: tools", page("/console/capabilities"), see("List capability")},
		{"console: sessions", page("/console/sessions"), see("List session")},
		{"console: keys", page("/console/keys"), see("List key", "Get master", "List master")},
	} {
		kinds := w.kindsOf(walk.name, w.spy.count(walk.act))
		if !slices.Equal(kinds, walk.want) {
			t.Errorf("%s: %q, want %q", walk.name, kinds, walk.want)
		}
	}
}
