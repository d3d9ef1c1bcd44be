package signin

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const (
	origin         = "https://id.example.com"
	password       = "correct horse"
	callback       = "https://app.example.com/cb"
	authorizeQuery = "client_id=ksacme&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb&state=a%20b%2Bc"
)

// fixture is a SignIn over a memory store that knows the application Acme and the user Mina.
type fixture struct {
	*SignIn
	t      *testing.T
	store  *flaky
	mina   storage.User
	hashes *atomic.Int64 // argon2id computations
	log    *bytes.Buffer
}

func newFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	must(t, err)
	_, err = store.SaveApp(ctx, storage.App{ID: "ksacme", Name: "Acme", Domains: []string{"app.example.com"}})
	must(t, err)
	rm := &fixture{t: t, store: &flaky{Store: store}, hashes: new(atomic.Int64), log: new(bytes.Buffer)}
	passwords := cheap(rm.hashes)
	rm.mina, err = users.New(store, passwords).Create(ctx, storage.User{Username: "Mina", Nickname: "Mina Okafor"},
		password)
	must(t, err)
	rm.hashes.Store(0)
	c := Config{BaseURL: origin, Store: rm.store, Passwords: passwords, Log: slog.New(slog.NewTextHandler(rm.log, nil))}
	if change != nil {
		change(&c)
	}
	rm.SignIn, err = New(context.Background(), c)
	must(t, err)
	t.Cleanup(func() {
		over, end := context.WithCancel(context.Background())
		end()
		_ = rm.Close(over)
	})
	return rm
}

// cheap hashes fast and counts.
func cheap(n *atomic.Int64) *passwords.Hasher {
	p := passwords.New(passwords.Cost{Memory: 8, Passes: 1})
	key := keyOf(p)
	compute := *key
	*key = func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte {
		n.Add(1)
		return compute(password, salt, passes, memory, threads, size)
	}
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errDown = errors.Join(storage.ErrUnavailable, errors.New("the disk is gone"))

// flaky is a Store that fails with the errors of its fields, and counts its writes.
type flaky struct {
	*storage.Store
	app, session, save, end, user, saveUser, saveLogin, login, looks, hmac, groups error
	reads, saves                                                                   atomic.Int64
}

func (f *flaky) App(ctx context.Context, id string) (storage.App, error) {
	a, err := f.Store.App(ctx, id)
	return a, errors.Join(f.app, err)
}

func (f *flaky) Session(ctx context.Context, id string) (storage.Session, error) {
	f.reads.Add(1)
	if f.session != nil {
		return storage.Session{}, f.session
	}
	return f.Store.Session(ctx, id)
}

func (f *flaky) SaveSession(ctx context.Context, v storage.Session) (storage.Session, error) {
	f.saves.Add(1)
	if f.save != nil {
		return storage.Session{}, f.save
	}
	return f.Store.SaveSession(ctx, v)
}

func (f *flaky) EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error {
	if err := f.end; err != nil {
		f.end = nil // once
		return err
	}
	return f.Store.EndSession(ctx, v, told...)
}

func (f *flaky) User(ctx context.Context, sub string) (storage.User, error) {
	if f.user != nil {
		return storage.User{}, f.user
	}
	return f.Store.User(ctx, sub)
}

func (f *flaky) SaveUser(ctx context.Context, u storage.User) (storage.User, error) {
	if f.saveUser != nil {
		return u, f.saveUser
	}
	return f.Store.SaveUser(ctx, u)
}

func (f *flaky) Login(ctx context.Context, method, subject string) (storage.Login, error) {
	if f.login != nil {
		return storage.Login{}, f.login
	}
	return f.Store.Login(ctx, method, subject)
}

func (f *flaky) SaveLogin(ctx context.Context, l storage.Login) (storage.Login, error) {
	if f.saveLogin != nil {
		return l, f.saveLogin
	}
	return f.Store.SaveLogin(ctx, l)
}

func (f *flaky) HMACKey(ctx context.Context, name string) (storage.Secret, error) {
	if f.hmac != nil {
		return storage.Secret{}, f.hmac
	}
	return f.Store.HMACKey(ctx, name)
}

func (f *flaky) ReserveSkeletons(ctx context.Context, of string, looks func(string) []string) error {
	if f.looks != nil {
		return f.looks
	}
	return f.Store.ReserveSkeletons(ctx, of, looks)
}

// answer is a response.
type answer struct {
	*httptest.ResponseRecorder
	body string
}

func (a answer) cookie() string {
	for _, c := range a.Result().Cookies() {
		if c.Name == session.CookieName {
			return c.Value
		}
	}
	return ""
}

func (a answer) policy() string { return a.Header().Get("Content-Security-Policy") }

// leaves reports whether a form of the page may lead to an application, and that on to wherever it wants.
func (a answer) leaves() bool {
	return strings.Contains(a.policy(), "default-src 'none'") && !strings.Contains(a.policy(), "form-action")
}

func (rm *fixture) do(r *http.Request) answer {
	w := httptest.NewRecorder()
	rm.ServeHTTP(w, r)
	return answer{w, w.Body.String()}
}

// post sends the form as the page would. Pairs of names and values; cookies after "cookie".
func post(pairs ...string) *http.Request {
	form, cookies := url.Values{}, []string{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "cookie" {
			cookies = append(cookies, pairs[i+1])
			continue
		}
		form.Add(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequest("POST", origin+"/oauth/signin", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return with(r, cookies...)
}

func get(target string, cookies ...string) *http.Request {
	return with(httptest.NewRequest("GET", origin+target, nil), cookies...)
}

func with(r *http.Request, cookies ...string) *http.Request {
	for _, c := range cookies {
		r.AddCookie(&http.Cookie{Name: session.CookieName, Value: c})
	}
	return r
}

// enterMina signs Mina in and returns her cookie.
func (rm *fixture) enterMina(pairs ...string) string {
	rm.t.Helper()
	a := rm.do(post(append([]string{"username", "mina", "password", password}, pairs...)...))
	if a.Code != http.StatusSeeOther || a.cookie() == "" {
		rm.t.Fatalf("sign-in = %d with cookie %q, want 303 with one", a.Code, a.cookie())
	}
	return a.cookie()
}

// signInPage returns the answer of Ask to an authorize request for Acme.
func (rm *fixture) signInPage(r *http.Request) answer {
	rm.t.Helper()
	app, err := rm.store.App(context.Background(), "ksacme")
	must(rm.t, err)
	w := httptest.NewRecorder()
	must(rm.t, rm.Ask(w, r, app))
	return answer{w, w.Body.String()}
}

// testAddress is the i-th address of a /8.
func testAddress(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}
