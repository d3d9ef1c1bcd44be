package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// sentMail holds the arguments of a Mailer's Send.
type sentMail struct{ to, subject, text string }

// fakeMailer is a Mailer that keeps the emails, once the test lets it.
type fakeMailer struct {
	mu      sync.Mutex
	sent    []sentMail
	blocked chan struct{} // nil: open
	err     error
}

func (p *fakeMailer) Send(ctx context.Context, to, subject, text string) error {
	if p.blocked != nil {
		select {
		case <-p.blocked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, sentMail{to, subject, text})
	return p.err
}

// revoker keeps the revocations.
type revoker struct {
	revoked []driver.Revocation
	err     error
}

func (r *revoker) Revoke(_ context.Context, rs ...driver.Revocation) error {
	r.revoked = append(r.revoked, rs...)
	return r.err
}

// fullFixture is a fixture with all features, in which Mina has confirmed her address.
type fullFixture struct {
	*fixture
	post  *fakeMailer
	ended *revoker
}

const minas = "mina@example.com"

func newFullFixture(t *testing.T, signUp string) *fullFixture {
	t.Helper()
	f := &fullFixture{post: &fakeMailer{}, ended: &revoker{}}
	f.fixture = newFixture(t, func(c *Config) { c.Mailer, c.Revoker, c.SignUp = f.post, f.ended, signUp })
	must(t, f.store.LinkLogins(context.Background(), f.mina.Sub,
		storage.Login{Method: storage.LoginEmail, Subject: minas}))
	return f
}

// mails waits until everything is sent, and returns it.
func (h *fullFixture) mails() []sentMail {
	must(h.t, h.outbox.Drain(context.Background()))
	h.post.mu.Lock()
	defer h.post.mu.Unlock()
	return slices.Clone(h.post.sent)
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// code is that of the last mail.
func (h *fullFixture) code() string {
	h.t.Helper()
	all := h.mails()
	if len(all) == 0 {
		h.t.Fatal("no mail was sent")
	}
	return sixDigits.FindString(all[len(all)-1].text)
}

// testBrowser is a browser: it keeps cookies and follows nothing.
type testBrowser struct {
	h       http.Handler
	cookies map[string]string
	from    string
	last    answer
}

func (h *fullFixture) browser() *testBrowser {
	return &testBrowser{h: h, cookies: map[string]string{}, from: "192.0.2.1"}
}

func (b *testBrowser) send(r *http.Request) answer {
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.RemoteAddr = b.from + ":4711"
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	b.last = answer{w, w.Body.String()}
	return b.last
}

func (b *testBrowser) get(path string) answer { return b.send(get(path)) }

func (b *testBrowser) post(path string, pairs ...string) answer {
	r := post(pairs...)
	r.URL.Path = path
	return b.send(r)
}

// requestCode sends an address and fails the test unless the page for the code follows.
func (b *testBrowser) requestCode(t *testing.T, e *otp.Flow, address string, pairs ...string) {
	t.Helper()
	a := b.post(e.Path, append([]string{"address", address}, pairs...)...)
	if a.Code != 303 || a.Header().Get("Location") != e.CodePath() {
		t.Fatalf("asking for a code = %d to %q %s", a.Code, a.Header().Get("Location"), a.body)
	}
	if a := b.get(e.CodePath()); a.Code != 200 || !strings.Contains(a.body, `autocomplete="one-time-code"`) {
		t.Fatalf("the page for the code = %d %s", a.Code, a.body)
	}
}

// other is a code that is not this one.
func other(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

func (b *testBrowser) wants(t *testing.T, promise string, a answer, status int, text string) {
	t.Helper()
	if a.Code != status || !strings.Contains(a.body, text) {
		t.Errorf("%s: %d, want %d and %q in %s", promise, a.Code, status, text, a.body)
	}
}

// signedIn is the session of a browser, or nobody's.
func (h *fullFixture) signedIn(b *testBrowser) storage.Session {
	h.t.Helper()
	if b.cookies[session.CookieName] == "" {
		return storage.Session{}
	}
	v, err := h.store.Session(context.Background(), handle.Hash(b.cookies[session.CookieName]))
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		h.t.Fatal(err)
	}
	return v
}

// Missing parts are not offered, and nothing answers there.
func TestSignInOffersOnlyWhatIsConfigured(t *testing.T) {
	all := map[string]string{
		otp.SignInFlow.Path: "mail", otp.ResetFlow.Path: "mail+revoker", otp.LinkFlow.Path: "mail",
		newpassword.Path: "revoker", signup.Path: "signup",
	}
	for parts, change := range map[string]func(*Config){
		"":             nil,
		"mail":         func(c *Config) { c.Mailer = &fakeMailer{} },
		"revoker":      func(c *Config) { c.Revoker = &revoker{} },
		"mail+revoker": func(c *Config) { c.Mailer, c.Revoker = &fakeMailer{}, &revoker{} },
		"signup":       func(c *Config) { c.SignUp = SignUpOpen },
		"a host's own users with all of it": func(c *Config) {
			c.Mailer, c.Revoker, c.SignUp, c.Users = &fakeMailer{}, &revoker{}, SignUpOpen, hostOf(&blockingUsers{})
		},
	} {
		rm := newFixture(t, change)
		form := rm.do(get(web.FormPath)).body
		for path, needs := range all {
			has := !strings.Contains(parts, "host") && !slices.ContainsFunc(strings.Split(needs, "+"),
				func(n string) bool { return !strings.Contains(parts, n) })
			a := rm.do(get(path))
			if (a.Code != http.StatusNotFound) != has {
				t.Errorf("with %q, %s = %d", parts, path, a.Code)
			}
			if linked := strings.Contains(form, `href="`+path+`"`); linked != (has && path != otp.LinkFlow.Path && path != newpassword.Path) {
				t.Errorf("with %q, the page has a link to %s: %t", parts, path, linked)
			}
		}
	}
}

func TestAccountPageShowsWhatASignedInUserCanChange(t *testing.T) {
	h := newFullFixture(t, "")
	for _, path := range []string{otp.LinkFlow.Path, newpassword.Path} {
		if a := h.do(get(web.AccountPath, h.enterMina())); !strings.Contains(a.body, `="`+path+`"`) {
			t.Errorf("the account page has no link to %s", path)
		}
		b := h.browser()
		if a := b.get(path); a.Code != 303 || a.Header().Get("Location") != web.FormPath {
			t.Errorf("%s for nobody = %d", path, a.Code)
		}
		if a := b.post(path, "address", minas, "current", password, "password", "another horse"); a.Code != 303 ||
			a.Header().Get("Location") != web.FormPath {
			t.Errorf("POST %s by nobody = %d", path, a.Code)
		}
	}
	if n := len(h.mails()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
}

func TestFormPostsToOurOwnOrigin(t *testing.T) {
	h := newFullFixture(t, SignUpOpen)
	cookie := h.enterMina()
	for _, path := range []string{otp.SignInFlow.Path, otp.SignInFlow.CodePath(), otp.ResetFlow.Path,
		otp.ResetFlow.CodePath(), otp.LinkFlow.Path, otp.LinkFlow.CodePath(), newpassword.Path, signup.Path} {
		r := post("address", minas, "code", "000000", "username", "eve", "password", "another horse", "current", password,
			"cookie", cookie)
		r.URL.Path = path
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if a := h.do(r); a.Code != http.StatusForbidden {
			t.Errorf("POST %s from elsewhere = %d, want 403", path, a.Code)
		}
		for _, pairs := range [][]string{{"address", "a", "address", "b", "code", "1", "code", "2", "password", "a",
			"password", "b"}} {
			r := post(append(pairs, "cookie", cookie)...)
			r.URL.Path = path
			if a := h.do(r); a.Code != http.StatusBadRequest {
				t.Errorf("POST %s with a field twice = %d, want 400", path, a.Code)
			}
		}
	}
	if n := len(h.mails()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
}

// Every text of a page or an email of this package is there in Chinese too.
func TestFlowOfACodeSpeaksChinese(t *testing.T) {
	h := newFullFixture(t, "")
	for _, e := range h.codes.Flows() {
		for _, text := range []string{e.Title, e.Lead, e.CodeTitle, e.Button, e.Subject} {
			if got := string(page.Chinese.Of(text)); got != "zh-CN" {
				t.Errorf("%s: %q is not in the table", e.Kind, text)
			}
		}
	}
	for _, w := range slices.Concat(h.steps.Pages.SignInLinks, h.steps.Pages.HelpLinks, h.account.Changes) {
		if page.Chinese.Of(w.Label) != page.Chinese {
			t.Errorf("%q is not in the table", w.Label)
		}
	}
	b := h.browser()
	b.post(otp.SignInFlow.Path, "address", minas, "query", "ui_locales=zh-CN")
	h.code()
	m := h.mails()[0]
	if m.subject != "您的登录验证码" || !strings.Contains(m.text, "您的验证码是 ") || !strings.Contains(m.text, "id.example.com") || regexp.MustCompile(`[a-z]{3,} [a-z]{3,}`).MatchString(m.text) {
		t.Errorf("the mail is %+v", m)
	}
}
