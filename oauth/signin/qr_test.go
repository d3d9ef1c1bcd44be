package signin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0"

// codeBrowser is a browser that shows a code.
type codeBrowser struct {
	rm      *fixture
	browser string // its cookie
	id      string // the scan id in its code
	query   string
	shown   answer
}

var hiddenID = regexp.MustCompile(`<input type="hidden" name="id" value="([A-Z2-7]{26})">`)

// showCode opens the page of a code in a new browser.
func (rm *fixture) showCode(query string) *codeBrowser {
	rm.t.Helper()
	to := web.QRPath
	if query != "" {
		to += "?" + url.Values{"query": {query}}.Encode()
	}
	r := get(to)
	r.Header.Set("User-Agent", firefox)
	a := rm.do(r)
	m := hiddenID.FindStringSubmatch(a.body)
	if a.Code != http.StatusOK || m == nil {
		rm.t.Fatalf("GET %s = %d without a scan id: %s", to, a.Code, a.body)
	}
	return &codeBrowser{rm: rm, browser: a.named(web.BrowserCookie), id: m[1], query: query, shown: a}
}

func (a answer) named(name string) string {
	for _, c := range a.Result().Cookies() {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (sc *codeBrowser) with(r *http.Request) *http.Request {
	if sc.browser != "" {
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: sc.browser})
	}
	return r
}

func (sc *codeBrowser) poll() string {
	a := sc.rm.do(sc.with(get(scan.PollPath + "?id=" + sc.id)))
	if a.Code != http.StatusOK {
		return http.StatusText(a.Code)
	}
	var reply struct{ Status string }
	must(sc.rm.t, json.Unmarshal([]byte(a.body), &reply))
	return reply.Status
}

func (sc *codeBrowser) collect() answer { return sc.rm.do(sc.collecting()) }

func (sc *codeBrowser) collecting() *http.Request {
	return sc.with(formTo(scan.CollectPath, "id", sc.id, "query", sc.query))
}

func formTo(path string, pairs ...string) *http.Request {
	r := post(pairs...)
	r.URL.Path = path
	return r
}

// phoneBrowser is the browser of a signed-in user.
type phoneBrowser struct {
	rm     *fixture
	cookie string
}

func (rm *fixture) phone() phoneBrowser { return phoneBrowser{rm, rm.enterMina()} }

// signInOmar makes and signs in a second user.
func (rm *fixture) signInOmar() phoneBrowser {
	rm.t.Helper()
	_, err := users.New(rm.store, cheap(rm.hashes)).Create(context.Background(), storage.User{Username: "omar"}, password)
	must(rm.t, err)
	return phoneBrowser{rm, rm.do(post("username", "omar", "password", password)).cookie()}
}

func (p phoneBrowser) open(id string) answer { return p.rm.do(get(web.ScanPath+id, p.cookie)) }

func (p phoneBrowser) answer(id, word string) answer {
	return p.rm.do(formTo(web.ScanPath+id, "answer", word, "cookie", p.cookie))
}

func TestConfirmationOnThePhoneSignsInTheOtherBrowser(t *testing.T) {
	rm := newFixture(t, nil)
	p := rm.phone()
	sc := rm.showCode(authorizeQuery)
	if got := sc.poll(); got != "pending" {
		t.Fatalf("at first it is %s", got)
	}
	a := p.open(sc.id)
	for _, want := range []string{
		"Sign in on another device?", "Someone at 192.0.2.1 with Firefox on Windows wants to sign in as you.",
		"<dd>Acme</dd>", "<dd>app.example.com</dd>", "<b>Mina Okafor</b>", "not this phone", `action="` + web.ScanPath + sc.id + `"`,
	} {
		if a.Code != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("the phone's page = %d, lacks %q", a.Code, want)
		}
	}
	if got := sc.poll(); got != "scanned" {
		t.Errorf("then it is %s, want scanned", got)
	}
	if a = p.answer(sc.id, "confirm"); a.Code != http.StatusSeeOther || a.Header().Get("Location") != web.ScanPath+sc.id {
		t.Fatalf("confirm = %d to %q", a.Code, a.Header().Get("Location"))
	}
	if a = p.open(sc.id); !strings.Contains(a.body, "You have confirmed") {
		t.Errorf("after the answer the phone shows %s", a.body)
	}
	if got := sc.poll(); got != "confirmed" {
		t.Errorf("then it is %s, want confirmed", got)
	}
	a = sc.collect()
	if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery ||
		a.cookie() == "" || a.cookie() == p.cookie {
		t.Fatalf("collect = %d to %q with cookie %q", a.Code, a.Header().Get("Location"), a.cookie())
	}
	v, err := rm.Visitor(get("/", a.cookie()))
	if err != nil || v.UserID != rm.mina.Sub || v.LoginType != storage.LoginSelf {
		t.Errorf("the screen is %+v, %v, want Mina's", v, err)
	}
	if _, err := rm.Visitor(get("/", p.cookie)); err != nil {
		t.Errorf("the phone is signed out: %v", err)
	}
	if a = p.open(sc.id); a.Code != http.StatusOK || !strings.Contains(a.body, "You have confirmed") {
		t.Errorf("a phone that is slower than the screen sees %d", a.Code)
	}
	if got := sc.poll(); got != "expired" {
		t.Errorf("collected, it is %s to the screen, want expired", got)
	}
}

