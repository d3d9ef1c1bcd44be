package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// badge is a method of a host's own: whoever comes back with a number is whose badge has it.
type badge struct{ name, label string }

func (b badge) Name() string  { return b.name }
func (b badge) Label() string { return b.label }

func (b badge) Begin(_ context.Context, v connector.Visit) (string, error) {
	return origin + "/badge?state=" + v.State, nil
}

func (b badge) Finish(_ context.Context, _ string, query url.Values) (connector.Profile, error) {
	if query.Get("number") == "" {
		return connector.Profile{}, connector.ErrDenied
	}
	p := connector.Profile{Subjects: []string{"number-" + query.Get("number")}, Unread: query.Get("unread")}
	if query.Has("groups") {
		p.Groups = strings.Fields(query.Get("groups"))
	}
	return p, nil
}

func newBadgeFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	return newFixture(t, func(c *Config) {
		c.ConnectorSignUp = map[string]string{"badge": SignUpOpen}
		if c.Connectors = []connector.Connector{badge{"badge", "Company badge"}}; change != nil {
			change(c)
		}
	})
}

// pass follows a redirect to the host's page, and comes back with the number of a badge.
func (rm *fixture) pass(a answer, number string, cookies ...string) answer {
	rm.t.Helper()
	to, err := url.Parse(a.Header().Get("Location"))
	must(rm.t, err)
	if to.Path != "/badge" {
		rm.t.Fatalf("%d to %s, want the desk", a.Code, to)
	}
	r := get(web.WithPath+"badge/return?number="+number+"&state="+to.Query().Get("state"), cookies...)
	for _, c := range a.Result().Cookies() {
		r.AddCookie(c)
	}
	return rm.do(r)
}

func TestMethodOfTheHostsOwnIsSelfToApplications(t *testing.T) {
	rm := newBadgeFixture(t, nil)
	var subs [2]string
	for i := range subs {
		a := rm.pass(rm.do(get(web.WithPath+"badge?"+url.Values{"query": {authorizeQuery}}.Encode())), "7")
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Fatalf("a badge = %d to %s", a.Code, a.Header().Get("Location"))
		}
		v, err := rm.store.Session(t.Context(), handle.Hash(a.cookie()))
		must(t, err)
		u, err := rm.store.User(t.Context(), v.UserID)
		must(t, err)
		if v.LoginType != storage.LoginSelf || v.SignInMethod() != "badge" || u.LoginType != "badge" {
			t.Errorf("login type %q and method %q of the session, %q of the user, want self (protocol 2.2) and the method",
				v.LoginType, v.SignInMethod(), u.LoginType)
		}
		subs[i] = u.Sub
	}
	if subs[0] != subs[1] {
		t.Errorf("one badge is %s and %s", subs[0], subs[1])
	}
	if a := rm.pass(rm.do(get(web.WithPath+"badge")), ""); a.Code != 200 || a.cookie() != "" ||
		!strings.Contains(a.body, "have not allowed") {
		t.Errorf("no badge = %d %s", a.Code, a.body)
	}
}

func TestOperatorReadsWhatWasPassedOverOfAProfile(t *testing.T) {
	rm := newBadgeFixture(t, nil)
	a := rm.pass(rm.do(get(web.WithPath+"badge")), "7&unread=badge:+answered+what+cannot+be+read")
	if said := rm.log.String(); a.Code != 303 ||
		!strings.Contains(said, "provider=badge err=\"badge: answered what cannot be read\"") {
		t.Errorf("%d, and the log says %s", a.Code, said)
	}
}

func TestMethodOfTheHostsOwnIsCalledByItsLabel(t *testing.T) {
	rm := newBadgeFixture(t, nil)
	mina := rm.enterMina()
	page := func(lang string) string {
		w, r := httptest.NewRecorder(), get(web.AccountPath, mina)
		r.Header.Set("Accept-Language", lang)
		rm.ServeHTTP(w, r)
		return w.Body.String()
	}
	says := func(where, page, what string) {
		t.Helper()
		if !strings.Contains(page, what) {
			t.Errorf("%s does not say %q: %s", where, what, page)
		}
	}
	says("the sign-in page", rm.do(get(web.FormPath)).body, ">Sign in with Company badge<")
	r := get(web.FormPath)
	r.Header.Set("Accept-Language", "zh-CN")
	says("the sign-in page in Chinese", rm.do(r).body, ">使用 Company badge 登录<")
	says("the account page", page("en"), ">Link Company badge<")
	says("the account page in Chinese", page("zh"), ">绑定 Company badge<")

	link := post("cookie", mina)
	link.URL.Path = web.WithPath + "badge/link"
	if a := rm.pass(rm.do(link), "7", mina); a.Code != 303 || a.Header().Get("Location") != web.AccountPath {
		t.Fatalf("linking = %d %s", a.Code, a.body)
	}
	says("the account page", page("en"), "<b>Company badge</b>")
	if strings.Contains(page("en"), "Link Company badge") {
		t.Error("what is linked is offered again")
	}
}

