package signin

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// aged gives a session of Mina's an age.
func (rm *fixture) aged(cookie string, age time.Duration) {
	rm.t.Helper()
	v, err := rm.store.Store.Session(rm.t.Context(), handle.Hash(cookie))
	must(rm.t, err)
	v.AuthTime = time.Now().Add(-age)
	_, err = rm.store.Store.SaveSession(rm.t.Context(), v)
	must(rm.t, err)
}

// A session whose time is in the future was begun by a clock that was wrong, or made up: it
// would stay recent for as long.
func TestOldOrFutureSignInChangesNoMethod(t *testing.T) {
	for _, age := range []time.Duration{stepup.MaxAge + time.Second, -time.Hour} {
		d := newAccountFixture(t)
		d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
		here := d.enterMina()
		d.aged(here, age)
		v, err := d.Visitor(get("/", here))
		if must(t, err); recent(d, v) {
			t.Errorf("%v: Recent() = true", age)
		}
		if a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX)); !strings.Contains(a.body,
			"What you typed is kept") || d.loginMethods(d.mina.Sub) != "self wx" {
			t.Errorf("%v: unlinking = %d to %q, left %q", age, a.Code, a.Header().Get("Location"), d.loginMethods(d.mina.Sub))
		}
		h := newProviderFixture(t, nil)
		mina := h.enterMina()
		h.aged(mina, age)
		if a := h.do(formTo(web.WithPath+"wx/link", "cookie", mina)); !strings.Contains(a.body, "What you typed is kept") ||
			!strings.Contains(h.do(get(web.ConfirmPath, mina)).body, "Sign in once more") {
			t.Errorf("%v: linking = %d to %q, want to be asked to sign in", age, a.Code, a.Header().Get("Location"))
		}
		f := newFullFixture(t, "")
		mina = f.enterMina()
		f.aged(mina, age)
		if a := f.do(get(otp.LinkFlow.Path, mina)); !strings.Contains(a.body, "Sign in once more") {
			t.Errorf("%v: changing the address shows %s", age, a.body)
		}
		if a := f.do(formTo(otp.LinkFlow.Path, "cookie", mina, "address", "new@example.org")); !strings.Contains(a.body,
			"What you typed is kept") || len(f.mails()) != 0 {
			t.Errorf("%v: changing the address = %d, %d mails", age, a.Code, len(f.mails()))
		}
	}
}

// The current password is a sign-in of this moment, so no other is asked for.
func TestCurrentPasswordIsAFreshSignInForChangingIt(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		time.Sleep(24 * time.Hour)
		if a := b.post(newpassword.Path, "current", password, "password", better); a.Code != 303 ||
			a.Header().Get("Location") != newpassword.ChangedPath {
			t.Fatalf("changing after a day = %d", a.Code)
		}
		if v := h.signedIn(b); !recent(h, v) {
			t.Errorf("afterwards the sign-in is of %v", v.AuthTime)
		}
	})
}

// A browser that somebody has left open must not make a fresh sign-in of an old one.
func TestScanIsNoFresherThanTheSignInOfThePhone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		p := rm.phone()
		signedIn := time.Now()
		time.Sleep(2 * time.Hour)
		sc := rm.showCode(authorizeQuery + "&prompt=login&max_age=0")
		p.open(sc.id)
		p.answer(sc.id, "confirm")
		a := sc.collect()
		v, err := rm.Visitor(get("/", a.cookie()))
		if err != nil || !v.AuthTime.Equal(signedIn) || recent(rm, v) {
			t.Errorf("the session is of %v, %v, want of %v", v.AuthTime, err, signedIn)
		}
		if to := a.Header().Get("Location"); to != web.AuthorizePath+"?"+authorizeQuery+"&prompt=login&max_age=0" {
			t.Errorf("collect leads to %q: an old sign-in does not meet prompt=login", to)
		}
		p = rm.phone()
		sc = rm.showCode(authorizeQuery + "&prompt=login&max_age=0")
		p.open(sc.id)
		p.answer(sc.id, "confirm")
		if to := sc.collect().Header().Get("Location"); to != web.AuthorizePath+"?"+authorizeQuery {
			t.Errorf("with a fresh phone collect leads to %q", to)
		}
	})
}

func TestChangesOfMethodsAreAuditedWithBeforeAndAfter(t *testing.T) {
	written := &fakeAudit{}
	h := newProviderFixture(t, func(c *Config) { c.Audit = written })
	d := &accountFixture{fixture: h.fixture}
	mina := h.enterMina()
	j := h.visit("wx", h.do(formTo(web.WithPath+"wx/link", "cookie", mina)))
	j.session = mina
	j.open(j.choose("mei"))
	d.do(sends(account.LoginPath, "cookie", mina, "method", storage.LoginWX))
	for _, want := range []string{"account  linked wx: self -> self wx", "account  unlinked wx: self wx -> self"} {
		if !slices.Contains(written.notes, want) {
			t.Errorf("told %q, want %q", written.notes, want)
		}
	}
	written.err = errDown
	j = h.visit("qq", h.do(formTo(web.WithPath+"qq/link", "cookie", mina)))
	j.session = mina
	if a := j.open(j.choose("mei")); a.Code != 503 || !strings.Contains(a.body, "could not be written down") {
		t.Errorf("with the trail away linking = %d", a.Code)
	}
}

func TestPasswordsAndAddressesAreAuditedAsHashes(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		written := &fakeAudit{}
		h.steps.Trail = trail.New(written, h.steps.Peer)
		h.confirmed(t)
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		b.requestCode(t, otp.LinkFlow, "new@example.org")
		if a := b.post(otp.LinkFlow.CodePath(), "code", h.code()); a.Code != 303 {
			t.Fatalf("confirming = %d", a.Code)
		}
		if a := b.post(newpassword.Path, "current", password, "password", better); a.Code != 303 {
			t.Fatalf("changing = %d", a.Code)
		}
		all := strings.Join(written.notes, "\n")
		for _, secret := range []string{password, better, minas, "new@example.org", "argon2"} {
			if strings.Contains(all, secret) {
				t.Errorf("the trail holds %q: %s", secret, all)
			}
		}
		for _, want := range []string{
			"account  email address: sha256:" + trail.DigestOf(minas) + " -> sha256:" + trail.DigestOf("new@example.org"),
			"account  password: sha256:",
		} {
			if !strings.Contains(all, want) {
				t.Errorf("told %q, want %q", all, want)
			}
		}
		i := slices.IndexFunc(written.notes, func(e string) bool { return strings.HasPrefix(e, "account  password") })
		before, after, ok := strings.Cut(strings.TrimPrefix(written.notes[i], "account  password: "), " -> ")
		if !ok || before == after || len(before) != len("sha256:")+16 || len(after) != len(before) {
			t.Errorf("told %q, want two hashes", written.notes[i])
		}
		written.err = errDown
		if a := b.post(newpassword.Path, "current", better, "password", "another staple"); a.Code != 503 {
			t.Errorf("with the trail away changing = %d", a.Code)
		}
		if _, err := h.users.Authenticate(t.Context(), "mina", "another staple"); err != nil {
			t.Errorf("it is not done: %v", err)
		}
	})
}

// recent is Fresh, and false where that is not known.
func recent(s interface {
	Fresh(ctx context.Context, v storage.Session) (bool, error)
}, v storage.Session) bool {
	fresh, err := s.Fresh(context.Background(), v)
	return err == nil && fresh
}
