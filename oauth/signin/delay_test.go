package signin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// The delay of an account (decision 56): after so many failures in so long, up to so much.
const (
	delayAfter  = 10
	delayWithin = 5 * time.Minute
	delayMost   = time.Minute
)

// guess is an attempt to sign in from the i-th of many addresses.
func guess(username, pass string, i int) *http.Request {
	r := post("username", username, "password", pass, "query", authorizeQuery)
	r.RemoteAddr = testAddress(i).String() + ":4711"
	return r
}

// delayed makes ten failures at an account, from an address each.
func (rm *fixture) delayed(username string) {
	rm.t.Helper()
	for i := range delayAfter {
		if a := rm.do(guess(username, "wrong password", i)); a.Code != http.StatusUnauthorized {
			rm.t.Fatalf("failure %d at %q = %d, want 401", i+1, username, a.Code)
		}
	}
}

// Decision 56.
func TestGuessesFromManyAddressesAtOneAccountWait(t *testing.T) {
	for _, name := range []string{"mina", "nobody"} {
		synctest.Test(t, func(t *testing.T) {
			rm := newFixture(t, nil)
			rm.delayed(name)
			last := 0 // that has failed: it has no turn of its own now
			for i, want := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
				hashes := rm.hashes.Load()
				a := rm.do(guess(name, password, last))
				if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != fmt.Sprint(want) || a.cookie() != "" {
					t.Errorf("%s: attempt %d = %d, Retry-After %q, want 429 and %d", name, i, a.Code, a.Header().Get("Retry-After"),
						want)
				}
				if n := rm.hashes.Load() - hashes; n != 0 {
					t.Errorf("%s: %d hashes computed while it waits, want none", name, n)
				}
				time.Sleep(time.Duration(want) * time.Second)
				last = 100 + i
				if a := rm.do(guess(name, "wrong password", last)); a.Code != http.StatusUnauthorized {
					t.Errorf("%s: a guess after the wait = %d, want 401", name, a.Code)
				}
			}
		})
	}
}

func TestKnownAndAnUnknownNameWaitOnTheSamePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		rm.delayed("mina")
		rm.delayed("nina")
		known, unknown := rm.do(guess("mina", password, 0)), rm.do(guess("nina", password, 1))
		if known.Code != http.StatusTooManyRequests || !strings.Contains(known.body,
			"for this account. Try again in 1 seconds") {
			t.Fatalf("= %d %s", known.Code, known.body)
		}
		if unknown.body != known.body || !maps.EqualFunc(known.Header(), unknown.Header(), slices.Equal) {
			t.Errorf("%v %s and %v %s", known.Header(), known.body, unknown.Header(), unknown.body)
		}
	})
}

func TestKnownAndUnknownNamesAreLookedUpAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		eve, err := rm.users.Users.(*users.StoreUsers).Create(t.Context(), storage.User{Username: "eve"}, password)
		must(t, err)
		mark, cookie := rm.remembers(eve.Sub), rm.do(guess("eve", password, 300)).cookie()
		var reads []int64
		for i, name := range []string{"mina", "nina"} {
			rm.delayed(name)
			before := rm.store.reads.Load()
			r := with(guess(name, password, i), cookie)
			r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: mark})
			if a := rm.do(r); a.Code != http.StatusTooManyRequests {
				t.Errorf("%s = %d, want 429", name, a.Code)
			}
			reads = append(reads, rm.store.reads.Load()-before)
		}
		if reads[0] != reads[1] || reads[0] == 0 {
			t.Errorf("%d reads of sessions, want as many for both names", reads)
		}
	})
}

func TestNameIsOneAccountHoweverItIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, names := range [][]string{{"mina", "MINA", " Mina ", "ｍｉｎａ"}, {"nobody", "NOBODY", " nobody ", "ｎｏｂｏｄｙ"}} {
			rm := newFixture(t, nil)
			for i := range delayAfter {
				rm.do(guess(names[i%len(names)], "wrong password", i))
			}
			for i, name := range names {
				if a := rm.do(guess(name, password, i)); a.Code != http.StatusTooManyRequests {
					t.Errorf("%q after ten failures = %d, want 429", name, a.Code)
				}
			}
			if a := rm.do(guess("somebody else", password, 100)); a.Code != http.StatusUnauthorized {
				t.Errorf("another name = %d, want 401", a.Code)
			}
		}
	})
}

func TestKnownBrowserIsNotDelayedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		mark, others := rm.remembers(rm.mina.Sub), rm.remembers("somebody else")
		rm.delayed("mina")
		known := func(pass string) *http.Request {
			r := guess("mina", pass, 200)
			r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: mark})
			return r
		}
		if a := rm.do(known(password)); a.Code != http.StatusSeeOther {
			t.Fatalf("the right password in a known browser = %d, want 303", a.Code)
		}
		a := rm.do(guess("mina", password, 1))
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "1" {
			t.Errorf("a stranger afterwards = %d, Retry-After %q, want 429 and 1: the other's success changes nothing", a.Code,
				a.Header().Get("Retry-After"))
		}
		r := guess("mina", password, 2)
		r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: others})
		if a := rm.do(r); a.Code != http.StatusTooManyRequests {
			t.Errorf("a browser that somebody else has signed in with = %d, want 429", a.Code)
		}
		time.Sleep(time.Second)
		if a := rm.do(guess("mina", password, 3)); a.Code != http.StatusSeeOther {
			t.Errorf("the right password in an unknown browser after the wait = %d, want 303", a.Code)
		}
		for i := range 9 {
			if a := rm.do(known("wrong password")); a.Code != http.StatusUnauthorized {
				t.Errorf("mistake %d in the known browser = %d, want 401", i+1, a.Code)
			}
		}
		if a := rm.do(known(password)); a.Code != http.StatusSeeOther {
			t.Errorf("the right password in the known browser after mistakes = %d, want 303", a.Code)
		}
	})
}

