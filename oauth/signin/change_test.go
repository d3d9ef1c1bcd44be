package signin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const better = "battery staple"

// confirmed lets Mina have an address that applications are told.
func (h *fullFixture) confirmed(t *testing.T) {
	t.Helper()
	must(t, h.users.Users.(*users.StoreUsers).LinkEmail(t.Context(), h.mina.Sub, minas))
}

// wantsPassword tries which of the two passwords is Mina's.
func (h *fullFixture) wantsPassword(t *testing.T, want string) {
	t.Helper()
	for _, p := range []string{password, better} {
		_, err := h.users.Authenticate(t.Context(), "mina", p)
		if (err == nil) != (p == want) {
			t.Errorf("with %q: %v, want the password to be %q", p, err, want)
		}
	}
}

func (h *fullFixture) wantsRevoked(t *testing.T, n int) {
	t.Helper()
	if len(h.ended.revoked) != n {
		t.Fatalf("revoked %+v, want %d times", h.ended.revoked, n)
	}
	for _, r := range h.ended.revoked {
		if r.Kind != driver.RevokeUser || r.ID != h.mina.Sub || !r.Before.IsZero() {
			t.Errorf("revoked %+v, want everything of Mina's until now", r)
		}
	}
}

func TestPasswordIsChangedWithTheCurrentOne(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		elsewhere, b := h.enterMina(), h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		old := b.cookies[session.CookieName]
		b.wants(t, "the page", b.get(newpassword.Path), 200, `name="current" type="password" autocomplete="current-password"`)
		a := b.post(newpassword.Path, "current", password, "password", better)
		if a.Code != 303 || a.Header().Get("Location") != newpassword.ChangedPath {
			t.Fatalf("changing = %d %s", a.Code, a.body)
		}
		b.wants(t, "what follows", b.get(newpassword.ChangedPath), 200, "Your password is changed")
		h.wantsPassword(t, better)
		h.wantsRevoked(t, 1)
		for _, cookie := range []string{elsewhere, old} {
			if _, err := h.store.Session(t.Context(), handle.Hash(cookie)); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("an old session is there still: %v", err)
			}
		}
		if v := h.signedIn(b); v.UserID != h.mina.Sub || v.LoginType != storage.LoginSelf ||
			b.cookies[session.CookieName] == old {
			t.Errorf("here the session is %+v", v)
		}
		if all := h.mails(); len(all) != 1 || all[0].to != minas || !strings.Contains(all[0].text, "id.example.com") {
			t.Errorf("the mails are %+v, want that Mina is told", all)
		}
		for _, secret := range []string{password, better} {
			if strings.Contains(h.log.String(), secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
	})
}

func TestPasswordIsNotChangedWithAWrongCurrentOne(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		b.wants(t, "a weak one", b.post(newpassword.Path, "current", password, "password", "short"), 400, "too short")
		b.wants(t, "a common one", b.post(newpassword.Path, "current", password, "password", "PassWord1"), 400,
			"among the first that are guessed")
		b.wants(t, "without the current one", b.post(newpassword.Path, "password", better), 400,
			"Type in your current password.")
		for range 10 {
			b.wants(t, "a wrong one", b.post(newpassword.Path, "current", "wrong password", "password", better), 401,
				"The current password is not right")
		}
		b.wants(t, "the right one after ten wrong", b.post(newpassword.Path, "current", password, "password", better), 429,
			"Wait 15 minutes")
		h.wantsPassword(t, password)
		h.wantsRevoked(t, 0)
		if h.signedIn(b).UserID != h.mina.Sub {
			t.Error("the session has ended")
		}
	})
}

func TestUserWithoutAPasswordCannotChangeIt(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, "new@example.com")
		b.post(otp.SignInFlow.CodePath(), "code", h.code())
		b.wants(t, "the page", b.get(newpassword.Path), 400, "You sign in without a password")
		b.wants(t, "the form", b.post(newpassword.Path, "current", "", "password", better), 400,
			"You sign in without a password")
	})
}

func TestForgottenPasswordIsSetByMail(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		elsewhere, b := h.enterMina(), h.browser()
		b.requestCode(t, otp.ResetFlow, minas, "query", authorizeQuery)
		code := h.code()
		if a := b.get(otp.ResetFlow.CodePath()); !strings.Contains(a.body, `autocomplete="new-password"`) {
			t.Errorf("the page asks for no password: %s", a.body)
		}
		b.wants(t, "a weak one", b.post(otp.ResetFlow.CodePath(), "code", code, "password", "short"), 400, "too short")
		b.wants(t, "the address", b.post(otp.ResetFlow.CodePath(), "code", code, "password", minas), 400, "is no password")
		b.wants(t, "a wrong code", b.post(otp.ResetFlow.CodePath(), "code", other(code), "password", better), 401,
			"The code is not right")
		h.wantsPassword(t, password)
		a := b.post(otp.ResetFlow.CodePath(), "code", code, "password", better)
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Fatalf("the right code = %d to %q %s", a.Code, a.Header().Get("Location"), a.body)
		}
		h.wantsPassword(t, better)
		h.wantsRevoked(t, 1)
		if _, err := h.store.Session(t.Context(), handle.Hash(elsewhere)); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the old session is there still: %v", err)
		}
		if v := h.signedIn(b); v.UserID != h.mina.Sub || v.LoginType != storage.LoginEmail {
			t.Errorf("the session is %+v", v)
		}
		if all := h.mails(); len(all) != 2 || !strings.Contains(all[1].text, "The password was changed") {
			t.Errorf("the mails are %+v", all)
		}
		b.wants(t, "another time", b.post(otp.ResetFlow.CodePath(), "code", code, "password", password), 400, "")
	})
}

