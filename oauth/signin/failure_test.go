package signin

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

func TestUnknownUserAndAWrongPasswordLookTheSameAndTakeTheSame(t *testing.T) {
	rm := newFixture(t, nil)
	ctx := context.Background()
	gone, err := users.New(rm.store, cheap(rm.hashes)).Create(ctx, storage.User{Username: "gone", Disabled: true},
		password)
	must(t, err)
	var first string
	for _, c := range [][2]string{{"mina", "wrong password"}, {"nobody", password}, {"gone", password},
		{"no\x00body", password}, {"mina", strings.Repeat("x", 5000)}} {
		rm.hashes.Store(0)
		a := rm.do(post("username", c[0], "password", c[1]))
		body := strings.NewReplacer(`value="`+c[0]+`"`, "", `value=""`, "", " autofocus", "").Replace(a.body)
		if first == "" {
			first = body
		}
		if a.Code != http.StatusUnauthorized || body != first || a.cookie() != "" {
			t.Errorf("%q: %d, same page %v, cookie %q, want 401, the same page, no cookie", c[0], a.Code, body == first,
				a.cookie())
		}
		if n := rm.hashes.Load(); n != 1 {
			t.Errorf("%q: %d hashes computed, want 1", c[0], n)
		}
	}
	if u, err := rm.store.User(ctx, gone.Sub); err != nil || u.LoginType != "" {
		t.Errorf("User(disabled) = %+v, %v, want it untouched", u, err)
	}
}

func TestFailureShowsTheFormAgain(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(post("username", "mina", "password", "wr0ng password", "query", authorizeQuery))
	for _, want := range []string{
		"Sign in to Acme", "<title>Sign-in failed · Acme</title>", `role="alert"`, "Check both and try again", `value="mina"`,
		`name="query" value="client_id=ksacme&amp;redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb&amp;state=a%20b%2Bc"`, "You will continue to app.example.com",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if a.Code != http.StatusUnauthorized || strings.Contains(a.body, "wr0ng") {
		t.Errorf("failure = %d, password echoed: %v, want 401 without it", a.Code, strings.Contains(a.body, "wr0ng"))
	}
	if !a.leaves() {
		t.Errorf("policy = %q holds what follows the form to this site", a.policy())
	}
}

func TestHiddenFieldIsNotBelieved(t *testing.T) {
	rm := newFixture(t, nil)
	shut, err := rm.store.SaveApp(context.Background(), storage.App{ID: "ksshut", Name: "Shut",
		Domains: []string{"app.example.com"}, Disabled: true})
	must(t, err)
	for promise, query := range map[string]string{
		"another host":         "client_id=ksacme&redirect_uri=https://evil.example/cb",
		"no redirect":          "client_id=ksacme",
		"two redirects":        "client_id=ksacme&redirect_uri=" + callback + "&redirect_uri=https://evil.example/",
		"two clients":          "client_id=ksacme&client_id=ksother&redirect_uri=" + callback,
		"an unknown client":    "client_id=ksnobody&redirect_uri=" + callback,
		"a disabled client":    "client_id=" + shut.ID + "&redirect_uri=" + callback,
		"a suffix of the host": "client_id=ksacme&redirect_uri=https://app.example.com.evil.example/",
		"not a query":          "%zz=%zz",
	} {
		a := rm.do(post("username", "mina", "password", "wrong password", "query", query))
		if a.Code != http.StatusUnauthorized || strings.Contains(a.body, "Acme") || strings.Contains(a.body, "continue to") {
			t.Errorf("%s: %d, want a 401 page without a brand", promise, a.Code)
		}
		if want := "form-action 'self';"; !strings.Contains(a.policy(), want) {
			t.Errorf("%s: policy = %q, want %q in it", promise, a.policy(), want)
		}
	}
}

func TestFormFromAnotherSiteIsRefused(t *testing.T) {
	for _, c := range []struct {
		promise, site, from, host string
		want                      int
	}{
		{"same origin", "same-origin", origin, "", 303},
		{"a reload by hand", "none", "", "", 303},
		{"a program", "", "", "", 303},
		{"an old browser", "", origin, "", 303},
		{"an old browser behind a proxy that changes Host", "", origin, "10.0.0.7:8080", 303},
		{"another site", "cross-site", "https://evil.example", "", 403},
		{"a neighbour", "same-site", "https://app.example.com", "", 403},
		{"another site in an old browser", "", "https://evil.example", "", 403},
		{"a page that hides its origin", "", "null", "", 403},
	} {
		rm := newFixture(t, nil)
		r := post("username", "mina", "password", password)
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Origin", c.from)
		if c.host != "" {
			r.Host = c.host
		}
		if a := rm.do(r); a.Code != c.want || (a.cookie() != "") != (c.want == 303) {
			t.Errorf("%s: %d with cookie %q, want %d", c.promise, a.Code, a.cookie(), c.want)
		}
	}
}

func TestStoreThatIsAwayDecidesNothing(t *testing.T) {
	for promise, broken := range map[string]func(*flaky){
		"reading the user":    func(f *flaky) { f.user = errDown },
		"saving the session":  func(f *flaky) { f.save = errDown },
		"ending the old one":  func(f *flaky) { f.end = errDown },
		"saving how it went":  func(f *flaky) { f.saveUser = errDown },
		"looking for the app": func(f *flaky) { f.app = errDown },
	} {
		rm := newFixture(t, nil)
		old := handle.NewCookie()
		_, err := rm.store.SaveSession(context.Background(), storage.Session{ID: handle.Hash(old), UserID: "u"})
		must(t, err)
		broken(rm.store)
		pass := password
		if rm.store.app != nil {
			pass = "wrong password" // only then the application is looked for
		}
		a := rm.do(post("username", "mina", "password", pass, "query", authorizeQuery, "cookie", old))
		if a.Code != http.StatusServiceUnavailable || a.cookie() != "" || !strings.Contains(a.body, "nothing is lost") {
			t.Errorf("%s: %d with cookie %q, want a 503 page without one", promise, a.Code, a.cookie())
		}
		if !strings.Contains(rm.log.String(), "the disk is gone") {
			t.Errorf("%s: the log does not say why", promise)
		}
	}
}

func TestSignInDoesNotFailForWhatItOnlyNotes(t *testing.T) {
	for _, err := range []error{storage.ErrConflict, storage.ErrNotFound, storage.ErrInvalid} {
		rm := newFixture(t, nil)
		rm.store.saveUser, rm.store.saveLogin = err, err
		rm.enterMina()
	}
}

func TestSecretsOfSignInNeverReachTheLog(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina("query", authorizeQuery)
	rm.do(post("username", "mina", "password", "wr0ng password"))
	rm.do(post("username", "mina", "password", "tw1ce", "password", "tw1ce"))
	r := post()
	r.Body = io.NopCloser(strings.NewReader("password=br%oken"))
	rm.do(r)
	rm.store.session = errDown
	rm.do(get("/oauth/signin", cookie))
	for _, secret := range []string{cookie, password, "correct", "wr0ng", "tw1ce", "br%oken", handle.Hash(cookie)} {
		if strings.Contains(rm.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(rm.log.String(), rm.mina.Sub) {
		t.Error("the log does not say who signed in")
	}
}
