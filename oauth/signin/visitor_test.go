package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

const day = 24 * time.Hour

func (rm *fixture) visits(cookies ...string) error {
	_, err := rm.Visitor(get("/", cookies...))
	return err
}

func TestVisitorIsWhoeverSignedIn(t *testing.T) {
	rm := newFixture(t, nil)
	v, err := rm.Visitor(get("/", rm.enterMina()))
	if err != nil || v.UserID != rm.mina.Sub || v.LoginType != storage.LoginSelf {
		t.Errorf("Visitor() = %+v, %v, want the session of %s by self", v, err, rm.mina.Sub)
	}
}

func TestVisitorIsNobody(t *testing.T) {
	rm := newFixture(t, nil)
	live, other := rm.enterMina(), rm.enterMina()
	for promise, cookies := range map[string][]string{
		"without a cookie":                 nil,
		"with a cookie nobody issued":      {handle.NewCookie()},
		"with the id of a session":         {handle.Hash(live)},
		"with one letter changed":          {strings.ToLower(live)},
		"with a cookie too long":           {live + "A"},
		"with two cookies":                 {live, other},
		"with the same cookie twice":       {live, live},
		"with a planted one before theirs": {"planted", live},
		"with a planted one behind theirs": {live, ""},
	} {
		if err := rm.visits(cookies...); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: Visitor() = %v, want ErrNotFound", promise, err)
		}
	}
	if err := rm.visits(live); err != nil {
		t.Errorf("Visitor() = %v, want the session", err)
	}
}

// Somebody whose sign-in cannot last is told why, at the page that they come back to.
func TestSignInPageTellsOfASecondCookie(t *testing.T) {
	rm := newFixture(t, nil)
	live := rm.enterMina()
	const why = "two cookies named open_sso_token"
	for promise, c := range map[string]struct {
		cookies []string
		told    bool
	}{
		"none": {nil, false}, "one": {[]string{handle.NewCookie()}, false},
		"two": {[]string{live, "planted"}, true}, "the same twice": {[]string{live, live}, true},
	} {
		a := rm.do(get("/oauth/signin", c.cookies...))
		if told := strings.Contains(a.Body.String(), why); a.Code != http.StatusOK || told != c.told {
			t.Errorf("with %s: %d, told %v, want 200 and %v", promise, a.Code, told, c.told)
		}
	}
	a := rm.do(with(post("username", "mina", "password", "wrong password"), live, "planted"))
	if strings.Contains(a.Body.String(), why) || !strings.Contains(a.Body.String(), "is not right") {
		t.Errorf("after a wrong password: %s", a.Body)
	}
}

func TestDisabledUserIsNobody(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	mina, err := rm.store.User(context.Background(), rm.mina.Sub)
	must(t, err)
	mina.Disabled = true
	_, err = rm.store.SaveUser(context.Background(), mina)
	must(t, err)
	if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Visitor() = %v, want ErrNotFound", err)
	}
}

func TestStoreThatIsAwayIsNotNobody(t *testing.T) {
	for promise, broken := range map[string]func(*flaky){
		"session": func(f *flaky) { f.session = errDown },
		"user":    func(f *flaky) { f.user = errDown },
	} {
		rm := newFixture(t, nil)
		cookie := rm.enterMina()
		broken(rm.store)
		if err := rm.visits(cookie); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: Visitor() = %v, want ErrUnavailable", promise, err)
		}
		if a := rm.do(get("/oauth/signin", cookie)); a.Code != http.StatusServiceUnavailable ||
			a.Header().Get("Retry-After") == "" {
			t.Errorf("%s: GET = %d, want 503 with Retry-After", promise, a.Code)
		}
	}
}

// Decision 17: 7 days sliding to 30.
func TestSessionEndsSevenDaysAfterItsLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		idle, used := rm.enterMina(), rm.enterMina()
		for range 3 {
			time.Sleep(3 * day)
			must(t, rm.visits(used))
		}
		if err := rm.visits(idle); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("unused for 9 days: Visitor() = %v, want ErrNotFound", err)
		}
		time.Sleep(7*day - time.Nanosecond)
		must(t, rm.visits(used))
		time.Sleep(7 * day)
		if err := rm.visits(used); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("unused for 7 days: Visitor() = %v, want ErrNotFound", err)
		}
	})
}

func TestSessionEndsAfterThirtyDaysWhateverItsUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		cookie := rm.enterMina()
		for range 30*24 - 1 {
			time.Sleep(time.Hour)
			must(t, rm.visits(cookie))
		}
		v, err := rm.Visitor(get("/", cookie))
		if err != nil || v.ExpiresAt.After(v.EndsAt) {
			t.Errorf("Visitor() = %+v, %v, want an end no later than EndsAt", v, err)
		}
		time.Sleep(time.Hour)
		if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after 30 days: Visitor() = %v, want ErrNotFound", err)
		}
	})
}

func TestUseOfASessionIsWrittenOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		cookie := rm.enterMina()
		rm.store.saves.Store(0)
		for range 10 * 24 * 6 {
			time.Sleep(10 * time.Minute)
			must(t, rm.visits(cookie))
		}
		if rm.store.saves.Load() != 10 {
			t.Errorf("10 days of steady use were %d writes, want 10", rm.store.saves.Load())
		}
	})
}

func TestShortSessionSlidesToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, func(c *Config) { c.SessionIdle, c.SessionMax = time.Hour, 3*time.Hour })
		cookie := rm.enterMina()
		for range 3 {
			time.Sleep(50 * time.Minute)
			must(t, rm.visits(cookie))
		}
		time.Sleep(30 * time.Minute)
		if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after 3 hours: Visitor() = %v, want ErrNotFound", err)
		}
	})
}

func TestWriteThatCameTooLateIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		cookie := rm.enterMina()
		time.Sleep(2 * day)
		for _, c := range []struct {
			save, want error
		}{{storage.ErrConflict, nil}, {storage.ErrNotFound, nil}, {errDown, storage.ErrUnavailable}} {
			rm.store.save = c.save
			if err := rm.visits(cookie); !errors.Is(err, c.want) {
				t.Errorf("SaveSession fails with %v: Visitor() = %v, want %v", c.save, err, c.want)
			}
		}
	})
}

func TestSignOutEndsTheSessionAndClearsTheCookie(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	rm.store.end = storage.ErrConflict // moved forward by another request meanwhile
	w := httptest.NewRecorder()
	must(t, rm.SignOut(w, get("/oauth/logout", cookie)))
	if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Visitor() = %v, want ErrNotFound", err)
	}
	want := "open_sso_token=; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
	if got := w.Header().Get("Set-Cookie"); got != want {
		t.Errorf("Set-Cookie = %q, want %q", got, want)
	}
}

func TestSignOutOfNobodyClearsTheCookie(t *testing.T) {
	rm := newFixture(t, nil)
	for _, cookies := range [][]string{nil, {"rubbish"}, {handle.NewCookie()}} {
		w := httptest.NewRecorder()
		if err := rm.SignOut(w, get("/oauth/logout", cookies...)); err != nil || w.Header().Get("Set-Cookie") == "" {
			t.Errorf("SignOut(%v) = %v, want a cleared cookie", cookies, err)
		}
	}
}

func TestSignOutWithTwoCookiesEndsBothSessions(t *testing.T) {
	rm := newFixture(t, nil)
	a, b := rm.enterMina(), rm.enterMina()
	must(t, rm.SignOut(httptest.NewRecorder(), get("/oauth/logout", a, b)))
	for _, cookie := range []string{a, b} {
		if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Visitor() = %v, want ErrNotFound", err)
		}
	}
}

func TestSignOutThatFailedCanBeTriedAgain(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	rm.store.end = errDown
	w := httptest.NewRecorder()
	if err := rm.SignOut(w, get("/oauth/logout", cookie)); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("SignOut() = %v, want ErrUnavailable", err)
	}
	if got := w.Header().Get("Set-Cookie"); got != "" {
		t.Errorf("Set-Cookie = %q, want none: the session is still there", got)
	}
}

func TestRequestFullOfCookiesCostsLittle(t *testing.T) {
	rm := newFixture(t, nil)
	var cookies []string
	for range 50 {
		cookies = append(cookies, handle.NewCookie())
	}
	must(t, rm.SignOut(httptest.NewRecorder(), get("/oauth/logout", cookies...)))
	if rm.store.reads.Load() > session.MaxEnded {
		t.Errorf("%d sessions looked for, want at most %d", rm.store.reads.Load(), session.MaxEnded)
	}
}

func TestSignOutIsAuditedBeforeItIsAnswered(t *testing.T) {
	written := &fakeAudit{}
	rm := newFixture(t, nil)
	rm.steps.Trail = trail.New(written, rm.steps.Peer)
	must(t, rm.SignOut(httptest.NewRecorder(), get("/oauth/logout", rm.enterMina())))
	if len(written.notes) == 0 || written.notes[len(written.notes)-1] != "account  signed out" {
		t.Errorf("told %q, want the sign-out last", written.notes)
	}
	audit := len(written.notes)
	must(t, rm.SignOut(httptest.NewRecorder(), get("/oauth/logout", "nobody's")))
	if len(written.notes) != audit {
		t.Errorf("told %q of nobody", written.notes[audit:])
	}
	cookie := rm.enterMina()
	written.err = errDown
	w := httptest.NewRecorder()
	if err := rm.SignOut(w, get("/oauth/logout", cookie)); err == nil ||
		!strings.Contains(err.Error(), "could not be written down") || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("SignOut() with the trail away = %v, want %v and no answer", err, web.AuditFailed)
	}
	if err := rm.visits(cookie); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Visitor() = %v, want ErrNotFound: it is done", err)
	}
}
