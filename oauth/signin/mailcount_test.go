package signin

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
)

// unknownBrowser is a browser in the i-th of many networks.
func (h *fullFixture) unknownBrowser(i int) *testBrowser {
	b := h.browser()
	b.from = testAddress(i).String()
	return b
}

// flooded uses up the emails of an address in an hour, from 20 addresses of a /24.
func (h *fullFixture) flooded(address string) {
	h.t.Helper()
	for i := range 20 {
		if a := h.unknownBrowser(i).post(otp.SignInFlow.Path, "address", address); a.Code != http.StatusSeeOther {
			h.t.Fatalf("mail %d = %d, want 303", i+1, a.Code)
		}
	}
}

// An attacker with more networks than a person would have as many more codes to guess at.
func TestLastCodesForNewcomersHaveTwoTries(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		for i := range 25 {
			h.unknownBrowser(i<<16).requestCode(t, otp.SignInFlow, minas) // each in a /16 of its own
		}
		b := h.unknownBrowser(100 << 16)
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		for i, want := range []int{http.StatusUnauthorized, http.StatusBadRequest, http.StatusBadRequest} {
			typed := other(code)
			if i == 2 {
				typed = code
			}
			if a := b.post(otp.SignInFlow.CodePath(), "code", typed); a.Code != want {
				t.Errorf("try %d = %d, want %d", i+1, a.Code, want)
			}
		}
		known := h.unknownBrowser(100 << 16)
		known.cookies[session.KnownCookie] = h.remembers(h.mina.Sub)
		known.requestCode(t, otp.SignInFlow, minas)
		code = h.code()
		for range 4 {
			known.post(otp.SignInFlow.CodePath(), "code", other(code))
		}
		known.wants(t, "the fifth try of a known browser", known.post(otp.SignInFlow.CodePath(), "code", code), 303, "")
	})
}

// Decision 56.
func TestCodesRequestedByOthersDoNotBlockTheUser(t *testing.T) {
	for _, address := range []string{minas, "nobody@example.org"} {
		inTime(t, "", func(t *testing.T, h *fullFixture) {
			for i := range 5 {
				h.unknownBrowser(i).post(otp.SignInFlow.Path, "address", address)
				time.Sleep(time.Minute)
			}
			for i := range 5 {
				h.unknownBrowser(9).post(otp.SignInFlow.Path, "address", address)
				if i < 4 {
					time.Sleep(time.Minute)
				}
			}
			b := h.browser()
			if a := b.post(otp.SignInFlow.Path, "address", address); a.Code != http.StatusSeeOther {
				t.Errorf("%s: the person right after them = %d, Retry-After %q, want 303", address, a.Code,
					a.Header().Get("Retry-After"))
			}
			time.Sleep(time.Minute)
			if a := b.post(otp.ResetFlow.Path, "address", address); a.Code != http.StatusSeeOther {
				t.Errorf("%s: to set a new password = %d, want 303", address, a.Code)
			}
		})
	}
}

func TestAddressIsMailedTwentyCodesAnHourForANetwork(t *testing.T) {
	for _, address := range []string{minas, "nobody@example.org"} {
		inTime(t, "", func(t *testing.T, h *fullFixture) {
			h.flooded(address)
			b := h.unknownBrowser(100)
			if a := b.post(otp.ResetFlow.Path, "address", address); a.Code != http.StatusTooManyRequests ||
				a.Header().Get("Retry-After") != "3600" {
				t.Errorf("%s: beside them = %d, Retry-After %q, want 429 and 3600", address, a.Code, a.Header().Get("Retry-After"))
			}
			again, err := New(context.Background(), Config{BaseURL: origin, Store: h.store, Mailer: h.post})
			must(t, err)
			defer func() { must(t, again.Close(t.Context())) }()
			after := &testBrowser{h: again, cookies: map[string]string{}, from: testAddress(101).String()}
			if a := after.post(otp.SignInFlow.Path, "address", address); a.Code != http.StatusTooManyRequests {
				t.Errorf("%s: after a restart = %d, want 429", address, a.Code)
			}
			if a := b.post(otp.SignInFlow.Path, "address", "other@example.org"); a.Code != http.StatusSeeOther {
				t.Errorf("to another address = %d, want 303", a.Code)
			}
			for i, flow := range []*otp.Flow{otp.SignInFlow, otp.ResetFlow} { // by others, from other networks
				elsewhere := h.unknownBrowser((i + 1) << 16)
				if a := elsewhere.post(flow.Path, "address", address); a.Code != http.StatusSeeOther {
					t.Errorf("%s: from another network, %s = %d, want 303", address, flow.Path, a.Code)
				}
			}
			time.Sleep(time.Hour)
			if a := b.post(otp.SignInFlow.Path, "address", address); a.Code != http.StatusSeeOther {
				t.Errorf("%s: an hour later = %d, want 303", address, a.Code)
			}
		})
	}
}

