package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// inTime runs a test in which time passes only when everybody waits.
func inTime(t *testing.T, signUp string, test func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := furnished(t, signUp)
		test(t, h)
		must(t, h.Close(t.Context()))
	})
}

func TestACodeByMailSignsIn(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		if a := b.get(enterErrand.Path + "?query=" + "client_id%3Dksacme"); a.Code != 200 || !strings.Contains(a.body, `name="query" value="client_id=ksacme"`) {
			t.Errorf("the page for the address = %d %s", a.Code, a.body)
		}
		b.ask(t, enterErrand, " Mina@Example.COM ", "query", asked)
		if page := b.last; !strings.Contains(page.body, minas) || !strings.Contains(page.policy(), "https://app.example.com") {
			t.Errorf("the page for the code names no address or leads nowhere: %s %s", page.policy(), page.body)
		}
		code := h.code()
		if m := h.mails()[0]; m.to != minas || strings.Contains(m.subject, code) || !strings.Contains(m.text, "id.example.com") {
			t.Errorf("the mail is %+v", m)
		}
		a := b.post(enterErrand.codePath(), "code", " "+code[:3]+" "+code[3:])
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+asked {
			t.Fatalf("the right code = %d to %q %s", a.Code, a.Header().Get("Location"), a.body)
		}
		if v := h.signedIn(b); v.UserID != h.mina.Sub || v.LoginType != storage.LoginEmail || !v.AuthTime.Equal(time.Now()) {
			t.Errorf("the session is %+v", v)
		}
		if u, _ := h.store.User(t.Context(), h.mina.Sub); u.LoginType != storage.LoginEmail {
			t.Errorf("login_type = %q", u.LoginType)
		}
		b.wants(t, "a code used twice", b.post(enterErrand.codePath(), "code", code), 400, "Ask for a new code")
		if strings.Contains(h.log.String(), code) {
			t.Error("the log holds the code")
		}
	})
}

func TestANewAddressIsAUserWhereAnybodyMayBeOne(t *testing.T) {
	for signUp, want := range map[string]int{SignUpOpen: 303, SignUpClosed: 401, SignUpInvitation: 401} {
		inTime(t, signUp, func(t *testing.T, h *house) {
			b := h.browser()
			b.ask(t, enterErrand, "New+One@example.com")
			if n := len(h.mails()); (n == 1) != (want == 303) {
				t.Fatalf("%s: %d mails", signUp, n)
			}
			code := "123456"
			if want == 303 {
				code = h.code()
			}
			if a := b.post(enterErrand.codePath(), "code", code); a.Code != want {
				t.Fatalf("%s: the code = %d, want %d", signUp, a.Code, want)
			}
			l, err := h.store.Login(t.Context(), storage.LoginEmail, "new+one@example.com")
			if want != 303 {
				if err == nil {
					t.Errorf("%s: a user was made", signUp)
				}
				return
			}
			must(t, err)
			u, err := h.store.User(t.Context(), l.UserID)
			must(t, err)
			if u.Email != "new+one@example.com" || !u.EmailVerified || u.LoginType != storage.LoginEmail || strings.Contains(u.Username, "new") || h.signedIn(b).UserID != u.Sub {
				t.Errorf("%s: the user is %+v", signUp, u)
			}
			time.Sleep(mailPause)
			again := h.browser()
			again.ask(t, enterErrand, "new+one@EXAMPLE.com")
			if a := again.post(enterErrand.codePath(), "code", h.code()); a.Code != 303 || h.signedIn(again).UserID != u.Sub {
				t.Errorf("%s: another time = %d as %q", signUp, a.Code, h.signedIn(again).UserID)
			}
		})
	}
}

// random is what differs between two browsers anyway.
var random = regexp.MustCompile(browserCookie + `=[\w-]{43}`)

// everythingSeen is all that can be seen from outside of one address, in one browser.
func everythingSeen(b *tab, e *errand, address string) (seen []string) {
	keep := func(a answer) {
		head, _ := json.Marshal(a.Header())
		text := fmt.Sprint(a.Code, string(head), a.body)
		seen = append(seen, strings.ReplaceAll(random.ReplaceAllString(text, "cookie"), address, "ADDRESS"))
	}
	keep(b.post(e.Path, "address", address, "query", asked))
	keep(b.get(e.codePath()))
	keep(b.post(e.Path, "address", address))
	for range codeTries {
		keep(b.post(e.codePath(), "code", "000000", "password", "another horse"))
	}
	keep(b.get(e.codePath()))
	for range mailHour {
		time.Sleep(mailPause)
		keep(b.post(e.Path, "address", address))
	}
	return seen
}

