package signin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// scans signs in a new browser by a code that is confirmed in a session, and returns the answer to collecting.
func (rm *fixture) scans(cookie string) (sc *codeBrowser, collected answer) {
	rm.t.Helper()
	sc = rm.showCode("")
	p := phoneBrowser{rm, cookie}
	p.open(sc.id)
	if a := p.answer(sc.id, "confirm"); a.Code != http.StatusSeeOther {
		rm.t.Fatalf("confirming = %d %s", a.Code, a.body)
	}
	return sc, sc.collect()
}

func (rm *fixture) in(cookie string) bool {
	_, err := rm.Visitor(get("/", cookie))
	return err == nil
}

// However often a session is handed on, it ends when the first one would have.
func TestScannedSessionEndsWithTheOneThatConfirmedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		first := rm.enterMina()
		began, err := rm.Visitor(get("/", first))
		must(t, err)
		cookie := first
		for range 9 {
			time.Sleep(3 * 24 * time.Hour)
			if !rm.in(cookie) {
				t.Fatal("the session has ended early")
			}
			_, a := rm.scans(cookie)
			cookie = a.cookie()
			v, err := rm.Visitor(get("/", cookie))
			must(t, err)
			if !v.EndsAt.Equal(began.EndsAt) || !v.AuthTime.Equal(began.AuthTime) || v.ExpiresAt.After(began.EndsAt) {
				t.Fatalf("the session handed on is of %v until %v, want %v until %v", v.AuthTime, v.EndsAt, began.AuthTime,
					began.EndsAt)
			}
			if recent(rm, v) {
				t.Fatal("it is fresh by itself")
			}
			rm.in(first) // it is used
		}
		time.Sleep(3*24*time.Hour + time.Second)
		if rm.in(cookie) {
			t.Error("it lives longer than the first")
		}
	})
}

// The end of a session ends those that were confirmed in it, directly or by one another, however it ends.
func TestSessionEndEndsTokensConfirmedInIt(t *testing.T) {
	for name, end := range map[string]func(rm *fixture, first string){
		"signing out": func(rm *fixture, first string) {
			must(rm.t, rm.SignOut(httptest.NewRecorder(), post("cookie", first)))
		},
		"the account page": func(rm *fixture, first string) {
			rm.do(formTo(web.AccountPath+"/session", "session", handle.Hash(first), "cookie", first))
		},
		"an operator": func(rm *fixture, first string) {
			v, err := rm.Visitor(get("/", first))
			must(rm.t, err)
			must(rm.t, users.End(rm.t.Context(), rm.store, v))
		},
		"signing out everywhere": func(rm *fixture, first string) {
			rm.do(formTo(web.AccountPath+"/everywhere", "cookie", first))
		},
		"another user in the browser": func(rm *fixture, first string) {
			rm.signInOmar()
			rm.do(post("username", "omar", "password", password, "cookie", first))
		},
	} {
		t.Run(name, func(t *testing.T) {
			rm := newFixture(t, func(c *Config) { c.Revoker = &revoker{} })
			first, other := rm.enterMina(), rm.enterMina()
			_, second := rm.scans(first)
			_, third := rm.scans(second.cookie())
			_, apart := rm.scans(other)
			if !rm.in(second.cookie()) || !rm.in(third.cookie()) {
				t.Fatal("nobody is signed in by the code")
			}
			end(rm, first)
			if rm.in(first) || rm.in(second.cookie()) || rm.in(third.cookie()) {
				t.Errorf("the first, the second and the third are %v %v %v", rm.in(first), rm.in(second.cookie()),
					rm.in(third.cookie()))
			}
			if everywhere := name == "signing out everywhere"; rm.in(apart.cookie()) == everywhere ||
				rm.in(other) == everywhere {
				t.Errorf("another session and what was confirmed in it are %v %v", rm.in(other), rm.in(apart.cookie()))
			}
		})
	}
}

// A session that its user proves once more goes on, and so does what was confirmed in it. It still ends with that.
func TestProofOfThePhoneKeepsWhatItHasConfirmed(t *testing.T) {
	rm := newFixture(t, nil)
	first := rm.enterMina()
	_, second := rm.scans(first)
	again := rm.do(post("username", "mina", "password", password, "cookie", first)).cookie()
	if rm.in(first) || !rm.in(again) || !rm.in(second.cookie()) {
		t.Fatalf("after the proof they are %v %v %v", rm.in(first), rm.in(again), rm.in(second.cookie()))
	}
	v, err := rm.Visitor(get("/", again))
	must(t, err)
	must(t, users.End(t.Context(), rm.store, v))
	if rm.in(second.cookie()) {
		t.Error("it outlives the session that goes on")
	}
}

// A second factor that was proved ten minutes ago is not handed on: it is proved where the sign-in is. The session that
// begins then is no later and no longer than the one that confirmed it, and ends with it, also if that was
// meanwhile.
func TestOldSecondFactorIsNotHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.both(w.b)
		phone := w.b.jar["open_sso_token"]
		of, _ := w.b.session()
		collects := func() (b *browser, a answer) {
			_, a = w.scans(phone)
			b = newBrowser(w.fixture)
			b.jar[web.BrowserCookie] = a.named(web.BrowserCookie)
			return b, a
		}
		_, a := collects()
		if v, err := w.Visitor(get("/", a.cookie())); err != nil || !v.Multifactor() || !v.AuthTime.Equal(of.AuthTime) {
			t.Fatalf("a fresh one is handed on as %+v %v", v, err)
		}
		time.Sleep(2 * time.Hour)
		b, a := collects()
		if a.cookie() != "" || a.Header().Get("Location") != factor.Path {
			t.Fatalf("collecting = %d to %q with a session %v, want to be asked", a.Code, a.Header().Get("Location"),
				a.cookie() != "")
		}
		b.form(factor.Path, "code", w.shows(0))
		v, in := b.session()
		if !in || v.AMR != "pwd otp mfa" || !v.AuthTime.Equal(of.AuthTime) || !v.EndsAt.Equal(of.EndsAt) {
			t.Fatalf("the session is %+v, want one of %v until %v", v, of.AuthTime, of.EndsAt)
		}
		late, _ := collects()
		must(t, users.End(t.Context(), w.store, of))
		if _, in := b.session(); in {
			t.Error("it outlives the phone's")
		}
		time.Sleep(time.Minute)
		if a := late.form(factor.Path, "code", w.shows(0)); a.Code != http.StatusNotFound {
			t.Errorf("a proof after the phone's session has ended = %d %s", a.Code, a.body)
		}
		if v, in := late.session(); in {
			t.Errorf("it is signed in: %+v", v)
		}
		must(t, w.Close(t.Context()))
	})
}
