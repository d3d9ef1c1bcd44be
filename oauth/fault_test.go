package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
)

// fileFixture is a fixture on a bolt file, with a disk that can be made to fail.
type fileFixture struct {
	*fixture
	path   string
	master storage.MasterKey
	signIn *signin.SignIn
	cookie string
}

func newFileFixture(t *testing.T) *fileFixture {
	t.Helper()
	w := &fileFixture{fixture: &fixture{TB: t}, path: filepath.Join(t.TempDir(), "keystile.db"),
		master: storage.NewMasterKey()}
	w.open()
	users := users.New(w.store, cheap)
	w.user = must(users.Create(t.Context(), storage.User{Username: "ada", Nickname: "Ada"}, password))(t)
	w.app = w.register(storage.App{Name: "App", Domains: []string{"app.example.com"}})
	w.cookie = signedIn(t, w.signIn)
	w.code() // the user and the application have met
	return w
}

var cheap = passwords.New(passwords.Cost{Memory: 64, Passes: 1})

func (w *fileFixture) open() {
	w.Helper()
	w.calls = &counting{Backend: must(bolt.Open(w.path, bolt.Options{}))(w.TB)}
	w.Cleanup(func() { w.calls.Close() })
	w.store = must(storage.Open(context.Background(), w.calls, w.master))(w.TB)
	w.signIn = must(signin.New(context.Background(), signin.Config{BaseURL: issuer, Store: w.store,
		Users: users.New(w.store, cheap).Host(), Log: quiet}))(w.TB)
	w.tokens = tokensOf(w.TB, issuer, w.store)
	w.server = must(oauth.New(context.Background(), oauth.Config{NoDelivery: true, Tokens: w.tokens, SignIn: w.signIn,
		Log: quiet}))(w.TB)
}

// reopen opens the store as a restart finds it.
func (w *fileFixture) reopen() {
	w.Helper()
	w.calls.fault = nil
	if err := w.calls.Close(); err != nil {
		w.Fatal(err)
	}
	w.open()
}

func (w *fileFixture) authorize() *httptest.ResponseRecorder {
	v := form("response_type", "code", "client_id", w.app.ID, "redirect_uri", redirect)
	r := httptest.NewRequest("GET", "/oauth/authorize?"+v.Encode(), nil)
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: w.cookie})
	return w.serve(r)
}

func (w *fileFixture) code() string {
	w.Helper()
	a := w.authorize()
	to, _ := url.Parse(a.Header().Get("Location"))
	if to == nil || to.Query().Get("code") == "" {
		w.Fatalf("authorize = %d to %v", a.Code, to)
	}
	return to.Query().Get("code")
}

// raw posts a form and does not mind what comes back.
func (w *fileFixture) raw(h http.Handler, path string, v url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", issuer+path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a := httptest.NewRecorder()
	h.ServeHTTP(a, r)
	return a
}

// faultCase is one request under fault: prepare makes what it needs, send sends it, and check
// says what a restart must find, given the answer.
type faultCase struct {
	name    string
	prepare func(w *fileFixture) string
	send    func(w *fileFixture, made string) *httptest.ResponseRecorder
	check   func(w *fileFixture, made string, answer *httptest.ResponseRecorder)
}