// Nobody learns from this room who has an account.
func TestKnownAndUnknownAddressesAreAnsweredAlike(t *testing.T) {
	for _, e := range []*errand{enterErrand, resetErrand} {
		var want []string
		for i, address := range []string{minas, "nobo@example.com", "gone@example.com", "nopw@example.com"} {
			inTime(t, "", func(t *testing.T, h *house) {
				for name, disabled := range map[string]bool{"gone": true, "nopw": false} {
					_, err := h.store.CreateUser(t.Context(), storage.User{Username: name, Disabled: disabled}, storage.Login{Method: storage.LoginEmail, Subject: name + "@example.com"})
					must(t, err)
				}
				seen := everythingSeen(h.browser(), e, address)
				sent := len(h.mails())
				switch {
				case i == 0:
					want = seen
					if sent != mailHour {
						t.Errorf("%s: %d mails to who is known, want %d", e.kind, sent, mailHour)
					}
				case sent != 0 && (address != "nopw@example.com" || e == resetErrand):
					t.Errorf("%s: %d mails to %s", e.kind, sent, address)
				}
				for n := range want {
					if seen[n] != want[n] {
						t.Errorf("%s: step %d of %s differs:\n%s\nwant\n%s", e.kind, n, address, seen[n], want[n])
					}
				}
			})
		}
	}
}

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
			one.cookies[browserCookie], one.from = b.cookies[browserCookie], fmt.Sprintf("192.0.2.%d", i+1)
			all.Go(func() { codes[one.post(enterErrand.codePath(), "code", other(code)).Code].Add(1) })
		}
		all.Wait()
		if wrong, ended := codes[401].Load(), codes[400].Load(); wrong != codeTries-1 || ended != 30-codeTries+1 {
			t.Errorf("%d told wrong and %d ended, want %d and %d", wrong, ended, codeTries-1, 30-codeTries+1)
		}
		if k, err := h.store.Ticket(t.Context(), codeTicket(enterErrand.kind, b.cookies[browserCookie])); err != nil || k.Tries != codeTries {
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
			one.cookies[browserCookie], one.from = b.cookies[browserCookie], fmt.Sprintf("192.0.2.%d", i+1)
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
	for wait, want := range map[time.Duration]int{codeLife - time.Second: 303, codeLife: 400} {
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
		for promise, cookie := range map[string]string{"none": "", "another": storage.DrawCookie(), "no cookie of ours": "x", "its hash": storage.SessionID(b.cookies[browserCookie])} {
			delete(other.cookies, browserCookie)
			if cookie != "" {
				other.cookies[browserCookie] = cookie
			}
			if a := other.post(enterErrand.codePath(), "code", code); a.Code != 400 {
				t.Errorf("with the cookie of %s = %d, want 400", promise, a.Code)
			}
		}
		r := post("code", code)
		r.URL.Path = enterErrand.codePath()
		r.AddCookie(&http.Cookie{Name: browserCookie, Value: b.cookies[browserCookie]})
		r.AddCookie(&http.Cookie{Name: browserCookie, Value: storage.DrawCookie()})
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

func TestMailsToAnAddressKeepTheirPauses(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *house) {
		b := h.browser()
		ask := func(promise string, want int, retry string) {
			t.Helper()
			b.from = fmt.Sprintf("192.0.2.%d", len(h.mails())+1)
			a := b.post(enterErrand.Path, "address", minas)
			if a.Code != want || a.Header().Get("Retry-After") != retry {
				t.Errorf("%s = %d, Retry-After %q, want %d and %q", promise, a.Code, a.Header().Get("Retry-After"), want, retry)
			}
		}
		ask("the first", 303, "")
		time.Sleep(59 * time.Second)
		ask("after 59 s", 429, "1")
		time.Sleep(time.Second)
		ask("after 60 s", 303, "")
		for range mailHour - 2 {
			time.Sleep(mailPause)
			ask("a minute later", 303, "")
		}
		time.Sleep(mailPause)
		ask("the sixth in five minutes", 429, "3300")
		b.wants(t, "the sixth", b.last, 429, "Ask again in 55 minutes")
		if a := b.post(resetErrand.Path, "address", minas); a.Code != 429 {
			t.Errorf("for another errand = %d, want 429: it is the same mailbox", a.Code)
		}
		if a := b.post(enterErrand.Path, "address", "other@example.com"); a.Code != 303 {
			t.Errorf("to another address = %d, want 303", a.Code)
		}
		time.Sleep(55*time.Minute - time.Second)
		ask("a second too early", 429, "1")
		time.Sleep(time.Second)
		ask("an hour after the first", 303, "")
	})
}