func TestKnownBrowserHasItsOwnEmailLimit(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.flooded(minas)
		other := h.unknownBrowser(52)
		other.cookies[session.KnownCookie] = h.remembers("somebody else")
		if a := other.post(otp.SignInFlow.Path, "address", minas); a.Code != http.StatusTooManyRequests {
			t.Errorf("a browser that somebody else has signed in with = %d, want 429", a.Code)
		}
		if a := other.post(otp.SignInFlow.Path, "address", "nobody@example.org"); a.Code != http.StatusSeeOther {
			t.Errorf("it asks for an address that nobody has = %d, want 303", a.Code)
		}
		mark := h.remembers(h.mina.Sub)
		known := func(i int) *testBrowser {
			b := h.unknownBrowser(i)
			b.cookies[session.KnownCookie] = mark
			return b
		}
		for i := range 5 {
			b := known(i) // in the networks of the strangers
			b.requestCode(t, otp.SignInFlow, minas)
			if i == 0 {
				if a := known(50).post(otp.SignInFlow.Path, "address", minas); a.Code != http.StatusTooManyRequests ||
					a.Header().Get("Retry-After") != "60" {
					t.Errorf("at once again = %d, Retry-After %q, want 429 and 60", a.Code, a.Header().Get("Retry-After"))
				}
			}
			if i < 4 {
				time.Sleep(time.Minute)
				continue
			}
			if a := b.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != http.StatusSeeOther {
				t.Errorf("the code of the fifth = %d, want 303", a.Code)
			}
		}
		time.Sleep(time.Minute)
		if a := known(51).post(otp.SignInFlow.Path, "address", minas); a.Code != http.StatusTooManyRequests {
			t.Errorf("the sixth = %d, want 429", a.Code)
		}
	})
}

func TestCodeRequestedByAnotherClientDoesNotEndTheUsersCode(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b, known := h.browser(), h.browser()
		known.cookies[session.KnownCookie] = h.remembers(h.mina.Sub)
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		known.requestCode(t, otp.SignInFlow, minas)
		knowns := h.code()
		h.unknownBrowser(1).requestCode(t, otp.SignInFlow, minas)
		time.Sleep(time.Minute)
		h.browser().requestCode(t, otp.ResetFlow, minas)
		if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != http.StatusSeeOther {
			t.Errorf("the code of who asked first = %d, want 303", a.Code)
		}
		if a := known.post(otp.SignInFlow.CodePath(), "code", knowns); a.Code != http.StatusSeeOther {
			t.Errorf("the code of the known browser = %d, want 303", a.Code)
		}
	})
}

func TestMailCountOfManyNetworksAtOnceIsTwenty(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		var sent atomic.Int32
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				if h.unknownBrowser(i).post(otp.SignInFlow.Path, "address", minas).Code == http.StatusSeeOther {
					sent.Add(1)
				}
			})
		}
		all.Wait()
		if n := len(h.mails()); n != 20 || sent.Load() != 20 {
			t.Errorf("%d mails and %d told so, want 20", n, sent.Load())
		}
	})
}
