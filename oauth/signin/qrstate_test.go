package signin

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func TestScanIsAnsweredByTheFirstScannerOnly(t *testing.T) {
	rm := newFixture(t, nil)
	mina, omar := rm.phone(), rm.signInOmar()
	sc := rm.showCode(authorizeQuery)
	mina.open(sc.id)
	for _, a := range []answer{omar.open(sc.id), omar.answer(sc.id, "confirm"), omar.answer(sc.id, "reject")} {
		if a.Code != http.StatusForbidden || strings.Contains(a.body, "Acme") || sc.poll() != "scanned" {
			t.Errorf("somebody else: %d, and it is %s, want 403 and scanned", a.Code, sc.poll())
		}
	}
	mina.answer(sc.id, "confirm")
	v, err := rm.Visitor(get("/", sc.collect().cookie()))
	if err != nil || v.UserID != rm.mina.Sub {
		t.Errorf("signed in is %+v, %v, want Mina", v, err)
	}
}

func TestAnswerBeforeTheScanConfirmsNothing(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	if a := p.answer(sc.id, "confirm"); a.Code != http.StatusSeeOther || sc.poll() != "pending" {
		t.Errorf("a confirmation of nothing = %d, and it is %s", a.Code, sc.poll())
	}
	p.open(sc.id)
	if a := (phoneBrowser{rm, handle.NewCookie()}).answer(sc.id, "confirm"); a.Code != http.StatusSeeOther ||
		sc.poll() != "scanned" {
		t.Errorf("a confirmation of nobody = %d, and it is %s", a.Code, sc.poll())
	}
	for _, word := range []string{"", "yes", "Confirm"} {
		if a := p.answer(sc.id, word); a.Code != http.StatusBadRequest || sc.poll() != "scanned" {
			t.Errorf("%q = %d, and it is %s, want 400 and scanned", word, a.Code, sc.poll())
		}
	}
}

func TestStateEndsToTheSecond(t *testing.T) {
	const instant = time.Nanosecond
	for _, c := range []struct {
		promise string
		begin   func(sc *codeBrowser, p phoneBrowser)
		life    time.Duration // from then on
	}{
		{"nobody scans", func(*codeBrowser, phoneBrowser) {}, 120 * time.Second},
		{"scanned at once", func(sc *codeBrowser, p phoneBrowser) { p.open(sc.id) }, 180 * time.Second},
		{"scanned at the last moment",
			func(sc *codeBrowser, p phoneBrowser) { time.Sleep(120*time.Second - instant); p.open(sc.id) },
			60*time.Second + instant},
		{"looked at again and again", func(sc *codeBrowser, p phoneBrowser) { p.open(sc.id); p.open(sc.id); p.open(sc.id) },
			180 * time.Second},
		{"confirmed at once", func(sc *codeBrowser, p phoneBrowser) { p.open(sc.id); p.answer(sc.id, "confirm") },
			60 * time.Second},
		{"confirmed at the last moment", func(sc *codeBrowser, p phoneBrowser) {
			p.open(sc.id)
			time.Sleep(180*time.Second - instant)
			p.answer(sc.id, "confirm")
		}, 60 * time.Second},
		{"rejected", func(sc *codeBrowser, p phoneBrowser) { p.open(sc.id); p.answer(sc.id, "reject") }, 180 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			rm := newFixture(t, nil)
			p, sc := rm.phone(), rm.showCode(authorizeQuery)
			c.begin(sc, p)
			time.Sleep(c.life - instant)
			if got := sc.poll(); got == "expired" {
				t.Errorf("%s: it ends before %v", c.promise, c.life)
			}
			time.Sleep(instant)
			if got := sc.poll(); got != "expired" {
				t.Errorf("%s: after %v it is %s", c.promise, c.life, got)
			}
			if a := p.open(sc.id); a.Code != http.StatusNotFound {
				t.Errorf("%s: the phone sees %d, want 404", c.promise, a.Code)
			}
			if a := rm.do(get(web.ScanPath + sc.id)); a.Code != http.StatusNotFound {
				t.Errorf("%s: who is not signed in sees %d, want 404 before they try", c.promise, a.Code)
			}
			if a := p.answer(sc.id, "confirm"); a.Code != http.StatusNotFound {
				t.Errorf("%s: confirm = %d, want 404", c.promise, a.Code)
			}
			if a := sc.collect(); a.Code != http.StatusBadRequest || a.cookie() != "" {
				t.Errorf("%s: collect = %d, want 400", c.promise, a.Code)
			}
			n, err := rm.store.Sweep(t.Context(), time.Now())
			if err != nil || n == 0 || sc.poll() != "Not Found" {
				t.Errorf("%s: swept %d, %v, and it is %s", c.promise, n, err, sc.poll())
			}
		})
	}
}

func TestTicketOfAnotherKindIsNoCode(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	id := strings.Repeat("A", 26)
	now := time.Now()
	_, err := rm.store.SaveTicket(t.Context(), storage.Ticket{ID: handle.Hash(id), Kind: "email",
		Browser: handle.Hash(sc.browser), State: scan.Confirmed, UserID: rm.mina.Sub, CreatedAt: now,
		ExpiresAt: now.Add(time.Minute)})
	must(t, err)
	fake := &codeBrowser{rm: rm, browser: sc.browser, id: id}
	if a := p.open(id); a.Code != http.StatusNotFound || fake.poll() != "Not Found" ||
		fake.collect().Code != http.StatusBadRequest {
		t.Errorf("the phone sees %d, the screen %s and %d", a.Code, fake.poll(), fake.collect().Code)
	}
}

func TestStoreThatIsAwayLosesNoCode(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	rm.store.session = errDown
	if a := sc.collect(); a.Code != http.StatusServiceUnavailable || a.cookie() != "" {
		t.Errorf("collect = %d with cookie %q, want 503", a.Code, a.cookie())
	}
	if a := p.open(sc.id); a.Code != http.StatusServiceUnavailable {
		t.Errorf("the phone sees %d, want 503", a.Code)
	}
	rm.store.session = nil
	if a := sc.collect(); a.Code != http.StatusSeeOther {
		t.Errorf("a moment later = %d, want 303", a.Code)
	}
}
