package signin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// inTime runs a test in which time passes only when everybody waits.
func inTime(t *testing.T, signUp string, test func(*testing.T, *fullFixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newFullFixture(t, signUp)
		test(t, h)
		must(t, h.Close(t.Context()))
	})
}

func TestCodeByMailSignsIn(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		if a := b.get(otp.SignInFlow.Path + "?query=" + "client_id%3Dksacme"); a.Code != 200 || !strings.Contains(a.body, `name="query" value="client_id=ksacme"`) {
			t.Errorf("the page for the address = %d %s", a.Code, a.body)
		}
		b.requestCode(t, otp.SignInFlow, " Mina@Example.COM ", "query", authorizeQuery)
		if page := b.last; !strings.Contains(page.body, minas) || !page.leaves() {
			t.Errorf("the page for the code names no address or leads nowhere: %s %s", page.policy(), page.body)
		}
		code := h.code()
		if m := h.mails()[0]; m.to != minas || strings.Contains(m.subject, code) ||
			!strings.Contains(m.text, "id.example.com") {
			t.Errorf("the mail is %+v", m)
		}
		a := b.post(otp.SignInFlow.CodePath(), "code", " "+code[:3]+" "+code[3:])
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Fatalf("the right code = %d to %q %s", a.Code, a.Header().Get("Location"), a.body)
		}
		if v := h.signedIn(b); v.UserID != h.mina.Sub || v.LoginType != storage.LoginEmail || !v.AuthTime.Equal(time.Now()) {
			t.Errorf("the session is %+v", v)
		}
		if u, _ := h.store.User(t.Context(), h.mina.Sub); u.LoginType != storage.LoginEmail {
			t.Errorf("login_type = %q", u.LoginType)
		}
		b.wants(t, "a code used twice", b.post(otp.SignInFlow.CodePath(), "code", code), 400, "Ask for a new code")
		if strings.Contains(h.log.String(), code) {
			t.Error("the log holds the code")
		}
	})
}

func TestNewAddressIsAUserWhereAnybodyMayBeOne(t *testing.T) {
	for signUp, want := range map[string]int{SignUpOpen: 303, SignUpClosed: 401, SignUpInvitation: 401} {
		inTime(t, signUp, func(t *testing.T, h *fullFixture) {
			b := h.browser()
			b.requestCode(t, otp.SignInFlow, "New+One@example.com")
			if n := len(h.mails()); (n == 1) != (want == 303) {
				t.Fatalf("%s: %d mails", signUp, n)
			}
			code := "123456"
			if want == 303 {
				code = h.code()
			}
			if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != want {
				t.Fatalf("%s: the code = %d, want %d", signUp, a.Code, want)
			}
			l, err := h.store.Login(t.Context(), storage.LoginEmail, "new+one@example.com")
			if want != 303 {
				if err == nil {
					t.Errorf("%s: a user was made", signUp)
				}
				return
			}
			must(t, err)
			u, err := h.store.User(t.Context(), l.UserID)
			must(t, err)
			if u.Email != "new+one@example.com" || !u.EmailVerified || u.LoginType != storage.LoginEmail ||
				strings.Contains(u.Username, "new") || h.signedIn(b).UserID != u.Sub {
				t.Errorf("%s: the user is %+v", signUp, u)
			}
			time.Sleep(otp.Pause)
			again := h.browser()
			again.requestCode(t, otp.SignInFlow, "new+one@EXAMPLE.com")
			if a := again.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != 303 || h.signedIn(again).UserID != u.Sub {
				t.Errorf("%s: another time = %d as %q", signUp, a.Code, h.signedIn(again).UserID)
			}
		})
	}
}

// random matches what differs between two browsers anyway.
var random = regexp.MustCompile(web.BrowserCookie + `=[\w-]{43}`)

// everythingSeen is all that can be seen from outside of one address, in one browser.
func everythingSeen(b *testBrowser, e *otp.Flow, address string) (seen []string) {
	keep := func(a answer) {
		head, _ := json.Marshal(a.Header())
		text := fmt.Sprint(a.Code, string(head), a.body)
		seen = append(seen, strings.ReplaceAll(random.ReplaceAllString(text, "cookie"), address, "ADDRESS"))
	}
	keep(b.post(e.Path, "address", address, "query", authorizeQuery))
	keep(b.get(e.CodePath()))
	keep(b.post(e.Path, "address", address))
	for range otp.Tries {
		keep(b.post(e.CodePath(), "code", "000000", "password", "another horse"))
	}
	keep(b.get(e.CodePath()))
	for range otp.PerHour {
		time.Sleep(otp.Pause)
		keep(b.post(e.Path, "address", address))
	}
	return seen
}

