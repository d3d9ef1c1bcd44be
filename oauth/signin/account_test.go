package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// accountFixture is a fixture with all of the account page, and a Revoker that keeps the revocations.
type accountFixture struct {
	*fixture
	revoked []driver.Revocation
	err     error
}

func (d *accountFixture) Revoke(_ context.Context, rs ...driver.Revocation) error {
	if d.err == nil {
		d.revoked = append(d.revoked, rs...)
	}
	return d.err
}

func newAccountFixture(t *testing.T, edits ...func(*Config)) *accountFixture {
	t.Helper()
	d := &accountFixture{}
	d.fixture = newFixture(t, func(c *Config) {
		c.Revoker = d
		for _, edit := range edits {
			edit(c)
		}
	})
	return d
}

func (d *accountFixture) page(cookie string) string {
	d.t.Helper()
	a := d.do(get(web.AccountPath, cookie))
	if a.Code != 200 {
		d.t.Fatalf("GET %s = %d %s", web.AccountPath, a.Code, a.body)
	}
	return a.body
}

// ada makes and signs in a second user.
func (d *accountFixture) ada() (storage.User, string) {
	d.t.Helper()
	ada, err := users.New(d.store, cheap(d.hashes)).Create(context.Background(), storage.User{Username: "ada"}, password)
	must(d.t, err)
	return ada, d.fixture.do(post("username", "ada", "password", password)).cookie()
}

func (d *accountFixture) consent(sub string) {
	d.t.Helper()
	c, err := d.store.Consent(context.Background(), "ksacme", sub)
	if errors.Is(err, storage.ErrNotFound) {
		c = storage.Consent{AppID: "ksacme", UserID: sub}
	}
	_, err = d.store.SaveConsent(context.Background(), c.With("openid email"))
	must(d.t, err)
	_, err = d.store.EnsureOpenID(context.Background(), "ksacme", sub)
	must(d.t, err)
}

func (d *accountFixture) link(sub string, logins ...storage.Login) {
	d.t.Helper()
	must(d.t, d.store.LinkLogins(context.Background(), sub, logins...))
}

func (d *accountFixture) loginMethods(sub string) string {
	d.t.Helper()
	all, err := d.store.Logins(context.Background(), sub)
	must(d.t, err)
	var names []string
	for _, l := range all {
		names = append(names, l.Method)
	}
	return strings.Join(names, " ")
}

func TestAccountPageRequiresASignIn(t *testing.T) {
	d := newAccountFixture(t)
	a := d.do(get(web.AccountPath))
	if a.Code != 200 || a.carried() != web.AccountPath {
		t.Fatalf("GET = %d carrying %q, want the sign-in form", a.Code, a.carried())
	}
	in := d.fixture.do(post("username", "mina", "password", password, "query", a.carried()))
	if in.Code != 303 || in.Header().Get("Location") != web.AccountPath {
		t.Errorf("sign-in = %d to %q, want the account page", in.Code, in.Header().Get("Location"))
	}
	if who := d.fixture.do(get(web.FormPath, in.cookie())); !strings.Contains(who.body, `href="/oauth/account"`) {
		t.Error("the page of who is signed in does not lead to the account page")
	}
}

func TestAccountPageShowsWhatThereIs(t *testing.T) {
	d := newAccountFixture(t)
	r := post("username", "mina", "password", password)
	r.Header.Set("User-Agent", `Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0 "><script>alert(1)</script>`)
	d.fixture.do(r)
	d.consent(d.mina.Sub)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginEmail, Subject: "mina@example.com"},
		storage.Login{Method: storage.LoginWX, Subject: "u:abcdefgh"},
		storage.Login{Method: storage.LoginWX, Subject: "o:12345678"})
	d.account.Linkable = []web.Link{{Path: "/oauth/signin/qq/link", Label: "QQ", Post: true},
		{Path: "/oauth/signin/address", Label: "By link"}}
	a := d.do(get(web.AccountPath, d.enterMina()))
	for _, want := range []string{
		"Firefox on Windows", "an unknown browser", "This one", "192.0.2.1", "Sign out everywhere",
		"<b>Acme</b>", "See your email address", "Connected <time ",
		"m•••@example.com", "•••5678, •••efgh", "WeChat", "Username and password", `action="/oauth/signin/qq/link"`, `href="/oauth/signin/address"`, "Link another way to sign in",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script>", "alert(1)", "mina@", "abcdefgh", `name="method" value="self"`} {
		if strings.Contains(a.body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if p := a.policy(); !strings.Contains(p, "frame-ancestors 'none'") || a.Header().Get("X-Frame-Options") != "DENY" ||
		a.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("policy %q, headers %v", p, a.Header())
	}
	zh := get(web.AccountPath+"?ui_locales=zh-CN", d.enterMina())
	if body := d.do(zh).body; !strings.Contains(body, "您的账户") || !strings.Contains(body, "Firefox（Windows）") {
		t.Error("it does not speak Chinese")
	}
}