func TestSessionSaysHowTheScannerHadSignedIn(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := handle.NewCookie()
	now := time.Now()
	_, err := rm.store.SaveSession(t.Context(), storage.Session{ID: handle.Hash(cookie), UserID: rm.mina.Sub,
		LoginType: "wx", ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)})
	must(t, err)
	p, sc := phoneBrowser{rm, cookie}, rm.showCode("")
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	v, err := rm.Visitor(get("/", sc.collect().cookie()))
	if err != nil || v.LoginType != "wx" {
		t.Errorf("the session is %+v, %v, want login type wx", v, err)
	}
}

func TestPhoneThatIsNotSignedInSignsInAndComesBack(t *testing.T) {
	rm := newFixture(t, nil)
	sc := rm.showCode(authorizeQuery)
	a := rm.do(get(web.ScanPath + sc.id))
	if a.Code != http.StatusOK || a.carried() != web.ScanPath+sc.id ||
		!strings.Contains(a.body, "Sign in on this phone first") || strings.Contains(a.body, "Scan with your phone") {
		t.Fatalf("a phone that is not signed in = %d carrying %q", a.Code, a.carried())
	}
	if got := sc.poll(); got != "pending" {
		t.Errorf("nobody has scanned, and it is %s", got)
	}
	wrong := rm.do(post("username", "mina", "password", "wrong password", "query", a.carried()))
	if wrong.Code != http.StatusUnauthorized || wrong.carried() != web.ScanPath+sc.id {
		t.Errorf("a wrong password = %d carrying %q", wrong.Code, wrong.carried())
	}
	a = rm.do(post("username", "mina", "password", password, "query", wrong.carried()))
	if a.Code != http.StatusSeeOther || a.Header().Get("Location") != web.ScanPath+sc.id {
		t.Fatalf("sign-in = %d to %q, want back to the scan", a.Code, a.Header().Get("Location"))
	}
	if a = rm.do(get(a.Header().Get("Location"), a.cookie())); a.Code != http.StatusOK || sc.poll() != "scanned" {
		t.Errorf("back = %d, and it is %s", a.Code, sc.poll())
	}
}

func TestScanIDAloneOpensNothing(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	for promise, browser := range map[string]string{"no cookie": "", "another browser's": rm.showCode("").browser,
		"one made up": handle.NewCookie(), "the scan id": sc.id} {
		thief := &codeBrowser{rm: rm, browser: browser, id: sc.id, query: authorizeQuery}
		if got := thief.poll(); got != "Not Found" {
			t.Errorf("%s: a poll says %s, want 404", promise, got)
		}
		if a := thief.collect(); a.Code != http.StatusBadRequest || a.cookie() != "" {
			t.Errorf("%s: collect = %d with cookie %q, want 400 without", promise, a.Code, a.cookie())
		}
	}
	planted := sc.collecting()
	planted.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: handle.NewCookie()})
	if a := rm.do(planted); a.Code != http.StatusBadRequest {
		t.Errorf("with two cookies collect = %d, want 400", a.Code)
	}
	if a := sc.collect(); a.Code != http.StatusSeeOther {
		t.Errorf("afterwards the browser itself collects %d, want 303", a.Code)
	}
}

func TestPollKeyIsInTheCookieAlone(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	var reply strings.Builder
	for _, a := range []answer{sc.shown, p.open(sc.id), p.answer(sc.id, "confirm"), p.open(sc.id), sc.collect()} {
		reply.WriteString(a.body + a.Header().Get("Location"))
	}
	for _, secret := range []string{sc.browser, handle.Hash(sc.browser), p.cookie} {
		if strings.Contains(reply.String()+rm.log.String(), secret) {
			t.Errorf("a page, an address or the log holds %q", secret)
		}
	}
	cookie := sc.shown.Header().Get("Set-Cookie")
	if want := "keystile_browser=" + sc.browser +
		"; Path=/oauth/signin; Max-Age=3600; HttpOnly; Secure; SameSite=Lax"; cookie != want {
		t.Errorf("Set-Cookie = %q, want %q", cookie, want)
	}
	if _, err := rm.store.Ticket(t.Context(), sc.id); err == nil {
		t.Error("the store knows the ticket by its scan id and not by a hash")
	}
}

func TestOf30AtOnceOneCollects(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.Lock.Failures = 100 }) // or most are throttled
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	var in, gone atomic.Int32
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			switch a := sc.collect(); {
			case a.Code == http.StatusSeeOther && a.cookie() != "":
				in.Add(1)
			case a.Code == http.StatusBadRequest && a.cookie() == "":
				gone.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 || gone.Load() != 29 {
		t.Errorf("%d were let in and %d not, want 1 and 29", in.Load(), gone.Load())
	}
	sessions, err := rm.store.Sessions(t.Context(), rm.mina.Sub)
	if err != nil || len(sessions) != 2 {
		t.Errorf("%d sessions, %v, want the phone's and one more", len(sessions), err)
	}
}

