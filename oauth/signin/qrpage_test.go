package signin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/event"
)

func TestCodeLeadsToThePhonesPageAndCarriesNothingElse(t *testing.T) {
	rm := newFixture(t, nil)
	sc := rm.showCode(authorizeQuery)
	for _, want := range []string{
		`<svg class="qr" role="img" aria-label="A code to scan with the camera of your phone"`, `fill="#fff"`,
		`role="status" aria-live="polite"`, `<noscript><button type="submit">I have scanned the code: continue</button></noscript>`,
		`<script src="/oauth/signin/qr.js" defer></script>`, `data-poll="/oauth/signin/qr/poll?id=` + sc.id + `"`, "Sign in to Acme with your phone",
		`href="/oauth/authorize?client_id=ksacme&amp;`,
	} {
		if !strings.Contains(sc.shown.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(sc.shown.body, "<script") != 1 || !strings.Contains(sc.shown.body, "defer></script>") {
		t.Error("a script stands in the page")
	}
	if want := "script-src 'self'; connect-src 'self'"; !strings.Contains(sc.shown.policy(), want) || !sc.shown.leaves() {
		t.Errorf("policy = %q, want %q in it, and nothing of where forms lead", sc.shown.policy(), want)
	}
	if p := rm.signInPage(get("/oauth/authorize?" + authorizeQuery)); !strings.Contains(p.body, `<span>Scan with your phone</span></a>`) {
		t.Errorf("the sign-in page does not lead to the code: %s", p.body)
	}
}

func TestFloodOfCodesIsBoundedByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		for range limits.TicketsPerIP {
			rm.showCode("")
		}
		time.Sleep(45 * time.Second)
		a := rm.do(get(web.QRPath))
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "15" ||
			a.named(web.BrowserCookie) != "" || !strings.Contains(a.body, "too many codes") {
			t.Errorf("one more = %d, Retry-After %q, want 429 and 15", a.Code, a.Header().Get("Retry-After"))
		}
		r := get(web.QRPath)
		r.RemoteAddr = "198.51.100.7:1"
		if a := rm.do(r); a.Code != http.StatusOK {
			t.Errorf("another address = %d, want 200", a.Code)
		}
		time.Sleep(15 * time.Second)
		rm.showCode("")
	})
}

func TestPollsHaveARateOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		sc := rm.showCode("")
		for i := range limits.PollsPerCode {
			if got := sc.poll(); got != "pending" {
				t.Fatalf("poll %d is %s", i, got)
			}
		}
		a := rm.do(sc.with(get(scan.PollPath + "?id=" + sc.id)))
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "60" || !strings.Contains(a.body, `"errcode":429`) {
			t.Errorf("one more = %d, Retry-After %q: %s", a.Code, a.Header().Get("Retry-After"), a.body)
		}
		if got := rm.showCode("").poll(); got != "pending" {
			t.Errorf("another code of the address is %s", got)
		}
		time.Sleep(time.Minute)
		if got := sc.poll(); got != "pending" {
			t.Errorf("a minute later it is %s", got)
		}
		for range limits.PollsPerIP - 1 {
			rm.do(get(scan.PollPath + "?id=nobody's"))
		}
		if got := sc.poll(); got != "Too Many Requests" {
			t.Errorf("after %d polls of the address it is %s", limits.PollsPerIP, got)
		}
		if a := rm.do(get(web.QRPath)); a.Code != http.StatusOK {
			t.Errorf("polls count against codes: %d", a.Code)
		}
	})
}

func TestScriptIsAFileThatIsKept(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(get(scan.ScriptPath))
	if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "text/javascript; charset=utf-8" ||
		a.Header().Get("Cache-Control") != "public, max-age=300" || a.body != scriptText(t) {
		t.Errorf("the script = %d %v", a.Code, a.Header())
	}
	r := get(scan.ScriptPath)
	r.Header.Set("If-None-Match", a.Header().Get("ETag"))
	if b := rm.do(r); b.Code != http.StatusNotModified || b.body != "" || a.Header().Get("ETag") == "" {
		t.Errorf("by its ETag = %d", b.Code)
	}
}

func TestQRSignInThatIsOffIsNotMentioned(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.NoQR = true })
	if a := rm.do(get("/oauth/signin")); strings.Contains(a.body, "Scan with") {
		t.Error("the page offers it")
	}
	for _, path := range append(scan.Unmetered(), web.QRPath, scan.CollectPath, web.ScanPath+strings.Repeat("A", 26)) {
		if a := rm.do(get(path)); a.Code != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", path, a.Code)
		}
	}
}

func TestQRCodeIsNotTakenByTheWrongMethod(t *testing.T) {
	rm := newFixture(t, nil)
	sc := rm.showCode("")
	for path, methods := range map[string]string{web.QRPath: "HEAD POST", scan.PollPath: "HEAD POST",
		scan.CollectPath: "GET HEAD", web.ScanPath + sc.id: "HEAD PUT"} {
		for method := range strings.FieldsSeq(methods) {
			if a := rm.do(httptest.NewRequest(method, origin+path, nil)); a.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s = %d, want 405", method, path, a.Code)
			}
		}
	}
}

func TestBadQueryMakesNoCode(t *testing.T) {
	rm := newFixture(t, nil)
	for _, query := range []string{"query=a&query=b", "query=a%0d%0ab", "query=" + strings.Repeat("x", web.MaxQuery+1)} {
		if a := rm.do(get(web.QRPath + "?" + query)); a.Code != http.StatusBadRequest || a.named(web.BrowserCookie) != "" {
			t.Errorf("%.20s = %d, want 400", query, a.Code)
		}
	}
	if sc := rm.showCode("client_id=ksacme&redirect_uri=https://evil.example/"); strings.Contains(sc.shown.policy(),
		"evil") || strings.Contains(sc.shown.body, "Acme") {
		t.Error("a request that the application may not make has its brand")
	}
}

type written []event.Event

func (l *written) Note(e event.Event) { *l = append(*l, e) }

func (l *written) NoteNow(_ context.Context, e event.Event) error {
	l.Note(e)
	return nil
}

func TestSignInByScanIsAudited(t *testing.T) {
	var notes written
	rm := newFixture(t, func(c *Config) { c.Audit = &notes })
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	notes = nil
	sc.collect()
	if len(notes) != 1 || notes[0].Kind != event.SignIn || notes[0].User != rm.mina.Sub ||
		notes[0].Status != http.StatusSeeOther || notes[0].Path != scan.CollectPath {
		t.Errorf("the trail holds %+v, want one sign-in of Mina", notes)
	}
}

// scriptText is the script of the page of a code.
func scriptText(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("internal/scan/qr.js")
	must(t, err)
	return string(raw)
}