func TestSessionEndedAloneLeavesTheOthers(t *testing.T) {
	d := newAccountFixture(t)
	here, there := d.enterMina(), d.enterMina()
	a := d.do(sends(account.SessionPath, "cookie", here, "session", handle.Hash(there)))
	if a.Code != 303 || a.Header().Get("Location") != web.AccountPath || d.visits(here) != nil || d.visits(there) == nil {
		t.Errorf("ending another = %d to %q; here %v, there %v", a.Code, a.Header().Get("Location"), d.visits(here),
			d.visits(there))
	}
	a = d.do(sends(account.SessionPath, "cookie", here, "session", handle.Hash(here)))
	if a.Code != 303 || d.visits(here) == nil || a.Header().Get("Set-Cookie") == "" {
		t.Errorf("ending this one = %d, %v, cookie %q", a.Code, d.visits(here), a.Header().Get("Set-Cookie"))
	}
}

func TestAccountHidesWhatBelongsToOthers(t *testing.T) {
	d := newAccountFixture(t)
	ada, theirs := d.ada()
	d.consent(ada.Sub)
	d.link(ada.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
	mine := d.enterMina()
	for path, form := range map[string][]string{
		account.SessionPath: {"session", handle.Hash(theirs)},
		account.AccessPath:  {"app", "ksacme", "user", ada.Sub},
		account.LoginPath:   {"method", storage.LoginWX, "user", ada.Sub, "subject", "1"},
	} {
		for _, more := range [][]string{form, {form[0], ""}, {form[0], "nobody\x00"}, {}} {
			if a := d.do(sends(path, append([]string{"cookie", mine}, more...)...)); a.Code != 303 ||
				a.Header().Get("Location") != web.AccountPath {
				t.Errorf("%s %q = %d to %q, want nothing done", path, more, a.Code, a.Header().Get("Location"))
			}
		}
	}
	_, ok, err := d.Allowed(t.Context(), storage.App{ID: "ksacme"}, ada.Sub, "openid")
	if d.visits(theirs) != nil || !ok || err != nil || d.loginMethods(ada.Sub) != "self wx" || d.revoked != nil {
		t.Errorf("session %v, consent %v, logins %q, revoked %v", d.visits(theirs), ok, d.loginMethods(ada.Sub), d.revoked)
	}
}

func TestFormOfAnotherSiteDoesNotChangeTheAccount(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	d.consent(d.mina.Sub)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
	for path, form := range map[string][]string{
		account.SessionPath: {"session", handle.Hash(here)}, account.EverywherePath: {"x", "y"},
		account.AccessPath: {"app", "ksacme"}, account.LoginPath: {"method", storage.LoginWX},
	} {
		cross := sends(path, append([]string{"cookie", here}, form...)...)
		cross.Header.Set("Sec-Fetch-Site", "cross-site")
		old := sends(path, append([]string{"cookie", here}, form...)...)
		old.Header.Del("Sec-Fetch-Site")
		old.Header.Set("Origin", "https://evil.example")
		for _, r := range []*http.Request{cross, old} {
			if a := d.do(r); a.Code != 403 {
				t.Errorf("%s = %d, want 403", path, a.Code)
			}
		}
		if a := d.do(get(path+"?"+form[0]+"="+form[1], here)); a.Code != 405 {
			t.Errorf("GET %s = %d, want 405", path, a.Code)
		}
		if a := d.do(sends(path, form...)); a.Code != 303 || a.Header().Get("Location") != web.AccountPath {
			t.Errorf("%s without a session = %d to %q, want to be asked to sign in", path, a.Code, a.Header().Get("Location"))
		}
	}
	if d.visits(here) != nil || d.revoked != nil || d.loginMethods(d.mina.Sub) != "self wx" {
		t.Error("something has changed")
	}
}

func TestSigningOutEverywhereEndsSessionsAndGrants(t *testing.T) {
	d := newAccountFixture(t)
	_, theirs := d.ada()
	here, there := d.enterMina(), d.enterMina()
	a := d.do(sends(account.EverywherePath, "cookie", here))
	if a.Code != 303 || a.Header().Get("Location") != web.FormPath || d.visits(here) == nil || d.visits(there) == nil ||
		d.visits(theirs) != nil {
		t.Errorf("%d to %q; here %v, there %v, somebody else %v", a.Code, a.Header().Get("Location"), d.visits(here),
			d.visits(there), d.visits(theirs))
	}
	if len(d.revoked) != 1 || d.revoked[0].Kind != driver.RevokeUser || d.revoked[0].ID != d.mina.Sub ||
		!d.revoked[0].Before.IsZero() {
		t.Errorf("revoked %+v", d.revoked)
	}
	d.err = storage.ErrUnavailable
	if a := d.do(sends(account.EverywherePath, "cookie", d.enterMina())); a.Code != 503 ||
		!strings.Contains(a.body, "sign out everywhere once more") {
		t.Errorf("with the revoker away = %d %s", a.Code, a.body)
	}
}

func TestAccessThatIsRemovedIsGone(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	d.consent(d.mina.Sub)
	d.err = storage.ErrUnavailable
	if a := d.do(sends(account.AccessPath, "cookie", here, "app", "ksacme")); a.Code != 503 ||
		!strings.Contains(d.page(here), "Acme") {
		t.Fatalf("with the revoker away = %d; it must stay on the page to be tried again", a.Code)
	}
	d.err = nil
	a := d.do(sends(account.AccessPath, "cookie", here, "app", "ksacme"))
	if a.Code != 303 || a.Header().Get("Location") != web.AccountPath || strings.Contains(d.page(here), "Acme") {
		t.Errorf("remove = %d to %q", a.Code, a.Header().Get("Location"))
	}
	if _, ok, err := d.Allowed(t.Context(), storage.App{ID: "ksacme"}, d.mina.Sub, ""); ok || err != nil {
		t.Errorf("Allowed() = %v, %v", ok, err)
	}
	if len(d.revoked) != 1 || d.revoked[0].Kind != driver.RevokeConsent ||
		d.revoked[0].ID != driver.ConsentID("ksacme", d.mina.Sub) || !d.revoked[0].Before.IsZero() {
		t.Errorf("revoked %+v", d.revoked)
	}
	if d.do(sends(account.AccessPath, "cookie", here, "app", "ksacme")); len(d.revoked) != 1 {
		t.Error("what is gone was revoked again")
	}
	d.consent(d.mina.Sub)
	if !strings.Contains(d.page(here), "Acme") {
		t.Error("who consents again is not shown")
	}
}

func TestAccountPageOfAStoreThatIsAwayIsAPage(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	d.store.session = errDown
	for _, r := range []*http.Request{get(web.AccountPath, here), get(web.ConfirmPath, here),
		sends(account.EverywherePath, "cookie", here), sends(consent.Path, "cookie", here, "query", authorizeQuery, "allow",
			"1")} {
		h := http.Handler(d)
		if r.URL.Path == consent.Path {
			h = d.SignIn
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 503 || !strings.Contains(w.Body.String(), "<h1") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s = %d %s", r.URL.Path, w.Code, w.Body)
		}
	}
	if errors.Is(d.visits(here), storage.ErrNotFound) {
		t.Error("taken for nobody")
	}
}

// fakeAudit is an Audit that keeps the events.
type fakeAudit struct {
	notes []string
	err   error
}

func (l *fakeAudit) Note(e event.Event) { l.notes = append(l.notes, e.Kind+" "+e.App+" "+e.Detail) }

func (l *fakeAudit) NoteNow(_ context.Context, e event.Event) error {
	if l.err == nil {
		l.Note(e)
	}
	return l.err
}

func TestAccountChangesAreAudited(t *testing.T) {
	d, written := newAccountFixture(t), &fakeAudit{}
	d.steps.Trail = trail.New(written, d.steps.Peer)
	here, there := d.enterMina(), d.enterMina()
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
	d.fixture.consents(here, "deny", "1")
	d.fixture.consents(here, "allow", "1")
	d.do(sends(account.SessionPath, "cookie", here, "session", handle.Hash(there)))
	d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX))
	written.err = errDown
	if a := d.do(sends(account.AccessPath, "cookie", here, "app", "ksacme")); a.Code != 503 ||
		!strings.Contains(a.body, "could not be written down") {
		t.Errorf("with the trail away = %d %s", a.Code, a.body)
	}
	written.err = nil
	d.consent(d.mina.Sub)
	d.do(sends(account.AccessPath, "cookie", here, "app", "ksacme"))
	d.do(sends(account.EverywherePath, "cookie", here))
	want := []string{
		"signin  ", "signin  ", "consent ksacme denied", "consent ksacme allowed openid profile", "account  session ended",
		"account  unlinked wx: self wx -> self",
		"revocation ksacme access removed", "revocation  signed out everywhere",
	}
	if !slices.Equal(written.notes, want) {
		t.Errorf("told %q, want %q", written.notes, want)
	}
}
