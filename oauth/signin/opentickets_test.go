package signin

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/handle"
)

// flood6 is the i-th /64 of a flood that holds 64 /32s.
func flood6(i int) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x40, byte(i % 64), byte(i >> 16), byte(i >> 8), byte(i)})
}

// flood4 is the i-th IPv4 address of a flood that holds 400 /16s.
func flood4(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(20 + i%400/200), byte(i % 200), byte(i / 400 >> 8), byte(i / 400)})
}

func TestAFloodHasFewCodesMailedAndKeepsNobodyElseFromTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, taken, honest := newOpenTickets(openMailsFree, codeLife), 0, 0
		for i := range 44_000 {
			from := flood6(i)
			if i%11 == 0 {
				from = flood4(i / 11)
			}
			if o.take(network.Of(from)) == 0 {
				taken++
			}
			if i%200 == 0 {
				home := netip.AddrFrom4([4]byte{byte(100 + honest%50), byte(honest), 0, 1}) // in 220 other /16s
				if wait := o.take(network.Of(home)); wait > 0 {
					t.Errorf("%v, who comes from elsewhere, waits %v behind %d", home, wait, taken)
				}
				honest++
			}
			time.Sleep(20 * time.Millisecond)
		}
		if taken > 2_500 {
			t.Errorf("the flood had %d mails, want at most 2,500", taken)
		}
		if taken < openMailsFree-honest {
			t.Errorf("the flood had %d mails, want %d that are free", taken, openMailsFree)
		}
		for k, g := range map[string]*generations{"/64": &o.history.levels[0], "/32": &o.history.levels[3]} {
			if n := len(g.now) + len(g.before); n > taken+honest {
				t.Errorf("%d networks of %s are kept for %d mails", n, k, taken+honest)
			}
		}
	})
}

func TestOpenTicketsAreForgottenAfterTwiceTheirLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpenTickets(openMailsFree, codeLife)
		last := network.Of(flood6(0))
		for o.take(last) == 0 {
		}
		if wait := o.take(last); wait != 2*codeLife {
			t.Errorf("they wait %v, want twenty minutes", wait)
		}
		time.Sleep(2*codeLife - time.Second)
		if wait := o.take(last); wait != time.Second {
			t.Errorf("nearly twenty minutes later they wait %v, want a second", wait)
		}
		time.Sleep(time.Second)
		if wait := o.take(last); wait != 0 {
			t.Errorf("twenty minutes later they wait %v, want not at all", wait)
		}
	})
}

// crowd has so many tickets open around an address that the next one is the last.
func (o *openTickets) crowd(from netip.Addr) {
	for o.take(network.Of(from)) == 0 {
	}
	o.done(network.Of(from))
}

func TestACodeThatIsTypedInMakesRoomForAnother(t *testing.T) {
	for _, address := range []string{minas, "nobody@example.org"} {
		inTime(t, "", func(t *testing.T, h *house) {
			b := h.stranger(1)
			h.rates.mails.crowd(nth(1))
			b.ask(t, enterErrand, address)
			second := h.stranger(1)
			a := second.post(enterErrand.Path, "address", "other@example.org")
			if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "1200" {
				t.Errorf("%s: one too many = %d, Retry-After %q, want 429 and 1200", address, a.Code, a.Header().Get("Retry-After"))
			}
			if n := tickets(t, h, kindMailed, "other@example.org"); n != 0 {
				t.Errorf("%s: %d tickets are stored of who is refused, want none", address, n)
			}
			if address != minas {
				return
			}
			if a := b.post(enterErrand.codePath(), "code", h.code()); a.Code != http.StatusSeeOther {
				t.Fatalf("the code = %d, want 303", a.Code)
			}
			second.ask(t, enterErrand, "other@example.org")
		})
	}
}

// What is not mailed for another reason takes no room.
func TestAMailThatMustWaitIsNotOpen(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		b := h.stranger(1)
		b.ask(t, enterErrand, minas)
		h.rates.mails.crowd(nth(1))
		for range 3 {
			if a := b.post(enterErrand.Path, "address", minas); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "60" {
				t.Fatalf("at once again = %d, Retry-After %q, want 429 and 60", a.Code, a.Header().Get("Retry-After"))
			}
		}
		b.ask(t, enterErrand, "other@example.org")
	})
}

func TestWhoIsKnownAsksForACodeInAnyCrowd(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *house) {
		h.rates.mails.crowd(nth(1))
		h.stranger(1).ask(t, enterErrand, "other@example.org")
		known := h.stranger(1)
		known.cookies[knownCookie] = h.remembers(h.mina.Sub)
		for i := range 3 {
			known.ask(t, enterErrand, minas)
			if i == 0 { // it ends one that counts for nobody
				if a := known.post(enterErrand.codePath(), "code", h.code()); a.Code != http.StatusSeeOther {
					t.Fatalf("the code = %d, want 303", a.Code)
				}
				known.cookies = map[string]string{knownCookie: known.cookies[knownCookie]}
			}
			time.Sleep(time.Minute)
		}
		if a := h.stranger(1).post(enterErrand.Path, "address", minas); a.Code != http.StatusTooManyRequests {
			t.Errorf("a stranger after a known browser's code was right = %d, want 429 still", a.Code)
		}
	})
}

func TestACodeThatWasScannedMakesRoomForAnother(t *testing.T) {
	rm := open(t, nil)
	here := netip.MustParseAddrPort(get(qrPath).RemoteAddr).Addr()
	rm.rates.scans.crowd(here)
	sc, p := rm.showCode(""), rm.phone()
	if a := rm.do(get(qrPath)); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || a.named(browserCookie) != "" {
		t.Errorf("one too many = %d, Retry-After %q, want 429", a.Code, a.Header().Get("Retry-After"))
	}
	p.open(sc.id)
	p.say(sc.id, "confirm")
	if a := sc.collect(); a.Code != http.StatusSeeOther {
		t.Fatalf("who was let in by the phone = %d, want 303", a.Code)
	}
	rm.showCode("")
	if a := rm.do(get(qrPath)); a.Code != http.StatusTooManyRequests {
		t.Errorf("one too many again = %d, want 429", a.Code)
	}
}

func TestWhoComesBackFromAProviderMakesRoomForAnother(t *testing.T) {
	h := openAbroad(t, nil)
	here := netip.MustParseAddrPort(get(qrPath).RemoteAddr).Addr()
	h.rates.visits.crowd(here)
	j := h.leave("wx", asked)
	if a := h.do(get(withPath + "wx")); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" {
		t.Errorf("one too many = %d, Retry-After %q, want 429", a.Code, a.Header().Get("Retry-After"))
	}
	h.user(j.arrive(j.choose("lin")))
	h.leave("wx", asked)
	if a := h.do(get(withPath + "wx")); a.Code != http.StatusTooManyRequests {
		t.Errorf("one too many again = %d, want 429", a.Code)
	}
}

// tickets counts those of a kind that name an address.
func tickets(t *testing.T, h *house, kind, address string) (n int) {
	t.Helper()
	if _, err := h.store.Ticket(t.Context(), handle.Hash(fmt.Sprintf("%s:%s", kind, address))); err == nil {
		n++
	}
	all, err := h.store.TicketsAbout(t.Context(), enterErrand.kind, address)
	must(t, err)
	return n + len(all)
}