// Only the user's name is known when the code is right; the code is not lost for it.
func TestUsernameAsPasswordDoesNotUseUpTheCode(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		users := h.users.Users.(*users.StoreUsers)
		u, err := users.Create(t.Context(), storage.User{Username: "penelopeia"}, password)
		must(t, err)
		must(t, users.LinkEmail(t.Context(), u.Sub, "pen@example.com"))
		b := h.browser()
		b.requestCode(t, otp.ResetFlow, "pen@example.com")
		b.wants(t, "the username", b.post(otp.ResetFlow.CodePath(), "code", h.code(), "password", "Penelopeia"), 400,
			"is no password")
		if a := b.post(otp.ResetFlow.CodePath(), "code", h.code(), "password", better); a.Code != 303 {
			t.Errorf("a better one = %d", a.Code)
		}
	})
}

func TestAddressIsConfirmedByItsCode(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		b.requestCode(t, otp.LinkFlow, "Second@example.com")
		code := h.code()
		if _, err := h.store.Login(t.Context(), storage.LoginEmail, "second@example.com"); err == nil {
			t.Error("the address is a way in before its code")
		}
		if a := b.post(otp.LinkFlow.CodePath(), "code", code); a.Code != 303 || a.Header().Get("Location") != web.FormPath {
			t.Fatalf("the code = %d %s", a.Code, a.body)
		}
		u, err := h.store.User(t.Context(), h.mina.Sub)
		if err != nil || u.Email != "second@example.com" || !u.EmailVerified {
			t.Errorf("the user is %+v, %v", u, err)
		}
		for _, address := range []string{"second@example.com", minas} {
			if l, err := h.store.Login(t.Context(), storage.LoginEmail, address); err != nil || l.UserID != h.mina.Sub {
				t.Errorf("%s: %+v, %v", address, l, err)
			}
		}
		time.Sleep(otp.Pause)
		b.requestCode(t, otp.LinkFlow, minas) // her own, once more
		if a := b.post(otp.LinkFlow.CodePath(), "code", h.code()); a.Code != 303 {
			t.Errorf("her own address again = %d", a.Code)
		}
		if u, _ := h.store.User(t.Context(), h.mina.Sub); u.Email != minas {
			t.Errorf("the newest address is %q", u.Email)
		}
	})
}

func TestAddressOfSomebodyElseIsNotTaken(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		_, err := h.users.Users.(*users.StoreUsers).Create(t.Context(), storage.User{Username: "eve"}, better)
		must(t, err)
		b := h.browser()
		b.post(web.FormPath, "username", "eve", "password", better)
		b.requestCode(t, otp.LinkFlow, minas)
		if n := len(h.mails()); n != 0 {
			t.Errorf("%d mails, want none", n)
		}
		// She had it confirmed before Mina did, so the code has come; Mina was quicker.
		b.requestCode(t, otp.LinkFlow, "shared@example.com")
		code := h.code()
		must(t, h.users.Users.(*users.StoreUsers).LinkEmail(t.Context(), h.mina.Sub, "shared@example.com"))
		b.wants(t, "an address that is taken meanwhile", b.post(otp.LinkFlow.CodePath(), "code", code), 400,
			"belongs to another account")
		if l, err := h.store.Login(t.Context(), storage.LoginEmail, "shared@example.com"); err != nil ||
			l.UserID != h.mina.Sub {
			t.Errorf("the login is %+v, %v", l, err)
		}
	})
}

// A code that one user asked for links no address to another who has signed in since.
func TestAddressIsThatOfTheRequest(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		_, err := h.users.Users.(*users.StoreUsers).Create(t.Context(), storage.User{Username: "eve"}, better)
		must(t, err)
		b := h.browser()
		b.post(web.FormPath, "username", "eve", "password", better)
		b.requestCode(t, otp.LinkFlow, "eve@example.com")
		b.post(web.FormPath, "username", "mina", "password", password)
		b.wants(t, "the next user's", b.post(otp.LinkFlow.CodePath(), "code", h.code()), 400, "")
		delete(b.cookies, session.CookieName)
		b.wants(t, "nobody's", b.post(otp.LinkFlow.CodePath(), "code", h.code()), 400, "")
		if _, err := h.store.Login(t.Context(), storage.LoginEmail, "eve@example.com"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the address is somebody's: %v", err)
		}
	})
}

func TestPasswordThatEndsNothingIsNotDone(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.ended.err = errDown
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		b.wants(t, "with what was granted still valid", b.post(newpassword.Path, "current", password, "password", better),
			503, "")
		if n := len(h.mails()); n != 0 {
			t.Errorf("%d mails say that it is done", n)
		}
	})
}

func TestWeakPasswordIsNoGuess(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		for range 12 {
			b.wants(t, "a weak one", b.post(newpassword.Path, "current", "wrong password", "password", "short"), 400,
				"too short")
		}
	})
}

// An address is a way in for good: a browser that somebody has left open must not get one.
func TestAddressIsConfirmedSoonAfterSigningIn(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		time.Sleep(stepup.MaxAge + time.Second)
		b.wants(t, "the page", b.get(otp.LinkFlow.Path), 200, "Sign in once more")
		if a := b.post(otp.LinkFlow.Path, "address", "eve@example.com"); a.Code != 200 ||
			!strings.Contains(a.body, "What you typed is kept") || len(h.mails()) != 0 {
			t.Errorf("the form = %d %s", a.Code, a.body)
		}
		b.post(web.FormPath, "username", "mina", "password", password)
		b.requestCode(t, otp.LinkFlow, "second@example.com")
	})
}
