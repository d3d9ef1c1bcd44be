package signin

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/notice"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// tells returns the mails about what was done, without codes.
func (h *fullFixture) tells() (all []sentMail) {
	for _, m := range h.mails() {
		if sixDigits.FindString(m.text) == "" {
			all = append(all, m)
		}
	}
	return all
}

func rotated(app string) event.Notice {
	return event.Notice{Kind: event.NoticeSecret, App: app, Detail: "secret rotated",
		At: time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC), IP: netip.MustParseAddr("203.0.113.7"), Agent: firefox}
}

func TestNoticeSaysWhatWasDoneAndFromWhere(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.Notify(t.Context(), h.mina.Sub, rotated("Acme"))
		if all := h.mails(); len(all) != 0 {
			t.Fatalf("who has confirmed no address is sent %+v", all)
		}
		h.confirmed(t)
		h.Notify(t.Context(), h.mina.Sub, rotated("Acme"))
		all := h.mails()
		if len(all) != 1 || all[0].to != minas {
			t.Fatalf("the mails are %+v, want one to Mina", all)
		}
		m := all[0]
		if m.subject != "A secret of your application at id.example.com / 您在 id.example.com 的应用密钥" {
			t.Errorf("subject %q", m.subject)
		}
		for _, want := range []string{"secret rotated", "Application: Acme", "When: 1 Mar 2026, 12:05 UTC",
			"From: 203.0.113.7", "Browser: Firefox on Windows",
			"应用：Acme", "浏览器：Firefox（Windows）", "2026年3月1日 12:05 UTC", "https://id.example.com/oauth/account"} {
			if !strings.Contains(m.text, want) {
				t.Errorf("the mail lacks %q: %s", want, m.text)
			}
		}
		h.Notify(t.Context(), "nobody", rotated("Acme"))
		if n := len(h.mails()); n != 1 {
			t.Errorf("%d mails, the last about nobody", n)
		}
	})
}

func TestNoticeIsInTheLanguageOfTheLastSignIn(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		h.enterMina()
		time.Sleep(time.Minute)
		h.enterMina("query", authorizeQuery+"&ui_locales=zh-CN")
		h.Notify(t.Context(), h.mina.Sub, rotated(""))
		all := h.tells() // that of the new browser may come before or after it
		if !slices.ContainsFunc(all, func(m sentMail) bool {
			return m.subject == "您在 id.example.com 的应用密钥" && !strings.Contains(m.text, "Browser")
		}) {
			t.Errorf("the mails are %+v, want one in Chinese alone", all)
		}
	})
}

func TestForeignTextIsOneLineOfAnEmailAndNeverItsSubject(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		n := rotated("Acme\r\nBcc: eve@evil.example\u2028\u202eX" + strings.Repeat("y", 1000))
		n.Detail, n.Agent = "done\nFrom: 127.0.0.1", "<script>evil</script>\r\nFirefox/1 Windows"
		h.Notify(t.Context(), h.mina.Sub, n)
		m := h.mails()[0]
		if strings.ContainsAny(m.subject, "\r\n") || strings.Contains(m.subject, "Acme") ||
			strings.Contains(m.text, "\nBcc") || strings.Contains(m.text, "\nFrom: 127") ||
			strings.Contains(m.text, "script") || strings.ContainsAny(m.text, "\r\u2028\u202e") ||
			strings.Contains(m.text, strings.Repeat("y", 300)) {
			t.Errorf("the mail is %+v", m)
		}
	})
}

