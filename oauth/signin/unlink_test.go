package signin

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

func TestUnlinkingEndsAllLoginsAndSessionsOfTheMethod(t *testing.T) {
	d := newAccountFixture(t)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "u:1"},
		storage.Login{Method: storage.LoginWX, Subject: "o:1"})
	w := httptest.NewRecorder()
	must(t, d.steps.Sessions.Begin(w, post(), d.mina, session.Proof{Method: storage.LoginWX}, ""))
	by := answer{ResponseRecorder: w}.cookie()
	here := d.enterMina()
	a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX))
	if a.Code != 303 || d.loginMethods(d.mina.Sub) != "self" || d.visits(by) == nil || d.visits(here) != nil {
		t.Errorf("unlink = %d; left %q, by it %v, here %v", a.Code, d.loginMethods(d.mina.Sub), d.visits(by), d.visits(here))
	}
}

func TestUsernameIsNeverUnlinked(t *testing.T) {
	d := newAccountFixture(t)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
	if a := d.do(sends(account.LoginPath, "cookie", d.enterMina(), "method", storage.LoginSelf)); a.Code != 400 ||
		d.loginMethods(d.mina.Sub) != "self wx" {
		t.Errorf("unlink = %d; left %q", a.Code, d.loginMethods(d.mina.Sub))
	}
}

func TestUsernameWithoutAPasswordCannotSignIn(t *testing.T) {
	d := newAccountFixture(t)
	u, err := d.store.CreateUser(t.Context(), storage.User{Username: "wechat"},
		storage.Login{Method: storage.LoginSelf, Subject: "wechat"}, storage.Login{Method: storage.LoginWX, Subject: "1"})
	must(t, err)
	w := httptest.NewRecorder()
	must(t, d.steps.Sessions.Begin(w, post(), u, session.Proof{Method: storage.LoginWX}, ""))
	here := answer{ResponseRecorder: w}.cookie()
	if strings.Contains(d.page(here), account.LoginPath) {
		t.Error("the last way in is offered to be unlinked")
	}
	if a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX)); a.Code != 400 ||
		!strings.Contains(a.body, "only way") || d.loginMethods(u.Sub) != "self wx" {
		t.Errorf("unlink = %d; left %q", a.Code, d.loginMethods(u.Sub))
	}
}

func TestUnlinkingWantsASignInOfTheLastTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newAccountFixture(t)
		d.link(d.mina.Sub, storage.Login{Method: storage.LoginWX, Subject: "1"})
		here := d.enterMina()
		time.Sleep(10*time.Minute + 1)
		a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX))
		if a.Code != 200 || !strings.Contains(a.body, "What you typed is kept") || d.loginMethods(d.mina.Sub) != "self wx" {
			t.Fatalf("unlink = %d to %q; left %q", a.Code, a.Header().Get("Location"), d.loginMethods(d.mina.Sub))
		}
		form := d.do(get(web.ConfirmPath, here))
		if form.Code != 200 || form.carried() != web.AccountPath || !strings.Contains(form.body, "Sign in once more") || !strings.Contains(form.body, `value="Mina"`) {
			t.Errorf("confirm = %d %s", form.Code, form.body)
		}
		again := d.enterMina("query", web.AccountPath, "cookie", here)
		time.Sleep(10 * time.Minute)
		d.do(sends(account.LoginPath, "cookie", again, "method", storage.LoginWX))
		if d.loginMethods(d.mina.Sub) != "self" {
			t.Errorf("after signing in again %q are left", d.loginMethods(d.mina.Sub))
		}
		if a := d.do(get(web.ConfirmPath)); a.Code != 200 || a.carried() != web.AccountPath {
			t.Errorf("confirm by nobody = %d", a.Code)
		}
	})
}

