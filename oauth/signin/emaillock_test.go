package signin

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func TestMailsToAnAddressKeepTheirPauses(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		ask := func(promise string, want int, retry string) {
			t.Helper()
			a := b.post(otp.SignInFlow.Path, "address", minas)
			if a.Code != want || a.Header().Get("Retry-After") != retry {
				t.Errorf("%s = %d, Retry-After %q, want %d and %q", promise, a.Code, a.Header().Get("Retry-After"), want, retry)
			}
		}
		ask("the first", 303, "")
		time.Sleep(59 * time.Second)
		ask("after 59 s", 429, "1")
		time.Sleep(time.Second)
		ask("after 60 s", 303, "")
		for range otp.PerHour - 2 {
			time.Sleep(otp.Pause)
			ask("a minute later", 303, "")
		}
		time.Sleep(otp.Pause)
		ask("the sixth in five minutes", 429, "3300")
		b.wants(t, "the sixth", b.last, 429, "Ask again in 55 minutes")
		if a := b.post(otp.ResetFlow.Path, "address", minas); a.Code != 429 {
			t.Errorf("for another flow = %d, want 429: it is the same mailbox", a.Code)
		}
		if a := b.post(otp.SignInFlow.Path, "address", "other@example.com"); a.Code != 303 {
			t.Errorf("to another address = %d, want 303", a.Code)
		}
		time.Sleep(55*time.Minute - time.Second)
		ask("a second too early", 429, "1")
		time.Sleep(time.Second)
		ask("an hour after the first", 303, "")
	})
}

func TestEmailRequestsManyAtOnceSendOneMail(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { h.browser().post(otp.SignInFlow.Path, "address", minas) })
		}
		all.Wait()
		if n := len(h.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
		}
	})
}

func TestMailsFromOneAddressAreBounded(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		for i := range 40 {
			a := b.post(otp.SignInFlow.Path, "address", fmt.Sprintf("a%d@example.com", i))
			if want := map[bool]int{true: 303, false: 429}[i < limits.PerIP]; a.Code != want {
				t.Fatalf("mail %d = %d, want %d", i+1, a.Code, want)
			}
		}
		if n := len(h.mails()); n != limits.PerIP {
			t.Errorf("%d mails, want %d", n, limits.PerIP)
		}
		if a := b.send(attemptAs(password, "192.0.2.1")); a.Code != 303 {
			t.Errorf("a sign-in from there = %d, want 303: nothing has failed", a.Code)
		}
	})
}

// Decision 19, over every way to guess: in whatever order and however many
// at once, one address fails ten times and is locked.
func TestFailuresOfAllKindsLockTogether(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			h := newFullFixture(t, SignUpInvitation)
			luck := rand.New(rand.NewPCG(seed, 1))
			var browsers []*testBrowser // each with a code of its own
			for i := range 30 {
				address := fmt.Sprintf("a%d@example.com", i)
				must(t, h.store.LinkLogins(t.Context(), h.mina.Sub, storage.Login{Method: storage.LoginEmail, Subject: address}))
				b := h.browser()
				b.from = fmt.Sprintf("198.51.100.%d", i+1)
				b.requestCode(t, []*otp.Flow{otp.SignInFlow, otp.ResetFlow}[i%2], address)
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
						a = b.send(attemptAs("wrong password", "192.0.2.1"))
					case kind == 1:
						a = b.post(signup.Path, "username", "eve", "password", "another horse", "invitation", "wrong")
					default:
						a = b.post([]*otp.Flow{otp.SignInFlow, otp.ResetFlow}[i%2].CodePath(), "code", wrong, "password", "another horse")
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
			if a := browsers[0].send(attemptAs(password, "192.0.2.1")); a.Code != 429 {
				t.Errorf("seed %d: afterwards = %d, want 429", seed, a.Code)
			}
			must(t, h.Close(t.Context()))
		})
	}
}

func TestLockedAddressUsesUpNoTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		for range 10 {
			b.send(attemptAs("wrong password", "192.0.2.1"))
		}
		a := b.post(otp.SignInFlow.CodePath(), "code", h.code())
		if a.Code != 429 || a.Header().Get("Retry-After") != "900" || h.signedIn(b).UserID != "" {
			t.Errorf("the right code while locked = %d, Retry-After %q", a.Code, a.Header().Get("Retry-After"))
		}
		if k, err := h.store.Ticket(t.Context(), otp.TicketID(otp.SignInFlow.Kind,
			b.cookies[web.BrowserCookie])); err != nil || k.Tries != 0 {
			t.Errorf("%d tries are taken, %v", k.Tries, err)
		}
	})
}