// The responses do not reveal who has an account.
func TestKnownAndUnknownAddressesAreAnsweredAlike(t *testing.T) {
	for _, e := range []*otp.Flow{otp.SignInFlow, otp.ResetFlow} {
		var want []string
		for i, address := range []string{minas, "nobo@example.com", "gone@example.com", "nopw@example.com"} {
			inTime(t, "", func(t *testing.T, h *fullFixture) {
				for name, disabled := range map[string]bool{"gone": true, "nopw": false} {
					_, err := h.store.CreateUser(t.Context(), storage.User{Username: name, Disabled: disabled},
						storage.Login{Method: storage.LoginEmail, Subject: name + "@example.com"})
					must(t, err)
				}
				seen := everythingSeen(h.browser(), e, address)
				sent := len(h.mails())
				switch {
				case i == 0:
					want = seen
					if sent != otp.PerHour {
						t.Errorf("%s: %d mails to who is known, want %d", e.Kind, sent, otp.PerHour)
					}
				case sent != 0 && (address != "nopw@example.com" || e == otp.ResetFlow):
					t.Errorf("%s: %d mails to %s", e.Kind, sent, address)
				}
				for n := range want {
					if seen[n] != want[n] {
						t.Errorf("%s: step %d of %s differs:\n%s\nwant\n%s", e.Kind, n, address, seen[n], want[n])
					}
				}
			})
		}
	}
}

func TestStoreThatIsAwayProvesNothing(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		code := h.code()
		h.store.login = errDown
		for range 3 {
			if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != 503 {
				t.Errorf("a store that is away = %d, want 503", a.Code)
			}
		}
		h.store.login = nil
		if a := b.post(otp.SignInFlow.CodePath(), "code", code); a.Code != 303 {
			t.Errorf("afterwards = %d, want 303", a.Code)
		}
	})
}

func TestEmailAddressIsValidated(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"ada@example.com": "ada@example.com", " Ada.L+x@Example.COM\t": "ada.l+x@example.com",
		"a_b!#$%&'*/=?^`{|}~-@x-1.example.org": "a_b!#$%&'*/=?^`{|}~-@x-1.example.org",
		"ada@xn--fsq.example":                  "ada@xn--fsq.example", long + "@example.com": long + "@example.com",
		"": "", "ada": "", "@example.com": "", "ada@": "", "ada@example": "", "ada@@example.com": "", "a@b@example.com": "",
		"ada@.example.com": "", "ada@example..com": "", "ada@example.com.": "", ".ada@example.com": "",
		"a..b@example.com": "", "ada.@example.com": "",
		"ada@-x.example.com": "", "ada@x-.example.com": "", "ada@192.0.2.1": "", "ada@[192.0.2.1]": "", `"a b"@example.com`: "", "a b@example.com": "",
		"ada@exam ple.com": "", "ada@example.com\r\nBcc: eve@example.com": "", "ada@example.com,eve@example.com": "",
		"Ada <ada@example.com>": "",
		"ädä@example.com":       "", "ada@exämple.com": "", "ada@example.com\x00": "", "\xff@example.com": "",
		"a" + long + "@example.com":              "",
		"a@" + strings.Repeat("a.", 126) + "com": "", "a@" + long + ".com": "", "ada@ⅿail.com": "", "ada@\u212a.com": "",
	} {
		if got, err := users.NormalizeEmail(text); got != want || (err == nil) != (want != "") {
			t.Errorf("Mailbox(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestDisabledUserStaysOutWhereAnybodyMaySignUp(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		_, err := h.store.CreateUser(t.Context(), storage.User{Username: "gone", Disabled: true},
			storage.Login{Method: storage.LoginEmail, Subject: "gone@example.com"})
		must(t, err)
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, "gone@example.com")
		b.wants(t, "the right code", b.post(otp.SignInFlow.CodePath(), "code", h.code()), 403, "Ask the operator")
		if h.signedIn(b).UserID != "" {
			t.Error("it signed in")
		}
	})
}
