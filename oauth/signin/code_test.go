package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func TestCodeHasFiveTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		b.wants(t, "no code", b.post(otp.SignInFlow.CodePath(), "code", "12345"), 400, "The code has six digits")
		for range otp.Tries - 1 {
			b.wants(t, "a wrong code", b.post(otp.SignInFlow.CodePath(), "code", other(code)), 401, "The code is not right")
		}
		b.wants(t, "the fifth", b.post(otp.SignInFlow.CodePath(), "code", other(code)), 400, "Ask for a new code")
		b.wants(t, "the right one after five", b.post(otp.SignInFlow.CodePath(), "code", code), 400, "")
		if h.signedIn(b).UserID != "" {
			t.Error("it signed in")
		}
	})
}

func TestFifthTryMayBeTheRightOne(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		for range otp.Tries - 1 {
			b.post(otp.SignInFlow.CodePath(), "code", other(code))
		}
		if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != 303 {
			t.Errorf("the fifth = %d, want 303", a.Code)
		}
	})
}

func TestThirtyGuessesAtOnceUseFiveTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		var codes [600]atomic.Int32
		var all sync.WaitGroup
		for i := range 30 {
			one := h.browser()
			one.cookies[web.BrowserCookie], one.from = b.cookies[web.BrowserCookie], fmt.Sprintf("192.0.2.%d", i+1)
			all.Go(func() { codes[one.post(otp.SignInFlow.CodePath(), "code", other(code)).Code].Add(1) })
		}
		all.Wait()
		wrong, ended, waited := codes[401].Load(), codes[400].Load(), codes[429].Load() // those beyond the tenth at once wait
		if wrong != otp.Tries-1 || ended+waited != 30-otp.Tries+1 || ended == 0 {
			t.Errorf("%d told wrong, %d ended and %d told to wait, want %d and %d of the others", wrong, ended, waited,
				otp.Tries-1, 30-otp.Tries+1)
		}
		if k, err := h.store.Ticket(t.Context(), otp.TicketID(otp.SignInFlow.Kind,
			b.cookies[web.BrowserCookie])); err != nil || k.Tries != otp.Tries {
			t.Errorf("%d tries are taken, %v", k.Tries, err)
		}
	})
}

func TestRightCodeSignsInOnce(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		var in atomic.Int32
		var all sync.WaitGroup
		for i := range otp.Tries {
			one := h.browser()
			one.cookies[web.BrowserCookie], one.from = b.cookies[web.BrowserCookie], fmt.Sprintf("192.0.2.%d", i+1)
			all.Go(func() {
				if one.post(otp.SignInFlow.CodePath(), "code", code).Code == 303 {
					in.Add(1)
				}
			})
		}
		all.Wait()
		if n := in.Load(); n != 1 {
			t.Errorf("it signed in %d times", n)
		}
	})
}

func TestCodeEndsAfterTenMinutes(t *testing.T) {
	for wait, want := range map[time.Duration]int{limits.CodeLife - time.Second: 303, limits.CodeLife: 400} {
		inTime(t, "", func(t *testing.T, h *fullFixture) {
			b := h.browser()
			b.requestCode(t, otp.SignInFlow, minas)
			code := h.code()
			time.Sleep(wait)
			if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != want {
				t.Errorf("after %v = %d, want %d", wait, a.Code, want)
			}
		})
	}
}

// An attacker who makes a user read out a code can do nothing with it, and a page that was sent to
// a user does not work in their browser.
func TestCodeWorksOnlyInTheBrowserThatRequestedIt(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b, other := h.browser(), h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		for promise, cookie := range map[string]string{"none": "", "another": handle.NewCookie(), "no cookie of ours": "x",
			"its hash": handle.Hash(b.cookies[web.BrowserCookie])} {
			delete(other.cookies, web.BrowserCookie)
			if cookie != "" {
				other.cookies[web.BrowserCookie] = cookie
			}
			if a := other.post(otp.SignInFlow.CodePath(), "code", code); a.Code != 400 {
				t.Errorf("with the cookie of %s = %d, want 400", promise, a.Code)
			}
		}
		r := post("code", code)
		r.URL.Path = otp.SignInFlow.CodePath()
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: b.cookies[web.BrowserCookie]})
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: handle.NewCookie()})
		if a := h.do(r); a.Code != 400 {
			t.Errorf("with two cookies = %d, want 400", a.Code)
		}
		if a := b.post(otp.ResetFlow.CodePath(), "code", code, "password", "another horse"); a.Code != 400 {
			t.Errorf("for another flow = %d, want 400", a.Code)
		}
		if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != 303 {
			t.Errorf("in its own = %d, want 303", a.Code)
		}
	})
}

func TestNewCodeEndsTheOld(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		first, second := h.browser(), h.browser()
		first.requestCode(t, otp.SignInFlow, minas)
		old := h.code()
		time.Sleep(otp.Pause)
		second.requestCode(t, otp.SignInFlow, minas)
		if a := first.post(otp.SignInFlow.CodePath(), "code", old); a.Code != 400 {
			t.Errorf("the old code = %d, want 400", a.Code)
		}
		time.Sleep(otp.Pause)
		old = h.code()
		second.requestCode(t, otp.SignInFlow, minas)
		if now := h.code(); now != old {
			if a := second.post(otp.SignInFlow.CodePath(), "code", old); a.Code != 401 {
				t.Errorf("the old code in the same browser = %d, want 401", a.Code)
			}
		}
		if a := second.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != 303 {
			t.Errorf("the newest code = %d, want 303", a.Code)
		}
	})
}

func TestStoreDoesNotRevealTheCode(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		kept, err := h.store.TicketsAbout(t.Context(), otp.SignInFlow.Kind, minas)
		if err != nil || len(kept) != 1 {
			t.Fatal(kept, err)
		}
		text, _ := json.Marshal(kept[0])
		if strings.Contains(string(text), h.code()) || strings.Contains(string(text), b.cookies[web.BrowserCookie]) {
			t.Errorf("the ticket is %s", text)
		}
		for _, key := range []string{"", kept[0].ID, kept[0].Browser} {
			if string(kept[0].Proof) == string(otp.Proof(key, kept[0].Kind, minas, h.code())) {
				t.Error("the proof has a key that is in the store")
			}
		}
	})
}

// Two requests that have both seen that the code is right: only one may go on.
func TestCodeSentTwiceIsUsedOnce(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		cookie, code := b.cookies[web.BrowserCookie], h.code()
		first, yes, err := h.codes.Try(t.Context(), otp.SignInFlow.Kind, cookie, code)
		second, also, err2 := h.codes.Try(t.Context(), otp.SignInFlow.Kind, cookie, code)
		if !yes || !also || err != nil || err2 != nil {
			t.Fatal(yes, also, err, err2)
		}
		if err := h.codes.Use(t.Context(), first); err != nil { // although the second has taken a try since
			t.Errorf("the first: %v", err)
		}
		if err := h.codes.Use(t.Context(), second); !errors.Is(err, otp.ErrExpired) {
			t.Errorf("the second: %v, want errLapsed", err)
		}
	})
}
