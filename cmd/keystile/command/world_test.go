package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

const worldBase = "https://id.example.com"

// world is the whole program over memory, with nobody in it.
type world struct {
	testing.TB
	b       *assembled
	store   *storage.Store
	watch   *watched
	data    *dataStore
	handler http.Handler
	own     string              // the name of the capability and the bundle that are the caller's own
	n       int                 // of people and objects made, so that none is like another
	team    func(object, human) // does something to what is the caller's own before they ask; nil: nothing
	mailed  bool                // people have an address of email that is verified
}

func newWorld(t testing.TB) *world { return newWorldOn(t, memory.New()) }

func newWorldOn(t testing.TB, backend driver.Backend) *world {
	t.Helper()
	c, err := config.Load(cli.Args{}, []string{"KEYSTILE_DATA=" + t.TempDir(), "KEYSTILE_LIMITS_PER_IP=1000000",
		"KEYSTILE_GATEWAY_PRODUCTS=ai=http://127.0.0.1:1", "KEYSTILE_DEMO=true",
		"KEYSTILE_LEGACY_ERROR_STATUS=mapped", "KEYSTILE_CONNECTORS_WX_ID=wx1", "KEYSTILE_CONNECTORS_WX_SECRET=secret",
		"KEYSTILE_CONNECTORS_WX_SIGNUP=invitation",
		"KEYSTILE_UPSTREAMS_ALLOW_PRIVATE=127.0.0.1"})
	fatal(t, err)
	f, err := folder.Open(c.Data)
	fatal(t, err)
	w := &world{TB: t, watch: &watched{Backend: backend}}
	w.store, err = storage.Open(t.Context(), w.watch, storage.NewMasterKey())
	fatal(t, err)
	// although people can be invited
	fatal(t, w.store.Set(t.Context(), storage.SettingDefaultAccess, storage.AccessEveryone))
	w.data = &dataStore{Folder: f, Closer: w.watch, conf: c, store: w.store,
		users: users.New(w.store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))}
	w.b, err = assemble(t.Context(), c, worldBase, w.data, new(membership), nil, slog.New(slog.DiscardHandler), nil)
	fatal(t, err)
	t.Cleanup(func() { fatal(t, errors.Join(w.b.Close(context.Background()), w.data.Close())) })
	w.handler = w.b
	return w
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// watched is a Backend that tells what was written.
type watched struct {
	driver.Backend
	mu   sync.Mutex
	seen map[string]bool // by letter
	all  map[string]bool // by kind, and what is noted of an administrator's acts
}

// letters say what kind of document was written. Documents that the service keeps for itself have none.
var letters = map[string]string{
	"app": "a", "order": "r", "user": "u", "login": "l", "capability": "c", "session": "s", "consent": "n", "ticket": "k",
	"openid": "m", "group": "g", "member": "g", "groupend": "g",
	"toolset": "", "heldtools": "", "counter": "", "key": "", "keyset": "", "appfence": "", "closedapp": "",
	"delivery":   "",
	"adminfence": "", "capabilityfence": "", "membername": "", "look": "", "looked": "", "hmac": "", "access": "",
	"bundle": "", "probe": "", "clock": "", "format": "", "checkpoint": "", "spent": "", "epoch": "", "mail": "",
	"node": "", "lease": "", "ranking": "", "trail": "", "stream": "", "usagemark": "",
}

func (w *watched) saw(letter, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all != nil {
		w.all[kind] = true
	}
	if w.seen != nil && letter != "" {
		w.seen[letter] = true
	}
}

func (w *watched) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	version, err := w.Backend.Put(ctx, docs...)
	for _, d := range docs {
		letter, known := letters[d.Kind]
		if !known {
			letter = "x"
		}
		if err == nil {
			w.saw(letter, d.Kind)
		}
	}
	return version, err
}

func (w *watched) Issue(ctx context.Context, tokens ...driver.Token) error {
	w.saw("t", "token")
	return w.Backend.Issue(ctx, tokens...)
}

func (w *watched) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	w.saw("t", "token")
	return w.Backend.Exchange(ctx, key, at, next...)
}

func (w *watched) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	w.saw("v", "revocation")
	return w.Backend.Revoke(ctx, rs...)
}

func (w *watched) Append(ctx context.Context, records ...driver.Record) error {
	for _, r := range records {
		if bytes.Contains(r.Data, []byte(`"kind":"admin"`)) {
			w.saw("", "act")
		}
	}
	return w.Backend.Append(ctx, records...)
}

// during returns the letters of what is written while f runs.
func (w *watched) during(f func()) string {
	w.mu.Lock()
	w.seen, w.all = map[string]bool{}, map[string]bool{}
	w.mu.Unlock()
	f()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for letter := range w.seen {
		all = append(all, letter)
	}
	w.seen = nil
	slices.Sort(all)
	return strings.Join(all, "")
}

// written returns the kinds of what was written since during began. A mail or a webhook may follow the answer.
func (w *watched) written() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.all)
}

// patterns are the paths of every route table that is mounted.
func (w *world) patterns() (all []string) {
	all = w.b.Patterns()
	all = append(all, "/ai")
	slices.Sort(all)
	return slices.Compact(all)
}

