package signin

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// crowdAround has so many tickets open around an address that the next one is the last.
func crowdAround(o *limits.OpenTickets, from netip.Addr) {
	for o.Take(network.Of(from)) == 0 {
	}
	o.Done(network.Of(from))
}

func TestUsedCodeFreesItsPlaceInTheLimit(t *testing.T) {
	for _, address := range []string{minas, "nobody@example.org"} {
		inTime(t, "", func(t *testing.T, h *fullFixture) {
			b := h.unknownBrowser(1)
			crowdAround(h.steps.Rates.Emails, testAddress(1))
			b.requestCode(t, otp.SignInFlow, address)
			second := h.unknownBrowser(1)
			a := second.post(otp.SignInFlow.Path, "address", "other@example.org")
			if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "1200" {
				t.Errorf("%s: one too many = %d, Retry-After %q, want 429 and 1200", address, a.Code, a.Header().Get("Retry-After"))
			}
			if n := tickets(t, h, otp.CountKind, "other@example.org"); n != 0 {
				t.Errorf("%s: %d tickets are stored of who is refused, want none", address, n)
			}
			if address != minas {
				return
			}
			if a := b.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != http.StatusSeeOther {
				t.Fatalf("the code = %d, want 303", a.Code)
			}
			second.requestCode(t, otp.SignInFlow, "other@example.org")
		})
	}
}

// An email that is not sent for another reason takes no room.
func TestMailThatMustWaitIsNotOpen(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.unknownBrowser(1)
		b.requestCode(t, otp.SignInFlow, minas)
		crowdAround(h.steps.Rates.Emails, testAddress(1))
		for range 3 {
			if a := b.post(otp.SignInFlow.Path, "address", minas); a.Code != http.StatusTooManyRequests ||
				a.Header().Get("Retry-After") != "60" {
				t.Fatalf("at once again = %d, Retry-After %q, want 429 and 60", a.Code, a.Header().Get("Retry-After"))
			}
		}
		b.requestCode(t, otp.SignInFlow, "other@example.org")
	})
}

func TestKnownBrowserGetsACodeDuringAnyFlood(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		crowdAround(h.steps.Rates.Emails, testAddress(1))
		h.unknownBrowser(1).requestCode(t, otp.SignInFlow, "other@example.org")
		known := h.unknownBrowser(1)
		known.cookies[session.KnownCookie] = h.remembers(h.mina.Sub)
		for i := range 3 {
			known.requestCode(t, otp.SignInFlow, minas)
			if i == 0 { // it ends one that counts for nobody
				if a := known.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != http.StatusSeeOther {
					t.Fatalf("the code = %d, want 303", a.Code)
				}
				known.cookies = map[string]string{session.KnownCookie: known.cookies[session.KnownCookie]}
			}
			time.Sleep(time.Minute)
		}
		if a := h.unknownBrowser(1).post(otp.SignInFlow.Path, "address", minas); a.Code != http.StatusTooManyRequests {
			t.Errorf("a stranger after a known browser's code was right = %d, want 429 still", a.Code)
		}
	})
}

func TestScannedCodeFreesItsPlaceInTheLimit(t *testing.T) {
	rm := newFixture(t, nil)
	here := netip.MustParseAddrPort(get(web.QRPath).RemoteAddr).Addr()
	crowdAround(rm.steps.Rates.Scans, here)
	sc, p := rm.showCode(""), rm.phone()
	if a := rm.do(get(web.QRPath)); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" ||
		a.named(web.BrowserCookie) != "" {
		t.Errorf("one too many = %d, Retry-After %q, want 429", a.Code, a.Header().Get("Retry-After"))
	}
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	if a := sc.collect(); a.Code != http.StatusSeeOther {
		t.Fatalf("who was let in by the phone = %d, want 303", a.Code)
	}
	rm.showCode("")
	if a := rm.do(get(web.QRPath)); a.Code != http.StatusTooManyRequests {
		t.Errorf("one too many again = %d, want 429", a.Code)
	}
}

func TestFinishedProviderVisitFreesItsPlaceInTheLimit(t *testing.T) {
	h := newProviderFixture(t, nil)
	here := netip.MustParseAddrPort(get(web.QRPath).RemoteAddr).Addr()
	crowdAround(h.steps.Rates.Visits, here)
	j := h.start("wx", authorizeQuery)
	if a := h.do(get(web.WithPath + "wx")); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" {
		t.Errorf("one too many = %d, Retry-After %q, want 429", a.Code, a.Header().Get("Retry-After"))
	}
	h.user(j.open(j.choose("lin")))
	h.start("wx", authorizeQuery)
	if a := h.do(get(web.WithPath + "wx")); a.Code != http.StatusTooManyRequests {
		t.Errorf("one too many again = %d, want 429", a.Code)
	}
}

// tickets counts those of a kind that name an address.
func tickets(t *testing.T, h *fullFixture, kind, address string) (n int) {
	t.Helper()
	if _, err := h.store.Ticket(t.Context(), handle.Hash(fmt.Sprintf("%s:%s", kind, address))); err == nil {
		n++
	}
	all, err := h.store.TicketsAbout(t.Context(), otp.SignInFlow.Kind, address)
	must(t, err)
	return n + len(all)
}
