package signin

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/storage"
)

func (h *fullFixture) invite(t *testing.T, role string, life time.Duration) string {
	t.Helper()
	code, now := handle.NewInvitation(), time.Now().UTC()
	_, err := h.store.SaveInvitation(t.Context(), storage.Invitation{ID: handle.HashInvitation(code), Role: role,
		CreatedAt: now, ExpiresAt: now.Add(life)})
	must(t, err)
	return code
}

func TestSignUpThatIsOpenTakesAnybody(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		a := b.get(signup.Path + "?query=client_id%3Dksacme")
		if a.Code != 200 || !strings.Contains(a.body, `value="client_id=ksacme"`) || strings.Contains(a.body, "invitation") {
			t.Errorf("the page = %d %s", a.Code, a.body)
		}
		for promise, c := range map[string]struct {
			name, pass, address string
			status              int
			text                string
		}{
			"a short password":         {"ada", "short", "", 400, "too short"},
			"a common one":             {"ada", "Iloveyou1", "", 400, "among the first that are guessed"},
			"the username":             {"adalovelace", "AdaLovelace", "", 400, "is no password"},
			"the address":              {"ada", "lovelace1815", "lovelace1815@example.com", 400, "is no password"},
			"no username":              {" ", better, "", 400, "This username cannot be used"},
			"a username not seen":      {"a\u202eda", better, "", 400, "This username cannot be used"},
			"a username that is taken": {"MINA", better, "", 400, "This username is taken"},
			"an address that is none":  {"ada", better, "ada", 400, "This is not an email address"},
		} {
			b.wants(t, promise, b.post(signup.Path, "username", c.name, "password", c.pass, "address", c.address, "query",
				authorizeQuery), c.status, c.text)
			if strings.Contains(b.last.body, c.pass+`"`) && c.pass != c.address {
				t.Errorf("%s: the page holds the password", promise)
			}
		}
		written := &fakeAudit{err: errDown}
		h.steps.Trail = trail.New(written, h.steps.Peer)
		b.wants(t, "with the trail away", b.post(signup.Path, "username", "eve", "password", better, "query", authorizeQuery),
			503, "could not be written down")
		written.err = nil
		a = b.post(signup.Path, "username", " Ada ", "password", better, "query", authorizeQuery)
		if !slices.Contains(written.notes, "registration  signed up") {
			t.Errorf("told %q, want that a user signed up", written.notes)
		}
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Fatalf("signing up = %d %s", a.Code, a.body)
		}
		u, err := h.users.Authenticate(t.Context(), "ada", better)
		if err != nil || u.Username != "Ada" || u.Role != "" || u.Email != "" || h.signedIn(b).UserID != u.Sub ||
			h.signedIn(b).LoginType != storage.LoginSelf {
			t.Errorf("the user is %+v, %v, the session %+v", u, err, h.signedIn(b))
		}
	})
}

// An address that is only typed is nobody's: neither applications nor the sign-in page
// may take it for the owner's word.
func TestAddressTypedAtSignUpWaitsForItsCode(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		a := b.post(signup.Path, "username", "ada", "password", better, "address", "ada@example.com", "query", authorizeQuery)
		if a.Code != 303 || a.Header().Get("Location") != otp.LinkFlow.CodePath() {
			t.Fatalf("signing up = %d to %q %s", a.Code, a.Header().Get("Location"), a.body)
		}
		u, err := h.users.Authenticate(t.Context(), "ada", better)
		if err != nil || u.Email != "" {
			t.Errorf("before the code the user is %+v, %v", u, err)
		}
		if a := b.get(otp.LinkFlow.CodePath()); !strings.Contains(a.body, `href="/oauth/authorize?client_id=ksacme`) {
			t.Error("there is no way on without the code")
		}
		if a := b.post(otp.LinkFlow.CodePath(), "code", h.code()); a.Code != 303 ||
			a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Errorf("the code = %d to %q", a.Code, a.Header().Get("Location"))
		}
		if u, _ := h.store.User(t.Context(), u.Sub); u.Email != "ada@example.com" || !u.EmailVerified {
			t.Errorf("after the code the user is %+v", u)
		}
	})
}

func TestInvitedUserSignsUp(t *testing.T) {
	inTime(t, SignUpInvitation, func(t *testing.T, h *fullFixture) {
		code := h.invite(t, storage.RoleDeveloper, time.Hour)
		b := h.browser()
		b.wants(t, "the page", b.get(signup.Path), 200, `name="invitation"`)
		b.wants(t, "none", b.post(signup.Path, "username", "ada", "password", better), 400,
			"Type in the code of your invitation")
		b.wants(t, "a wrong one", b.post(signup.Path, "username", "ada", "password", better, "invitation",
			handle.NewInvitation()), 401, "This invitation is not right")
		b.wants(t, "with a taken name", b.post(signup.Path, "username", "mina", "password", better, "invitation", code), 400,
			"This username is taken")
		if a := b.post(signup.Path, "username", "ada", "password", better, "invitation",
			strings.ToLower(code)); a.Code != 303 {
			t.Fatalf("the right one = %d %s", a.Code, a.body)
		}
		if u, err := h.users.Authenticate(t.Context(), "ada", better); err != nil || u.Role != storage.RoleDeveloper {
			t.Errorf("the user is %+v, %v", u, err)
		}
		b.wants(t, "a used one", b.post(signup.Path, "username", "bob", "password", better, "invitation", code), 401,
			"This invitation is not right")
		late := h.invite(t, "", time.Hour)
		time.Sleep(time.Hour)
		b.wants(t, "one that has ended", b.post(signup.Path, "username", "bob", "password", better, "invitation", late), 401,
			"This invitation is not right")
	})
}

func TestInvitationMakesOneUser(t *testing.T) {
	inTime(t, SignUpInvitation, func(t *testing.T, h *fullFixture) {
		code := h.invite(t, "", time.Hour)
		var made atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if h.browser().post(signup.Path, "username", fmt.Sprint("ada", i), "password", better, "invitation",
					code).Code == 303 {
					made.Add(1)
				}
			})
		}
		all.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("%d users were made, want 1", n)
		}
	})
}

func TestSignUpsFromOneAddressAreBounded(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		for i := range limits.PerIP + 3 {
			a := h.browser().post(signup.Path, "username", fmt.Sprint("ada", i), "password", better)
			if want := map[bool]int{true: 303, false: 429}[i < limits.PerIP]; a.Code != want {
				t.Fatalf("user %d = %d, want %d", i+1, a.Code, want)
			}
		}
	})
}

// A password of 1,024 bytes is taken whole: the last byte counts.
func TestLongPasswordIsTakenWhole(t *testing.T) {
	h := newFullFixture(t, SignUpOpen)
	long := strings.Repeat("correct horse ", 73) + "ab"
	if len(long) != 1024 {
		t.Fatal(len(long))
	}
	if a := h.browser().post(signup.Path, "username", "ada", "password", long); a.Code != 303 {
		t.Fatalf("signing up = %d %s", a.Code, a.body)
	}
	for pass, ok := range map[string]bool{long: true, long[:1023] + "c": false, long[:1023]: false} {
		if _, err := h.users.Authenticate(t.Context(), "ada", pass); (err == nil) != ok {
			t.Errorf("with %d bytes ending in %q: %v", len(pass), pass[len(pass)-1:], err)
		}
	}
}