// methods are those that a path takes: what it says in Allow, or any.
func (w *world) methods(pattern string) map[string]bool {
	path := strings.NewReplacer("{$}", "", "{", "", "}", "", "...", "").Replace(pattern)
	_, answer := w.send("BREW", path, "", http.Header{})
	if answer.Code == http.StatusUnauthorized { // the bus asks for a token first, but with OPTIONS
		_, answer = w.send(http.MethodOptions, path, "", http.Header{})
	}
	if answer.Code != http.StatusMethodNotAllowed {
		return map[string]bool{"ANY": true}
	}
	all := map[string]bool{}
	for m := range strings.SplitSeq(answer.Header().Get("Allow"), ", ") {
		all[m] = true
	}
	delete(all, http.MethodHead) // wherever GET is
	return all
}

func (w *world) send(method, target, body string, header http.Header) (*http.Request, *httptest.ResponseRecorder) {
	r := httptest.NewRequest(method, worldBase+target, strings.NewReader(body))
	r.Header = header.Clone()
	w.n++
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1234", w.n>>16&255, w.n>>8&255, w.n&255)
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", map[bool]string{true: "application/json",
			false: "application/x-www-form-urlencoded"}[body[0] == '{'])
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return r, out
}

// human is somebody with a browser that is signed in.
type human struct {
	storage.User
	cookie  string
	session storage.Session
}

// somebody makes a human who has signed in some time ago.
func (w *world) somebody(name, role string, ago time.Duration) human {
	w.n++
	made := storage.User{Username: fmt.Sprintf("%s%d", name, w.n), Role: role}
	if w.mailed {
		made.Email, made.EmailVerified = fmt.Sprintf("%s%d@example.com", name, w.n), true
	}
	u, err := w.store.CreateUser(w.Context(), made,
		storage.Login{Method: storage.LoginSelf, Subject: fmt.Sprintf("%s%d", name, w.n), PasswordHash: "none"})
	fatal(w, err)
	p := human{User: u, cookie: handle.NewCookie()}
	at := time.Now().Add(-ago).UTC()
	p.session, err = w.store.SaveSession(w.Context(), storage.Session{ID: handle.Hash(p.cookie), UserID: u.Sub,
		LoginType: storage.LoginSelf,
		AuthTime:  at, ExpiresAt: time.Now().Add(24 * time.Hour).UTC(), EndsAt: time.Now().Add(24 * time.Hour).UTC()})
	fatal(w, err)
	return p
}

const callback = "https://app.example.com/cb"

// app makes an application of somebody's, whose calls are not limited.
func (w *world) app(owner string) storage.App {
	w.n++
	a, err := w.store.SaveApp(w.Context(), storage.App{Name: fmt.Sprintf("App-%d.", w.n),
		Domains: []string{"app.example.com"}, Tier: storage.TierEnterprise, Owner: owner})
	fatal(w, err)
	return a
}

// machine is an application's own token.
func (w *world) machine(a storage.App) string {
	return w.token(a, url.Values{"grant_type": {"client_credentials"}})
}

// grant is a user's token: the browser goes through authorize and consent, and the
// application redeems the code.
func (w *world) grant(p human, a storage.App, scope, resource string) string {
	query := url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {callback}, "scope": {scope}}
	if resource != "" {
		query.Set("resource", resource)
	}
	browser := http.Header{"Cookie": {"open_sso_token=" + p.cookie}}
	w.send("POST", "/oauth/signin/consent", url.Values{"query": {query.Encode()}, "user": {p.Sub}, "scope": {scope},
		"allow": {"1"}}.Encode(), browser)
	_, out := w.send("GET", "/oauth/authorize?"+query.Encode(), "", browser)
	to, err := out.Result().Location()
	if err != nil {
		w.Fatalf("authorize = %d %s", out.Code, out.Body)
	}
	return w.token(a, url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")},
		"redirect_uri": {callback}})
}

func (w *world) token(a storage.App, form url.Values) string {
	form.Set("client_id", a.ID)
	form.Set("client_secret", a.AppKey().Reveal())
	_, out := w.send("POST", "/oauth/token", form.Encode(), http.Header{})
	_, rest, ok := strings.Cut(out.Body.String(), `"access_token":"`)
	text, _, _ := strings.Cut(rest, `"`)
	if !ok {
		w.Fatalf("token = %d %s", out.Code, out.Body)
	}
	return text
}

// forged is a token that this service might have issued, signed by somebody else's key.
func (w *world) forged(p human, a storage.App) string {
	keys, err := token.OpenKeys(w.Context(), w.elsewhere(), token.ES256)
	fatal(w, err)
	text, err := keys.SignAccess(token.Claims{Issuer: worldBase, Subject: p.Sub, Audience: worldBase, ClientID: a.ID,
		Scope: "openid apps tools app",
		ID:    "forged", Grant: handle.NewGrant(time.Now()), IssuedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)})
	fatal(w, err)
	return text
}

// elsewhere is a store of somebody else's.
func (w *world) elsewhere() *storage.Store {
	s, err := storage.Open(w.Context(), memory.New(), storage.NewMasterKey())
	fatal(w, err)
	return s
}