func TestOfManyRequestsAtOnceOneIsMailed(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { h.browser().post(enterErrand.Path, "address", minas) })
		}
		all.Wait()
		if n := len(h.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
		}
	})
}

func TestOneAddressHasSoManyMailsSent(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *house) {
		b := h.browser()
		for i := range 40 {
			a := b.post(enterErrand.Path, "address", fmt.Sprintf("a%d@example.com", i))
			if want := map[bool]int{true: 303, false: 429}[i < sparingly.Failures]; a.Code != want {
				t.Fatalf("mail %d = %d, want %d", i+1, a.Code, want)
			}
		}
		if n := len(h.mails()); n != sparingly.Failures {
			t.Errorf("%d mails, want %d", n, sparingly.Failures)
		}
		if a := b.send(attempt(password, "192.0.2.1")); a.Code != 303 {
			t.Errorf("a sign-in from there = %d, want 303: nothing has failed", a.Code)
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
		if strings.Contains(string(text), h.code()) || strings.Contains(string(text), b.cookies[browserCookie]) {
			t.Errorf("the ticket is %s", text)
		}
		for _, key := range []string{"", kept[0].ID, kept[0].Browser} {
			if string(kept[0].Proof) == string(proofOf(key, kept[0].Kind, minas, h.code())) {
				t.Error("the proof has a key that is in the store")
			}
		}
	})
}

// Entry 19 of the decisions, over every way to guess: in whatever order and however many
// at once, one address fails ten times and is locked.
func TestFailuresOfAllKindsLockTogether(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			h := furnished(t, SignUpInvitation)
			luck := rand.New(rand.NewPCG(seed, 1))
			var browsers []*tab // each with a code of its own
			for i := range 30 {
				address := fmt.Sprintf("a%d@example.com", i)
				must(t, h.store.LinkLogins(t.Context(), h.mina.Sub, storage.Login{Method: storage.LoginEmail, Subject: address}))
				b := h.browser()
				b.from = fmt.Sprintf("198.51.100.%d", i+1)
				b.ask(t, []*errand{enterErrand, resetErrand}[i%2], address)
				b.from = "192.0.2.1"
				browsers = append(browsers, b)
			}
			right := map[string]bool{}
			for _, m := range h.mails() {
				right[sixDigits.FindString(m.text)] = true
			}
			wrong := "000000"
			for right[wrong] {
				wrong = fmt.Sprintf("%06d", luck.IntN(1_000_000))
			}
			var failed, locked atomic.Int32
			var all sync.WaitGroup
			for i, b := range browsers {
				kind, pause := luck.IntN(3), time.Duration(luck.IntN(3))*time.Second
				all.Go(func() {
					time.Sleep(pause)
					var a answer
					switch {
					case kind == 0:
						a = b.send(attempt("wrong password", "192.0.2.1"))
					case kind == 1:
						a = b.post(joinPath, "username", "eve", "password", "another horse", "invitation", "wrong")
					default:
						a = b.post([]*errand{enterErrand, resetErrand}[i%2].codePath(), "code", wrong, "password", "another horse")
					}
					switch a.Code {
					case 401:
						failed.Add(1)
					case 429:
						locked.Add(1)
					default:
						t.Errorf("kind %d = %d", kind, a.Code)
					}
				})
			}
			all.Wait()
			if f, l := failed.Load(), locked.Load(); f != 10 || l != 20 {
				t.Errorf("seed %d: %d failed and %d were locked out, want 10 and 20", seed, f, l)
			}
			if a := browsers[0].send(attempt(password, "192.0.2.1")); a.Code != 429 {
				t.Errorf("seed %d: afterwards = %d, want 429", seed, a.Code)
			}
			must(t, h.Close(t.Context()))
		})
	}
}

func TestALockedAddressUsesUpNoTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		for range 10 {
			b.send(attempt("wrong password", "192.0.2.1"))
		}
		a := b.post(enterErrand.codePath(), "code", h.code())
		if a.Code != 429 || a.Header().Get("Retry-After") != "900" || h.signedIn(b).UserID != "" {
			t.Errorf("the right code while locked = %d, Retry-After %q", a.Code, a.Header().Get("Retry-After"))
		}
		if k, err := h.store.Ticket(t.Context(), codeTicket(enterErrand.kind, b.cookies[browserCookie])); err != nil || k.Tries != 0 {
			t.Errorf("%d tries are taken, %v", k.Tries, err)
		}
	})
}

func TestAStoreThatIsAwayProvesNothing(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.browser()
		b.ask(t, enterErrand, minas)
		code := h.code()
		h.store.login = errDown
		for range 3 {
			if a := b.post(enterErrand.codePath(), "code", code); a.Code != 503 {
				t.Errorf("a store that is away = %d, want 503", a.Code)
			}
		}
		h.store.login = nil
		if a := b.post(enterErrand.codePath(), "code", code); a.Code != 303 {
			t.Errorf("afterwards = %d, want 303", a.Code)
		}
	})
}

func TestOnlyWhatCanBeAnAddressIsOne(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"ada@example.com": "ada@example.com", " Ada.L+x@Example.COM\t": "ada.l+x@example.com", "a_b!#$%&'*/=?^`{|}~-@x-1.example.org": "a_b!#$%&'*/=?^`{|}~-@x-1.example.org",
		"ada@xn--fsq.example": "ada@xn--fsq.example", long + "@example.com": long + "@example.com",
		"": "", "ada": "", "@example.com": "", "ada@": "", "ada@example": "", "ada@@example.com": "", "a@b@example.com": "",
		"ada@.example.com": "", "ada@example..com": "", "ada@example.com.": "", ".ada@example.com": "", "a..b@example.com": "", "ada.@example.com": "",
		"ada@-x.example.com": "", "ada@x-.example.com": "", "ada@192.0.2.1": "", "ada@[192.0.2.1]": "", `"a b"@example.com`: "", "a b@example.com": "",
		"ada@exam ple.com": "", "ada@example.com\r\nBcc: eve@example.com": "", "ada@example.com,eve@example.com": "", "Ada <ada@example.com>": "",
		"ädä@example.com": "", "ada@exämple.com": "", "ada@example.com\x00": "", "\xff@example.com": "", "a" + long + "@example.com": "",
		"a@" + strings.Repeat("a.", 126) + "com": "", "a@" + long + ".com": "", "ada@ⅿail.com": "", "ada@\u212a.com": "",
	} {
		if got, err := Mailbox(text); got != want || (err == nil) != (want != "") {
			t.Errorf("Mailbox(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
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
		cookie, code := b.cookies[browserCookie], h.code()
		first, yes, err := h.try(t.Context(), enterErrand.kind, cookie, code)
		second, also, err2 := h.try(t.Context(), enterErrand.kind, cookie, code)
		if !yes || !also || err != nil || err2 != nil {
			t.Fatal(yes, also, err, err2)
		}
		if err := h.use(t.Context(), first); err != nil { // although the second has taken a try since
			t.Errorf("the first: %v", err)
		}
		if err := h.use(t.Context(), second); !errors.Is(err, errLapsed) {
			t.Errorf("the second: %v, want errLapsed", err)
		}
	})
}

func TestADisabledUserStaysOutWhereAnybodyMaySignUp(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *house) {
		_, err := h.store.CreateUser(t.Context(), storage.User{Username: "gone", Disabled: true}, storage.Login{Method: storage.LoginEmail, Subject: "gone@example.com"})
		must(t, err)
		b := h.browser()
		b.ask(t, enterErrand, "gone@example.com")
		b.wants(t, "the right code", b.post(enterErrand.codePath(), "code", h.code()), 403, "Ask the operator")
		if h.signedIn(b).UserID != "" {
			t.Error("it signed in")
		}
	})
}