func TestConfirmerWhoMayNoLongerSignInIsRefused(t *testing.T) {
	for promise, meanwhile := range map[string]func(*fixture, phoneBrowser){
		"disabled": func(rm *fixture, _ phoneBrowser) {
			u, err := rm.store.User(context.Background(), rm.mina.Sub)
			must(rm.t, err)
			u.Disabled = true
			_, err = rm.store.SaveUser(context.Background(), u)
			must(rm.t, err)
		},
		"signed out": func(rm *fixture, p phoneBrowser) {
			must(rm.t, rm.SignOut(httptest.NewRecorder(), get("/", p.cookie)))
		},
		"signed in anew": func(rm *fixture, p phoneBrowser) { rm.enterMina("cookie", p.cookie) },
		"the session run out": func(rm *fixture, p phoneBrowser) {
			v, err := rm.store.Session(context.Background(), handle.Hash(p.cookie))
			must(rm.t, err)
			v.EndsAt = time.Now()
			_, err = rm.store.SaveSession(context.Background(), v)
			must(rm.t, err)
		},
	} {
		rm := newFixture(t, nil)
		p, sc := rm.phone(), rm.showCode(authorizeQuery)
		p.open(sc.id)
		p.answer(sc.id, "confirm")
		meanwhile(rm, p)
		a := sc.collect()
		if a.Code != http.StatusForbidden || a.cookie() != "" || !strings.Contains(a.body, "Get a new code") {
			t.Errorf("%s: collect = %d with cookie %q, want 403 and a way on", promise, a.Code, a.cookie())
		}
	}
}

func TestCollectThatFailsShowsHowItStands(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	for _, scanned := range []bool{false, true} {
		if scanned {
			p.open(sc.id)
		}
		a := sc.collect()
		again := hiddenID.FindStringSubmatch(a.body)
		if a.Code != http.StatusBadRequest || again == nil || again[1] != sc.id ||
			!strings.Contains(a.body, "You have not confirmed on your phone yet") || a.named(web.BrowserCookie) != "" {
			t.Errorf("scanned %v: collect = %d, want 400 and the same code", scanned, a.Code)
		}
	}
	p.answer(sc.id, "reject")
	if got := sc.poll(); got != "rejected" {
		t.Errorf("it is %s, want rejected", got)
	}
	a := sc.collect()
	if a.Code != http.StatusForbidden || !strings.Contains(a.body, "rejected on the phone") ||
		strings.Contains(a.body, "<svg class=\"qr\"") || a.cookie() != "" {
		t.Errorf("rejected: collect = %d, want 403 without a code", a.Code)
	}
	if want := `href="/oauth/signin/qr?` + (url.Values{"query": {authorizeQuery}}).Encode() + `"`; !strings.Contains(a.body, want) {
		t.Errorf("the page lacks %q", want)
	}
	if a := p.open(sc.id); !strings.Contains(a.body, "You have rejected it") {
		t.Errorf("the phone shows %d", a.Code)
	}
}

// Decision 19: every attempt.
func TestLockedAddressCollectsNothing(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.Lock.Failures = 1 })
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	p.answer(sc.id, "confirm")
	rm.do(post("username", "mina", "password", "wrong password"))
	a := sc.collect()
	if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || a.cookie() != "" ||
		!strings.Contains(a.body, "/oauth/authorize?client_id=ksacme") {
		t.Errorf("collect while locked = %d, want 429 and the way back", a.Code)
	}
	far := sc.collecting()
	far.RemoteAddr = "198.51.100.7:1"
	if a := rm.do(far); a.Code != http.StatusSeeOther {
		t.Errorf("from another address = %d, want 303: the code is not used up", a.Code)
	}
}

func TestCollectingIsNotAFailure(t *testing.T) {
	rm := newFixture(t, nil)
	sc := rm.showCode(authorizeQuery)
	for range 30 {
		if a := sc.collect(); a.Code != http.StatusBadRequest {
			t.Fatalf("collect = %d, want 400", a.Code)
		}
	}
	rm.enterMina()
}

func TestFormOfAnotherSiteNeitherConfirmsNorCollects(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	p.open(sc.id)
	foreign := func(r *http.Request) answer {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		return rm.do(r)
	}
	if a := foreign(formTo(web.ScanPath+sc.id, "answer", "confirm", "cookie", p.cookie)); a.Code != http.StatusForbidden ||
		sc.poll() != "scanned" {
		t.Errorf("confirm = %d, and it is %s", a.Code, sc.poll())
	}
	p.answer(sc.id, "confirm")
	if a := foreign(sc.collecting()); a.Code != http.StatusForbidden || a.cookie() != "" {
		t.Errorf("collect = %d with cookie %q", a.Code, a.cookie())
	}
	if a := sc.collect(); a.Code != http.StatusSeeOther {
		t.Errorf("our own form afterwards = %d, want 303", a.Code)
	}
}
