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

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/handle"
)

func TestACodeHasFiveTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		b.wants(t, "no code", b.post(enterErrand.codePath(), "code", "12345"), 400, "The code is six digits")
		for range codeTries - 1 {
			b.wants(t, "a wrong code", b.post(enterErrand.codePath(), "code", other(code)), 401, "The code is not right")
		}
		b.wants(t, "the fifth", b.post(enterErrand.codePath(), "code", other(code)), 400, "Ask for a new code")
		b.wants(t, "the right one after five", b.post(enterErrand.codePath(), "code", code), 400, "")
		if h.signedIn(b).UserID != "" {
			t.Error("it signed in")
		}
	})
}

func TestTheFifthTryMayBeTheRightOne(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		for range codeTries - 1 {
			b.post(enterErrand.codePath(), "code", other(code))
		}
		if a := b.post(enterErrand.codePath(), "code", code); a.Code != 303 {
			t.Errorf("the fifth = %d, want 303", a.Code)
		}
	})
}

func TestThirtyGuessesAtOnceUseFiveTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		var codes [600]atomic.Int32
		var all sync.WaitGroup
		for i := range 30 {
			one := h.browser()
			one.cookies[web.BrowserCookie], one.from = b.cookies[web.BrowserCookie], fmt.Sprintf("192.0.2.%d", i+1)
			all.Go(func() { codes[one.post(enterErrand.codePath(), "code", other(code)).Code].Add(1) })
		}
		all.Wait()
		wrong, ended, waited := codes[401].Load(), codes[400].Load(), codes[429].Load() // those beyond the tenth at once wait
		if wrong != codeTries-1 || ended+waited != 30-codeTries+1 || ended == 0 {
			t.Errorf("%d told wrong, %d ended and %d told to wait, want %d and %d of the others", wrong, ended, waited, codeTries-1, 30-codeTries+1)
		}
		if k, err := h.store.Ticket(t.Context(), codeTicket(enterErrand.kind, b.cookies[web.BrowserCookie])); err != nil || k.Tries != codeTries {
			t.Errorf("%d tries are taken, %v", k.Tries, err)
		}
	})
}

func TestARightCodeSignsInOnce(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		var in atomic.Int32
		var all sync.WaitGroup
		for i := range codeTries {
			one := h.browser()
			one.cookies[web.BrowserCookie], one.from = b.cookies[web.BrowserCookie], fmt.Sprintf("192.0.2.%d", i+1)
			all.Go(func() {
				if one.post(enterErrand.codePath(), "code", code).Code == 303 {
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

func TestACodeEndsAfterTenMinutes(t *testing.T) {
	for wait, want := range map[time.Duration]int{limits.CodeLife - time.Second: 303, limits.CodeLife: 400} {
		inTime(t, "", func(t *testing.T, h *house) {
			b := h.browser()
			b.ask(t, enterErrand, minas)
			code := h.code()
			time.Sleep(wait)
			if a := b.post(enterErrand.codePath(), "code", code); a.Code != want {
				t.Errorf("after %v = %d, want %d", wait, a.Code, want)
			}
		})
	}
}

// Whoever makes somebody else read out a code can do nothing with it, and a page that was
// sent to somebody is none in their browser.
func TestACodeWorksOnlyInTheBrowserThatAskedForIt(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b, other := h.browser(), h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		for promise, cookie := range map[string]string{"none": "", "another": handle.NewCookie(), "no cookie of ours": "x", "its hash": handle.Hash(b.cookies[web.BrowserCookie])} {
			delete(other.cookies, web.BrowserCookie)
			if cookie != "" {
				other.cookies[web.BrowserCookie] = cookie
			}
			if a := other.post(enterErrand.codePath(), "code", code); a.Code != 400 {
				t.Errorf("with the cookie of %s = %d, want 400", promise, a.Code)
			}
		}
		r := post("code", code)
		r.URL.Path = enterErrand.codePath()
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: b.cookies[web.BrowserCookie]})
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: handle.NewCookie()})
		if a := h.do(r); a.Code != 400 {
			t.Errorf("with two cookies = %d, want 400", a.Code)
		}
		if a := b.post(resetErrand.codePath(), "code", code, "password", "another horse"); a.Code != 400 {
			t.Errorf("for another errand = %d, want 400", a.Code)
		}
		if a := b.post(enterErrand.codePath(), "code", code); a.Code != 303 {
			t.Errorf("in its own = %d, want 303", a.Code)
		}
	})
}