func TestUnlinksAtOnceLeaveOneMethod(t *testing.T) {
	for round := range 30 {
		d := newAccountFixture(t)
		u, err := d.store.CreateUser(t.Context(), storage.User{Username: "u"},
			storage.Login{Method: storage.LoginQQ, Subject: "1"}, storage.Login{Method: storage.LoginWX, Subject: "1"})
		must(t, err)
		w := httptest.NewRecorder()
		must(t, d.steps.Sessions.Begin(w, post(), u, session.Proof{Method: storage.LoginSelf}, ""))
		here := answer{ResponseRecorder: w}.cookie()
		codes := make([]int, 2)
		var both sync.WaitGroup
		for i, method := range []string{storage.LoginQQ, storage.LoginWX} {
			both.Go(func() {
				w := httptest.NewRecorder()
				d.ServeHTTP(w, sends(account.LoginPath, "cookie", here, "method", method))
				codes[i] = w.Code
			})
		}
		both.Wait()
		if left := d.loginMethods(u.Sub); codes[0]+codes[1] != 303+400 || left != "qq" && left != "wx" {
			t.Fatalf("round %d: %v, left %q", round, codes, left)
		}
	}
}

// racingLogins is a LoginStore in which another tab unlinks what this one is about to keep.
type racingLogins struct {
	users.LoginStore
	act func()
}

func (s *racingLogins) UnlinkLogins(ctx context.Context, keep storage.Login, some ...storage.Login) error {
	if act := s.act; act != nil {
		s.act = nil
		act()
	}
	return s.LoginStore.UnlinkLogins(ctx, keep, some...)
}

func TestUnlinkInAnotherTabKeepsTheLastMethod(t *testing.T) {
	d := newAccountFixture(t)
	u, err := d.store.CreateUser(t.Context(), storage.User{Username: "u"},
		storage.Login{Method: storage.LoginQQ, Subject: "1"}, storage.Login{Method: storage.LoginWX, Subject: "1"})
	must(t, err)
	w := httptest.NewRecorder()
	must(t, d.steps.Sessions.Begin(w, post(), u, session.Proof{Method: storage.LoginSelf}, ""))
	here := answer{ResponseRecorder: w}.cookie()
	d.account.Logins = &racingLogins{d.account.Logins, func() {
		if a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginQQ)); a.Code != 303 {
			t.Errorf("the other tab = %d", a.Code)
		}
	}}
	if a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginWX)); a.Code != 400 ||
		d.loginMethods(u.Sub) != "wx" {
		t.Errorf("unlink = %d; left %q", a.Code, d.loginMethods(u.Sub))
	}
}

// Methods that the protocol has no name for share the login type of a password, but not its sessions.
func TestUnlinkingLeavesTheSessionsOfOtherMethods(t *testing.T) {
	d := newAccountFixture(t)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginFeishu, Subject: "u:1"})
	begin := func(p session.Proof) string {
		w := httptest.NewRecorder()
		must(t, d.steps.Sessions.Begin(w, post(), d.mina, p, ""))
		return answer{ResponseRecorder: w}.cookie()
	}
	here := d.enterMina()
	old := begin(session.Proof{Method: storage.LoginSelf}) // as a version before has written it
	byFeishu, byBadge, byPassword := begin(session.Proof{Method: storage.LoginFeishu}),
		begin(session.Proof{Method: "badge"}), begin(session.Password)
	if a := d.do(sends(account.LoginPath, "cookie", here, "method", storage.LoginFeishu)); a.Code != 303 {
		t.Fatalf("unlinking = %d %s", a.Code, a.body)
	}
	for what, c := range map[string]struct {
		cookie string
		live   bool
	}{"feishu": {byFeishu, false}, "a badge": {byBadge, true}, "a password": {byPassword, true},
		"nobody knows what": {old, false}, "this one": {here, true}} {
		if _, err := d.store.Session(t.Context(), handle.Hash(c.cookie)); (err == nil) != c.live {
			t.Errorf("the session by %s: %v, want it live: %t", what, err, c.live)
		}
	}
}