func TestUnlinkingAHostsMethodEndsItsSessions(t *testing.T) {
	rm := newBadgeFixture(t, nil)
	d := &accountFixture{fixture: rm}
	d.link(rm.mina.Sub, storage.Login{Method: "badge", Subject: "number-7"},
		storage.Login{Method: storage.LoginWX, Subject: "o:1"})
	by := rm.pass(rm.do(get(web.WithPath+"badge")), "7").cookie()
	w := httptest.NewRecorder()
	must(t, rm.steps.Sessions.Begin(w, post(), rm.mina, session.Proof{Method: storage.LoginWX}, ""))
	other, here := answer{ResponseRecorder: w}.cookie(), rm.enterMina()
	if by == "" || d.visits(by) != nil {
		t.Fatal("the badge signs nobody in")
	}
	a := d.do(sends(account.LoginPath, "cookie", here, "method", "badge"))
	if a.Code != 303 || d.loginMethods(rm.mina.Sub) != "self wx" || d.visits(by) == nil || d.visits(here) != nil ||
		d.visits(other) != nil {
		t.Errorf("unlink = %d; left %q; by it %v, here %v, by wx %v", a.Code, d.loginMethods(rm.mina.Sub), d.visits(by),
			d.visits(here), d.visits(other))
	}
}

func TestMethodOfTheHostsOwnNeedsANameAndALabel(t *testing.T) {
	for _, c := range []struct {
		connector.Connector
		complaint string
	}{
		{badge{"self", "Badge"}, "not self, email or passkey"},
		{badge{"email", "Badge"}, "not self, email or passkey"},
		{badge{"", "Badge"}, "is no name"},
		{badge{"Badge", "Badge"}, "is no name"},
		{badge{"a/b", "Badge"}, "is no name"},
		{badge{"{x}", "Badge"}, "is no name"},
		{badge{"a=b", "Badge"}, "is no name"},
		{badge{"7", "Badge"}, "is no name"},
		{badge{strings.Repeat("a", 33), "Badge"}, "is no name"},
		{badge{"badge", ""}, "give it a Label"},
		{badge{"badge", "  "}, "visible text"},
		{badge{"badge", "two\nlines"}, "visible text"},
		{badge{"badge", "\xff"}, "visible text"},
		{badge{"badge", strings.Repeat("a", 61)}, "visible text"},
		{badge{strings.Repeat("a", 32), strings.Repeat("a", 60)}, ""},
		{badge{"passkey-2", "100% <b>%s"}, ""},
	} {
		_, err := New(context.Background(), Config{BaseURL: origin, Store: newFixture(t, nil).store,
			Connectors: []connector.Connector{c.Connector}})
		if (err == nil) != (c.complaint == "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%#v: %v, want %q", c.Connector, err, c.complaint)
		}
	}
}

func TestLabelIsTextOnThePage(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.Connectors = []connector.Connector{badge{"badge", "100% <b>%s"}} })
	if page := rm.do(get(web.FormPath)).body; !strings.Contains(page, ">Sign in with 100% &lt;b&gt;%s<") {
		t.Error(page)
	}
}

// hostUsers is a host's user table that keeps the sign-in methods.
type hostUsers struct {
	*users.StoreUsers
	logins   []storage.Login
	unlinked []storage.Login
	err      error
}

func (u *hostUsers) Logins(context.Context, string) ([]storage.Login, error) { return u.logins, u.err }

func (u *hostUsers) UnlinkLogins(_ context.Context, keep storage.Login, some ...storage.Login) error {
	u.unlinked, u.logins = some, []storage.Login{keep}
	return u.err
}

func TestAccountPageReadsTheMethodsOfLinkedUsers(t *testing.T) {
	own := &hostUsers{logins: []storage.Login{
		{Method: storage.LoginSelf, Subject: "mina@host.example", PasswordHash: "x"},
		{Method: "badge", Subject: "number-12345"},
	}}
	rm := newBadgeFixture(t, func(c *Config) {
		own.StoreUsers = users.New(c.Store, c.Passwords)
		c.Users = hostOf(own)
	})
	d := &accountFixture{fixture: rm}
	here := rm.enterMina()
	if page := d.page(here); !strings.Contains(page, "mina@host.example") || !strings.Contains(page, "•••2345") ||
		!strings.Contains(page, "Company badge") {
		t.Errorf("the page does not show them: %s", page)
	}
	if a := d.do(sends(account.LoginPath, "cookie", here, "method", "badge")); a.Code != 303 || len(own.unlinked) != 1 ||
		own.unlinked[0].Method != "badge" {
		t.Errorf("unlink = %d, took %v", a.Code, own.unlinked)
	}
	if d.loginMethods(rm.mina.Sub) != "self" {
		t.Errorf("the store's own are %s, want them left alone", d.loginMethods(rm.mina.Sub))
	}
	own.err = errors.Join(storage.ErrUnavailable, errors.New("the table is away"))
	if a := d.do(get(web.AccountPath, here)); a.Code != http.StatusServiceUnavailable {
		t.Errorf("a table that is away = %d", a.Code)
	}
}