func TestANewCodeEndsTheOld(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		first, second := h.browser(), h.browser()
		first.ask(t, enterErrand, minas)
		old := h.code()
		time.Sleep(mailPause)
		second.ask(t, enterErrand, minas)
		if a := first.post(enterErrand.codePath(), "code", old); a.Code != 400 {
			t.Errorf("the old code = %d, want 400", a.Code)
		}
		time.Sleep(mailPause)
		old = h.code()
		second.ask(t, enterErrand, minas)
		if now := h.code(); now != old {
			if a := second.post(enterErrand.codePath(), "code", old); a.Code != 401 {
				t.Errorf("the old code in the same browser = %d, want 401", a.Code)
			}
		}
		if a := second.post(enterErrand.codePath(), "code", h.code()); a.Code != 303 {
			t.Errorf("the newest code = %d, want 303", a.Code)
		}
	})
}

func TestTheStoreCanNotTellTheCode(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		kept, err := h.store.TicketsAbout(t.Context(), enterErrand.kind, minas)
		if err != nil || len(kept) != 1 {
			t.Fatal(kept, err)
		}
		text, _ := json.Marshal(kept[0])
		if strings.Contains(string(text), h.code()) || strings.Contains(string(text), b.cookies[web.BrowserCookie]) {
			t.Errorf("the ticket is %s", text)
		}
		for _, key := range []string{"", kept[0].ID, kept[0].Browser} {
			if string(kept[0].Proof) == string(proofOf(key, kept[0].Kind, minas, h.code())) {
				t.Error("the proof has a key that is in the store")
			}
		}
	})
}

func TestACodeIsReadAsPeopleTypeIt(t *testing.T) {
	for text, want := range map[string]string{
		"123456": "123456", " 123 456 ": "123456", "123-456": "123456", "１２３４５６": "123456", "000000": "000000",
		"": "", "12345": "", "1234567": "", "12345a": "", "+12345": "", "١٢٣٤٥٦": "", "123456\x00": "", "1.2345": "",
	} {
		if got := typedCode(text); got != want {
			t.Errorf("typedCode(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCodesAreDrawnFromAllThereAre(t *testing.T) {
	var seen [codeDigits][10]int
	const n = 20_000
	for range n {
		code := drawCode()
		if typedCode(code) != code {
			t.Fatalf("drawCode() = %q", code)
		}
		for i := range codeDigits {
			seen[i][code[i]-'0']++
		}
	}
	for i := range seen {
		for d, count := range seen[i] {
			if count < n/10-300 || count > n/10+300 { // 7 standard deviations
				t.Errorf("of %d codes %d have a %d at place %d", n, count, d, i+1)
			}
		}
	}
}

// Two requests that have both seen that the code is right: only one may go on.
func TestOfTwoRightCodesOneIsUsed(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		cookie, code := b.cookies[web.BrowserCookie], h.code()
		first, yes, err := h.codes.try(t.Context(), enterErrand.kind, cookie, code)
		second, also, err2 := h.codes.try(t.Context(), enterErrand.kind, cookie, code)
		if !yes || !also || err != nil || err2 != nil {
			t.Fatal(yes, also, err, err2)
		}
		if err := h.codes.use(t.Context(), first); err != nil { // although the second has taken a try since
			t.Errorf("the first: %v", err)
		}
		if err := h.codes.use(t.Context(), second); !errors.Is(err, errLapsed) {
			t.Errorf("the second: %v, want errLapsed", err)
		}
	})
}
