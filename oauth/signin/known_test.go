package signin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/session"
)

// marked is a request of a browser with these cookies.
func marked(values ...string) *http.Request {
	r := get("/oauth/signin")
	for _, v := range values {
		r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: v})
	}
	return r
}

// remembers returns the cookie of a browser in which these users sign in one after the other.
func (rm *fixture) remembers(subs ...string) (value string) {
	for _, sub := range subs {
		r := marked()
		if value != "" {
			r = marked(value)
		}
		w := httptest.NewRecorder()
		rm.steps.Sessions.Remember(w, r, sub)
		value = answer{ResponseRecorder: w}.named(session.KnownCookie)
	}
	return value
}

func TestBrowserIsKnownToTheUsersItHasSignedIn(t *testing.T) {
	rm := newFixture(t, nil)
	value := rm.remembers("ua", "ub", "ua")
	for sub, want := range map[string]bool{"ua": true, "ub": true, "uc": false, "": false, "u": false} {
		if got := rm.steps.Sessions.Known(marked(value), sub); got != want {
			t.Errorf("known to %q = %t, want %t", sub, got, want)
		}
	}
	if n := strings.Count(value, ".") + 1; n != 2 {
		t.Errorf("%d marks of two users", n)
	}
	if rm.steps.Sessions.Known(marked(), "ua") {
		t.Error("a browser without a cookie is known")
	}
	if !rm.steps.Sessions.Known(marked("planted", value), "ua") ||
		!rm.steps.Sessions.Known(marked(value, strings.Repeat("A", session.MarkText)), "ua") {
		t.Error("what a neighbouring site plants makes a browser unknown")
	}
	if another := rm.remembers("ua"); strings.Contains(value, another) {
		t.Error("two browsers of one user have the same mark")
	}
	six := rm.remembers("u1", "u2", "u3", "u4", "u5", "u6")
	if rm.steps.Sessions.Known(marked(six), "u1") || !rm.steps.Sessions.Known(marked(six), "u2") ||
		!rm.steps.Sessions.Known(marked(six), "u6") {
		t.Error("a browser does not know the last five of six users")
	}
}

func TestMarkCannotBeMadeUpOrMoved(t *testing.T) {
	rm, other := newFixture(t, nil), newFixture(t, nil)
	value := rm.remembers("somebody")
	for i := range value {
		changed := value[:i] + string("BA"[b2i(value[i] == 'B')]) + value[i+1:]
		if changed != value && rm.steps.Sessions.Known(marked(changed), "somebody") {
			t.Fatalf("with letter %d changed it is known", i)
		}
	}
	if rm.steps.Sessions.Known(marked(other.remembers("somebody")), "somebody") {
		t.Error("a mark of another service's key is known")
	}
	if strings.Contains(value, "somebody") {
		t.Error("the mark names the user")
	}
	for _, junk := range []string{"", ".", strings.Repeat(".", 5000), strings.Repeat("A", 100000), value + "x"} {
		if rm.steps.Sessions.Known(marked(junk), "somebody") {
			t.Errorf("%.20q is known", junk)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestBrowserIsKnownForAYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		value := rm.remembers("ua")
		time.Sleep(364 * 24 * time.Hour)
		if !rm.steps.Sessions.Known(marked(value), "ua") {
			t.Error("before a year has passed it is unknown")
		}
		time.Sleep(40 * 24 * time.Hour)
		if rm.steps.Sessions.Known(marked(value), "ua") {
			t.Error("after a year and a month it is still known")
		}
	})
}

func TestSignInMarksTheBrowserWithASafeCookie(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(post("username", "mina", "password", password))
	var line string
	for _, c := range a.Header().Values("Set-Cookie") {
		if strings.HasPrefix(c, session.KnownCookie+"=") {
			line = c
		}
	}
	value := a.named(session.KnownCookie)
	if want := session.KnownCookie + "=" + value +
		"; Path=/oauth; Max-Age=31536000; HttpOnly; Secure; SameSite=Lax"; line != want || value == "" {
		t.Errorf("Set-Cookie = %q, want %q", line, want)
	}
	if !rm.steps.Sessions.Known(marked(value), rm.mina.Sub) || rm.steps.Sessions.Known(marked(value), "somebody") {
		t.Error("it does not say that Mina was here, or says that somebody else was")
	}
	if a := rm.do(post("username", "mina", "password", "wrong password")); a.named(session.KnownCookie) != "" {
		t.Error("who was not let in is remembered")
	}
}

func TestKnownBrowserWithoutItsKeySignsInAsUnknown(t *testing.T) {
	rm := newFixture(t, nil)
	value := rm.remembers(rm.mina.Sub)
	rm.store.hmac = errDown
	// it has read no key yet
	another, err := New(context.Background(), Config{BaseURL: origin, Store: rm.store, Log: rm.steps.Log})
	must(t, err)
	rm.SignIn = another
	if rm.steps.Sessions.Known(marked(value), rm.mina.Sub) {
		t.Error("it is known")
	}
	rm.enterMina()
	if !strings.Contains(rm.log.String(), "cannot be remembered") {
		t.Errorf("the log says nothing: %s", rm.log)
	}
}

func TestKnownBrowsersAreSharedByProcesses(t *testing.T) {
	rm := newFixture(t, nil)
	other, err := New(context.Background(), Config{BaseURL: origin, Store: rm.store})
	must(t, err)
	if value := rm.remembers("ua"); !other.steps.Sessions.Known(marked(value), "ua") {
		t.Error("the other one does not know it")
	}
}