func TestFloodOfNoticesIsTenMailsAndTheLastSaysSo(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		for range 30 {
			h.Notify(t.Context(), h.mina.Sub, rotated("Acme"))
			h.mails()
		}
		all := h.tells()
		if len(all) != notice.PerUser {
			t.Fatalf("%d mails, want %d", len(all), notice.PerUser)
		}
		for i, m := range all {
			if says := strings.Contains(m.text, "no more emails"); says != (i == len(all)-1) {
				t.Errorf("mail %d says that no more follow: %t", i+1, says)
			}
		}
		time.Sleep(time.Hour + time.Second)
		h.Notify(t.Context(), h.mina.Sub, rotated("Acme"))
		if n := len(h.tells()); n != notice.PerUser+1 {
			t.Errorf("an hour later %d mails, want one more", n)
		}
	})
}

func TestFloodOfNoticesLeavesCapacityForCodesAndOtherUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		h.post.blocked = make(chan struct{})
		waiting := func(of string) int {
			n, err := h.store.CountMails(t.Context(), notice.MailKind, of, 1000)
			must(t, err)
			return n
		}
		for range 2 * notice.PerUser {
			h.Notify(t.Context(), h.mina.Sub, rotated("Acme"))
		}
		if n := waiting(h.mina.Sub); n != notice.PerUser {
			t.Errorf("%d notices of one user wait, want %d", n, notice.PerUser)
		}
		synctest.Wait() // every worker is held up by one of those
		for i := range outbox.Capacity {
			h.Notify(t.Context(), fmt.Sprint("u", i), rotated("Acme"))
		}
		if n := waiting(""); n > outbox.Capacity || n < outbox.Capacity-outbox.Workers-1 {
			t.Errorf("%d notices wait, want %d at most", n, outbox.Capacity)
		}
		if a := h.browser().post(otp.SignInFlow.Path, "address", minas); a.Code != 303 {
			t.Errorf("asking for a code = %d", a.Code)
		}
		close(h.post.blocked)
		h.mails()
		if n := waiting(""); n != 0 {
			t.Errorf("%d notices wait that have gone", n)
		}
	})
}

func TestNoticesAreNotSentWithoutAMailer(t *testing.T) {
	rm := newFixture(t, nil)
	rm.Notify(context.Background(), rm.mina.Sub, rotated("Acme"))
	must(t, rm.Close(t.Context()))
}

func TestSignInFromANewBrowserIsNotified(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		if all := h.tells(); len(all) != 0 {
			t.Fatalf("the first sign-in of a new user is told: %+v", all)
		}
		time.Sleep(time.Hour)
		b.post(web.FormPath, "username", "mina", "password", password)
		if all := h.tells(); len(all) != 0 {
			t.Fatalf("a sign-in from the same browser is told: %+v", all)
		}
		unknown := h.browser()
		unknown.from = "198.51.100.9"
		unknown.post(web.FormPath, "username", "mina", "password", "a wrong one")
		r := post("username", "mina", "password", password)
		r.Header.Set("User-Agent", firefox)
		r.Header.Set("Accept-Language", "zh-CN") // the stranger's language is not Mina's
		unknown.send(r)
		all := h.tells()
		if len(all) != 1 || all[0].to != minas || all[0].subject != "New sign-in at id.example.com" ||
			!strings.Contains(all[0].text, "198.51.100.9") || !strings.Contains(all[0].text, "Firefox on Windows") {
			t.Fatalf("a sign-in from a new browser: %+v", all)
		}
		unknown.post(web.FormPath, "username", "mina", "password", password)
		if n := len(h.tells()); n != 1 {
			t.Errorf("the second one from there: %d mails", n)
		}
		mail := h.browser()
		mail.requestCode(t, otp.SignInFlow, minas)
		mail.post(otp.SignInFlow.CodePath(), "code", h.code())
		if n := len(h.tells()); n != 2 {
			t.Errorf("by a code from a third browser: %d mails", n)
		}
	})
}

func TestSignUpByEmailIsNotNotified(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.SignInFlow, "new@example.org")
		if a := b.post(otp.SignInFlow.CodePath(), "code", h.code()); a.Code != 303 {
			t.Fatalf("signing up = %d", a.Code)
		}
		if all := h.tells(); len(all) != 0 {
			t.Errorf("told %+v", all)
		}
	})
}