func TestSignedInUserChangesThePasswordWhileOthersQueue(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.send(attemptAs(password, "192.0.2.1"))
		delete(b.cookies, session.KnownCookie) // signed in before browsers were remembered
		h.delayed("mina")
		if a := b.post(newpassword.Path, "current", password, "password", better); a.Code != http.StatusSeeOther {
			t.Errorf("= %d, want 303", a.Code)
		}
	})
}

func TestParallelGuessesAreMostlyRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := &blockingUsers{answer: make(chan struct{})}
		rm := newFixture(t, withUsers(users))
		var codes [600]atomic.Int32
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() { codes[rm.do(guess("mina", "wrong", i)).Code].Add(1) })
		}
		synctest.Wait()
		if n := users.calls.Load(); n != delayAfter+21 {
			t.Errorf("%d of 100 looked at, want ten, and the 21 that a /24 and those in it have of their own", n)
		}
		close(users.answer)
		group.Wait()
		if wrong, waited := codes[401].Load(), codes[429].Load(); wrong != 31 || waited != 69 {
			t.Errorf("%d times 401 and %d times 429, want 31 and 69", wrong, waited)
		}
		users.answer = make(chan struct{})
		time.Sleep(delayMost)
		users.calls.Store(0)
		for i := range 100 {
			group.Go(func() { rm.do(guess("mina", "wrong", i)) })
		}
		synctest.Wait()
		if n := users.calls.Load(); n != 18 {
			t.Errorf("%d at once after the wait, want one, and 17 of addresses that have failed once", n)
		}
		close(users.answer)
		group.Wait()
	})
}

func TestFiveMinutesWithoutAFailureEndTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		rm.delayed("mina")
		for range 8 {
			time.Sleep(delayMost)
			rm.do(guess("mina", "wrong password", 500))
		}
		time.Sleep(delayWithin)
		rm.delayed("mina")
		if a := rm.do(guess("mina", password, 0)); a.Header().Get("Retry-After") != "1" {
			t.Errorf("Retry-After = %q, want 1: it begins anew", a.Header().Get("Retry-After"))
		}
	})
}

func TestNineFailuresAtAnAccountDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		for round := range 3 {
			for i := range delayAfter - 1 {
				if a := rm.do(guess("mina", "wrong password", 100*round+i)); a.Code != http.StatusUnauthorized {
					t.Fatalf("failure %d = %d, want 401", i+1, a.Code)
				}
			}
			if a := rm.do(guess("mina", password, 1000+round)); a.Code != http.StatusSeeOther {
				t.Errorf("the right password = %d, want 303", a.Code)
			}
			time.Sleep(delayWithin)
		}
	})
}

func TestWrongCodesDelayTheAccountTheyAreFor(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b, known := h.browser(), h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		for i := range 2 { // of two codes all five tries
			guesser := h.unknownBrowser(i)
			guesser.requestCode(t, otp.SignInFlow, minas)
			for range otp.Tries {
				guesser.post(otp.SignInFlow.CodePath(), "code", other(h.code()))
			}
			b.from = guesser.from // its network has no turn of its own now
		}
		a := b.post(otp.SignInFlow.CodePath(), "code", code)
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "1" {
			t.Errorf("a code in a browser of a stranger = %d, Retry-After %q, want 429 and 1", a.Code,
				a.Header().Get("Retry-After"))
		}
		if k, err := h.store.Ticket(t.Context(), otp.TicketID(otp.SignInFlow.Kind,
			b.cookies[web.BrowserCookie])); err != nil || k.Tries != 0 {
			t.Errorf("%d tries are taken, %v; want none", k.Tries, err)
		}
		time.Sleep(time.Second)
		b.wants(t, "a wrong code", b.post(otp.SignInFlow.CodePath(), "code", other(code)), 401, "")
		if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != http.StatusTooManyRequests ||
			a.Header().Get("Retry-After") != "2" {
			t.Errorf("a code after a wrong one = %d, Retry-After %q, want 429 and 2", a.Code, a.Header().Get("Retry-After"))
		}
		known.cookies[session.KnownCookie] = h.remembers(h.mina.Sub)
		known.cookies[web.BrowserCookie] = b.cookies[web.BrowserCookie]
		if a := known.post(otp.SignInFlow.CodePath(), "code", code); a.Code != http.StatusSeeOther {
			t.Errorf("the code in a known browser = %d, want 303", a.Code)
		}
	})
}