var faultCases = []faultCase{
	{"authorize", func(*fileFixture) string { return "" },
		func(w *fileFixture, _ string) *httptest.ResponseRecorder { return w.authorize() },
		func(w *fileFixture, _ string, a *httptest.ResponseRecorder) {
			if to, _ := url.Parse(a.Header().Get("Location")); to != nil && to.Query().Has("code") {
				w.exchange(to.Query().Get("code")).tokens(w.TB) // a code that was handed out is good
			}
		}},
	{"exchange", (*fileFixture).code,
		func(w *fileFixture, code string) *httptest.ResponseRecorder {
			return w.raw(w.server, "/oauth/token", w.tokenForm("grant_type", "authorization_code", "code", code, "redirect_uri",
				redirect))
		},
		func(w *fileFixture, code string, a *httptest.ResponseRecorder) {
			if a.Code == 200 {
				w.refresh(w.answer(a).text("refresh_token")).tokens(w.TB) // tokens that were handed out are stored
				return
			}
			w.exchange(code).tokens(w.TB) // and a failure has spent nothing
		}},
	{"refresh", func(w *fileFixture) string { return w.exchange(w.code()).tokens(w.TB).text("refresh_token") },
		func(w *fileFixture, handle string) *httptest.ResponseRecorder {
			return w.raw(w.server, "/oauth/token", w.tokenForm("grant_type", "refresh_token", "refresh_token", handle))
		},
		func(w *fileFixture, handle string, a *httptest.ResponseRecorder) {
			if a.Code == 200 {
				handle = w.answer(a).text("refresh_token")
			}
			w.refresh(handle).tokens(w.TB)
		}},
	{"revoke", func(w *fileFixture) string { return w.exchange(w.code()).tokens(w.TB).text("refresh_token") },
		func(w *fileFixture, handle string) *httptest.ResponseRecorder {
			return w.raw(w.server, "/oauth/revoke", w.tokenForm("token", handle))
		},
		func(w *fileFixture, handle string, a *httptest.ResponseRecorder) {
			if a.Code == 200 {
				w.refresh(handle).wants(w.TB, "a token that was said to be revoked", 400, 400, "invalid_grant")
				return
			}
			w.refresh(handle).tokens(w.TB)
		}},
	{"revoke an access token",
		func(w *fileFixture) string { return w.exchange(w.code()).tokens(w.TB).text("access_token") },
		func(w *fileFixture, access string) *httptest.ResponseRecorder {
			return w.raw(w.server, "/oauth/revoke", w.tokenForm("token", access))
		},
		func(w *fileFixture, access string, a *httptest.ResponseRecorder) {
			if u := w.userInfo(access); (u.status == 401) != (a.Code == 200) {
				w.Errorf("revoke = %d, userinfo after a restart = %d", a.Code, u.status)
			}
		}},
	{"sign in", func(*fileFixture) string { return "" },
		func(w *fileFixture, _ string) *httptest.ResponseRecorder {
			return w.raw(w.signIn, "/oauth/signin", url.Values{"username": {"ada"}, "password": {password}})
		},
		func(w *fileFixture, _ string, a *httptest.ResponseRecorder) {
			begun := false
			for _, c := range a.Result().Cookies() {
				if c.Name == "open_sso_token" { // beside the mark of a known browser
					w.cookie, begun = c.Value, true
					w.code() // a session that was handed out is stored
				}
			}
			if a.Code == 303 && !begun {
				w.Error("signed in without a session")
			}
		}},
}

// For each request, each storage call it makes is made to fail, once with an error and
// once with a panic. The client never hears of a success that a restart does not find.
func TestFailingStoreNeverMakesAPromise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, a := range faultCases {
		t.Run(a.name, func(t *testing.T) {
			w := newFileFixture(t)
			made := a.prepare(w)
			calls := 0
			for _, n := range w.calls.during(func() { a.send(w, made) }) {
				calls += n
			}
			fmt.Printf("note: %s: %d calls, %d faults\n", a.name, calls, 2*calls)
			if calls == 0 {
				t.Fatal("no storage call: nothing is tested")
			}
			for at := range calls {
				for _, fail := range []func() error{func() error { return errors.New("the disk is gone") },
					func() error { panic("the disk is gone") }} {
					underFault(newFileFixture(t), a, at, fail)
				}
			}
		})
	}
}

func underFault(w *fileFixture, a faultCase, at int, fail func() error) {
	w.Helper()
	made := a.prepare(w)
	hit := false
	w.calls.fault = func() error {
		if at--; at == -1 {
			hit = true
			return fail()
		}
		return nil
	}
	answer := a.send(w, made)
	if !hit {
		w.Fatal("the fault was not met")
	}
	if answer.Code < 500 && answer.Code/100 != 2 && answer.Code/100 != 3 {
		w.Errorf("answer = %d %s, want a 5xx, or a success that holds", answer.Code, answer.Body)
	}
	if strings.Contains(answer.Body.String(), "disk") {
		w.Errorf("answer = %s: the client sees the cause", answer.Body)
	}
	w.reopen()
	a.check(w, made, answer)
}
