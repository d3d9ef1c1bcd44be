package signin

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func TestLinkToScanWithAPhoneIsHiddenOnPhones(t *testing.T) {
	h := newFullFixture(t, "")
	body := h.do(get(web.FormPath)).body
	if !strings.Contains(body, `<li class="otherdevice"><a class="button quiet" href="/oauth/signin/qr"`) || strings.Count(body, `class="otherdevice"`) != 1 {
		t.Errorf("the link to scan is not the one of another device: %s", body)
	}
	if !strings.Contains(body, "@media (hover: none) and (pointer: coarse) and (max-width: 30rem)") {
		t.Error("the style does not hide it on phones")
	}
}

func TestAccountPageOffersToChangeAPasswordOnlyIfThereIsOne(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		link := `href="` + newpassword.Path + `"`
		if a := h.do(get(web.AccountPath, h.enterMina())); !strings.Contains(a.body, link) {
			t.Error("a user with a password is not offered to change it")
		}
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, "new@example.com")
		b.post(otp.SignInFlow.CodePath(), "code", h.code())
		if a := b.get(web.AccountPath); a.Code != 200 || strings.Contains(a.body, link) {
			t.Errorf("a user without a password is offered to change it: %d", a.Code)
		}
		if a := b.get(newpassword.Path); a.Code != 400 || !strings.Contains(a.body, `href="`+web.AccountPath+`"`) {
			t.Errorf("the error has no link back: %d %s", a.Code, a.body)
		}
	})
}

func TestAlertOfAFormHasItsIcon(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, minas)
		signedIn := h.enterMina()
		for name, a := range map[string]answer{
			"sign-in":  h.do(post("username", "mina", "password", "wrong")),
			"address":  b.post(otp.SignInFlow.Path, "address", "none"),
			"code":     b.post(otp.SignInFlow.CodePath(), "code", "none"),
			"sign-up":  b.post(signup.Path, "username", "", "password", ""),
			"password": h.do(sends(newpassword.Path, "cookie", signedIn, "current", "", "password", better)),
		} {
			if !strings.Contains(a.body, `<div class="alert" role="alert" id="alert"><svg`) {
				t.Errorf("%s: %d without an alert with an icon: %s", name, a.Code, a.body)
			}
		}
	})
}

func TestAccountPageShowsWhenASessionWasLastUsed(t *testing.T) {
	d := newAccountFixture(t)
	here, there := d.enterMina(), d.enterMina()
	v, err := d.store.Session(t.Context(), handle.Hash(there))
	must(t, err)
	used := time.Now().UTC().Add(-48 * time.Hour)
	v.AuthTime, v.ExpiresAt = used.Add(-72*time.Hour), used.Add(7*24*time.Hour)
	_, err = d.store.SaveSession(t.Context(), v)
	must(t, err)
	body := d.page(here)
	if want := `Last used around <time datetime="` + used.Format(time.RFC3339) + `" data-local="day">` + web.DayOf(page.English, used) + "</time>"; !strings.Contains(body, want) || strings.Count(body, "Last used") != 1 {
		t.Errorf("the page does not say %q once", want)
	}
	v, err = d.store.Session(t.Context(), v.ID)
	must(t, err)
	v.EndsAt = v.ExpiresAt // it slides no further, so its last use is not known
	_, err = d.store.SaveSession(t.Context(), v)
	must(t, err)
	if strings.Contains(d.page(here), "Last used") {
		t.Error("the page shows a last use that is not known")
	}
}
