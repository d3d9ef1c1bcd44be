package signin

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// change rewrites the session behind a cookie.
func (d *accountFixture) change(cookie string, edit func(*storage.Session)) {
	d.t.Helper()
	v, err := d.store.Store.Session(d.t.Context(), handle.Hash(cookie))
	must(d.t, err)
	edit(&v)
	_, err = d.store.Store.SaveSession(d.t.Context(), v)
	must(d.t, err)
}

// row returns the row of a session on the account page.
func (d *accountFixture) row(page, cookie string) string {
	d.t.Helper()
	for row := range strings.SplitSeq(page, "<li>") {
		if strings.Contains(row, `value="`+handle.Hash(cookie)+`"`) {
			return row
		}
	}
	d.t.Fatalf("no row for the session: %s", page)
	return ""
}

func TestSessionsAreToldApartByHowAndWhereTheyBegan(t *testing.T) {
	d := newAccountFixture(t, func(c *Config) {
		c.Place = func(a netip.Addr) string {
			if a == netip.MustParseAddr("203.0.113.7") {
				return "Lagos \u202e<script>" + strings.Repeat("x", 100)
			}
			return ""
		}
	})
	here, near, far, app := d.enterMina(), d.enterMina(), d.enterMina(), d.enterMina()
	d.change(here, func(v *storage.Session) { v.IP, v.AMR = "192.0.2.1", "pwd otp mfa" })
	d.change(near, func(v *storage.Session) { v.IP = "192.0.2.77" })
	d.change(far, func(v *storage.Session) {
		v.IP, v.LoginType, v.AMR = "203.0.113.7", storage.LoginWX, ""
		v.Agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) AppleWebKit Version/18.0 Safari"
	})
	d.change(app, func(v *storage.Session) { v.Method, v.IP = "badge", "not an address" })
	page := d.page(here)
	for cookie, want := range map[string][]string{
		here: {"This one", "Username and password · with a second factor", "192.0.2.1 · your network now"},
		near: {"Username and password · without a second factor", "192.0.2.77 · close to your network now"},
		far: {"<b>Safari on iPhone</b>", "<span>WeChat</span>",
			"203.0.113.7 · another network · <bdi>Lagos &lt;script&gt;xxx", "…</bdi>"},
		app: {"<span>badge · without", "<span>not an address</span>"},
	} {
		row := d.row(page, cookie)
		for _, text := range append(want, `<time datetime="20`, ` UTC</time>`) {
			if !strings.Contains(row, text) {
				t.Errorf("the row lacks %q: %s", text, row)
			}
		}
	}
	if strings.Contains(page, "\u202e") || strings.Contains(page, strings.Repeat("x", 61)) {
		t.Error("what the host says of an address is shown as it is")
	}
	if a := d.do(get(account.ScriptPath)); a.Code != 200 || !strings.Contains(a.body, "timeZoneName") || !strings.Contains(page, `<script src="`+account.ScriptPath+`" defer></script>`) {
		t.Errorf("the script of the times: %d", a.Code)
	}
	if p := d.do(get(web.AccountPath, here)).policy(); !strings.Contains(p, "script-src 'self';") ||
		strings.Contains(p, "unsafe") {
		t.Errorf("the policy is %q", p)
	}
}

func TestSessionsOfAllOtherBrowsersEndAtOnce(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	if strings.Contains(d.page(here), account.OthersPath) {
		t.Error("it is offered though there is no other")
	}
	there, elsewhere := d.enterMina(), d.enterMina()
	_, theirs := d.ada()
	if !strings.Contains(d.page(here), account.OthersPath) {
		t.Error("it is not offered")
	}
	if a := d.do(sends(account.OthersPath, "cookie", here)); a.Code != 303 {
		t.Errorf("%d", a.Code)
	}
	if d.visits(here) != nil || d.visits(there) == nil || d.visits(elsewhere) == nil || d.visits(theirs) != nil ||
		d.revoked != nil {
		t.Errorf("here %v, there %v %v, somebody else %v, revoked %v", d.visits(here), d.visits(there), d.visits(elsewhere),
			d.visits(theirs), d.revoked)
	}
}

func TestWarningsStandAtTheTop(t *testing.T) {
	d := newAccountFixture(t)
	d.account.Warnings = append(d.account.Warnings, func(_ context.Context, u storage.User) ([]account.Warning, error) {
		if u.Sub != d.mina.Sub {
			t.Errorf("asked for %s", u.Sub)
		}
		day := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
		return []account.Warning{{Text: "<few> until %s", Day: day,
			Link: web.Link{Path: "/oauth/account/factors", Label: "Look"}}}, nil
	})
	page := d.page(d.enterMina())
	first, rest, ok := strings.Cut(page, `id="sessions"`)
	if !ok || !strings.Contains(first, "&lt;few&gt; until 1 Dec 2026") || !strings.Contains(first, `<a href="/oauth/account/factors">Look</a>`) || strings.Contains(rest, "Look</a>") {
		t.Errorf("the page says %s", first)
	}
}