func TestOldAddressAndTheNewOneAreNotifiedOfAChange(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.post(web.FormPath, "username", "mina", "password", password)
		for _, c := range []struct {
			address    string
			recipients []string
			text       string
		}{
			{minas, []string{minas}, "An email address was added."},
			{"new@example.org", []string{minas, "new@example.org"}, "The email address was changed."},
			{"new@example.org", nil, ""}, // again
		} {
			before := len(h.tells())
			b.requestCode(t, otp.LinkFlow, c.address)
			if a := b.post(otp.LinkFlow.CodePath(), "code", h.code()); a.Code != 303 {
				t.Fatalf("confirming %s = %d", c.address, a.Code)
			}
			var recipients []string
			for _, m := range h.tells()[before:] {
				if recipients = append(recipients, m.to); !strings.Contains(m.text, c.text) {
					t.Errorf("the mail is %+v, want %q", m, c.text)
				}
			}
			if fmt.Sprint(recipients) != fmt.Sprint(c.recipients) {
				t.Errorf("after %s told %q, want %q", c.address, recipients, c.recipients)
			}
			time.Sleep(2 * time.Minute)
		}
	})
}

func TestAddedOrRemovedMethodIsNotified(t *testing.T) {
	post := &fakeMailer{}
	h := newProviderFixture(t, func(c *Config) { c.Mailer = post })
	must(t, h.users.Users.(*users.StoreUsers).LinkEmail(t.Context(), h.mina.Sub, minas))
	d := &accountFixture{fixture: h.fixture}
	mina := h.enterMina()
	j := h.visit("wx", h.do(formTo(web.WithPath+"wx/link", "cookie", mina)))
	j.session = mina
	j.open(j.choose("mei"))
	d.do(sends(account.LoginPath, "cookie", mina, "method", storage.LoginWX))
	must(t, h.outbox.Drain(t.Context()))
	all := fmt.Sprint(post.sent)
	if len(post.sent) != 2 || !strings.Contains(all, "Added: WeChat") || !strings.Contains(all, "Removed: WeChat") ||
		!strings.Contains(all, "/oauth/account") {
		t.Errorf("the mails are %s", all)
	}
}

func TestNoticeOfHeldToolsLeadsToTheirDifference(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.confirmed(t)
		h.Notify(t.Context(), h.mina.Sub, event.Notice{Kind: event.NoticeTools, Capability: "shop",
			Detail: "find, lookUp", At: time.Now()})
		all := h.mails()
		if len(all) != 1 || all[0].to != minas {
			t.Fatalf("the mails are %+v, want one to Mina", all)
		}
		for _, want := range []string{"What: find, lookUp\n", "Capability: shop\n",
			"https://id.example.com/console/capabilities/shop/pins", "能力：shop"} {
			if !strings.Contains(all[0].text, want) {
				t.Errorf("the mail lacks %q: %s", want, all[0].text)
			}
		}
		if strings.Contains(all[0].text, "new password") || strings.Contains(all[0].text, "Browser") {
			t.Errorf("the mail is about somebody who acted: %s", all[0].text)
		}
	})
}

func TestNoticeSpeaksChinese(t *testing.T) {
	h := newFullFixture(t, "")
	for _, kind := range []string{event.NoticeSignIn, event.NoticeSignInMethod, event.NoticeAccount, event.NoticeSecret,
		event.NoticeApp, event.NoticeRole, event.NoticeTools, "of the future"} {
		subject, text := h.steps.Notices.Text([]page.Lang{page.Chinese}, event.Notice{Kind: kind, Detail: "Added: WeChat"},
			true)
		if english := regexp.MustCompile(`[a-z]{3,} [a-z]{3,}`); english.MatchString(subject+text) || !strings.Contains(text, "新增：微信") {
			t.Errorf("%s: %q %q", kind, subject, text)
		}
	}
}
