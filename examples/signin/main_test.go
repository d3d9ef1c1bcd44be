package main

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

const badgeLink = "Sign in with Company badge"

func (b *browser) authorize() *browser {
	b.Helper()
	return b.open("/oauth/authorize?" + authorizeQuery(b.app).Encode())
}

// withPassword signs Ada in on her account page.
func (b *browser) withPassword() *browser {
	b.Helper()
	return b.open("/oauth/account").press("password", "username", "ada@example.com", "password",
		"analytical engine").sees(200, "Your account")
}

// withBadge signs in by holding a badge to the reader, from the page that is open.
func (b *browser) withBadge(text string) *browser {
	b.Helper()
	return b.follow(badgeLink).sees(200, "Hold your badge").press("badge", "badge", text)
}

// newBadge gives Ada one out of the drawer, as she does it on her account page.
func (c *company) newBadge() string {
	c.Helper()
	text := c.issue()
	c.browser().withPassword().press("Link Company badge").press("badge", "badge", text).sees(200, "Your account",
		"<b>Company badge</b>")
	return text
}

func TestEmployeeSignsInByPasswordAndByBadgeAndIsTheSame(t *testing.T) {
	company := open(t)
	badge := company.newBadge()
	for _, c := range []struct {
		way      string
		requests bool // for consent: it counts for the employee, however they come in
		enter    func(b *browser) *browser
	}{
		{"password", true, func(b *browser) *browser {
			return b.press("password", "username", " ADA@example.com", "password", "analytical engine")
		}},
		{"badge", false, func(b *browser) *browser { return b.withBadge(badge) }},
	} {
		b := company.browser().authorize().sees(200, "Sign in to Canteen")
		if c.enter(b); c.requests {
			b.sees(200, "See your email address").press("/oauth/signin/consent", "allow", "1")
		}
		token, info := b.learns()
		user, _ := token["user"].(map[string]any)
		if user["login_type"] != "self" || info["login_type"] != "self" {
			t.Errorf("by %s login_type is %v and %v, want self (protocol 2.2)", c.way, user["login_type"], info["login_type"])
		}
		if info["sub"] != company.ada.sub() || info["user_id"] != float64(company.ada.ID) ||
			info["email"] != "ada@example.com" || info["name"] != "Ada Lovelace" {
			t.Errorf("by %s it is %v", c.way, info)
		}
		b.open("/oauth/account").sees(200, "Canteen", "<b>Username and password</b><span>ada@example.com",
			"<b>Company badge</b>")
	}
}

func TestBadgeIsLinkedAndUnlinkedOnTheAccountPage(t *testing.T) {
	c := open(t)
	badge := c.newBadge()
	b := c.browser().open("/oauth/account").withBadge(badge).sees(200, "Your account")
	if strings.Contains(b.page, "Link Company badge") {
		t.Error("the badge is offered again")
	}
	b.press("/oauth/account/login").sees(200, "Your account", "Link Company badge")
	if strings.Contains(b.page, "<b>Company badge</b>") {
		t.Error("the badge is still there")
	}
	c.browser().open("/oauth/account").withBadge(badge).sees(http.StatusUnauthorized, "cannot sign in here in this way")
	if !c.issued(numberOf(badge)) {
		t.Error("the badge is not in the drawer again")
	}
}

func TestPasswordAndABadgeLetInWhomTheyBelongToAndNobodyElse(t *testing.T) {
	c := open(t)
	badge := c.newBadge()
	at := func() *browser { return c.browser().open("/oauth/account") }
	for _, username := range []string{"ada@example.com", "nobody@example.com", "staff-1"} {
		at().press("password", "username", username, "password", "builds and builds").sees(http.StatusUnauthorized,
			"not right")
	}
	at().withBadge("made up").sees(http.StatusUnauthorized, "no badge of ours")
	at().withBadge(c.issue()).sees(http.StatusUnauthorized, "cannot sign in here in this way")
	at().follow(badgeLink).follow("I have no badge here").sees(200, "have not allowed it there", badgeLink)

	bob := at().press("password", "username", "bob@example.com", "password", "builds and builds")
	bob.press("Link Company badge").press("badge", "badge", badge).sees(http.StatusBadRequest, "somebody else signs in")
	at().withBadge(badge).sees(200, "ada@example.com")
}

func TestAddressThatIsMadeUpSignsNobodyIn(t *testing.T) {
	c := open(t)
	badge := c.newBadge()
	number := numberOf(badge)
	state := func(b *browser) string { return b.open("/oauth/account").follow(badgeLink).at.Query().Get("state") }
	for what, code := range map[string]func(state string) string{
		"no code":              func(string) string { return "" },
		"a code without a key": func(string) string { return number },
		"a code of before":     func(string) string { return c.seal(state(c.browser()), number) },
		"another one's code":   func(state string) string { return c.seal(state, number+"0") },
	} {
		b := c.browser()
		s := state(b)
		want := "does not know this sign-in any more"
		if b.open(back(s, "number", number, "code", code(s))); b.status != http.StatusBadRequest ||
			!strings.Contains(b.page, want) {
			t.Errorf("%s: %d %s", what, b.status, b.page)
		}
	}
	b := c.browser()
	s := state(b)
	target := back(s, "number", number, "code", c.seal(s, number))
	c.browser().open(target).sees(http.StatusBadRequest, "begun in another browser")
	b.open(target).sees(200, "Your account")
	c.browser().open(target).sees(http.StatusBadRequest, "begun in another browser")
}

func TestEmployeeWhoHasLeftCannotSignInByAnyMethod(t *testing.T) {
	c := open(t)
	badge := c.newBadge()
	inside := c.browser().withPassword()
	c.mu.Lock()
	c.ada.Disabled = true
	c.rows[c.ada.ID] = c.ada
	c.mu.Unlock()
	inside.open("/oauth/account").sees(200, "Sign in")
	inside.press("password", "username", "ada@example.com", "password", "analytical engine").sees(http.StatusUnauthorized)
	c.browser().open("/oauth/account").withBadge(badge).sees(http.StatusUnauthorized)
}

func TestPageOfTheMethodLeadsToKeystileAlone(t *testing.T) {
	c := open(t)
	badge := c.issue()
	b := c.browser().post(badgePath, url.Values{"badge": {badge}, "state": {"https://evil.example.com"},
		"back": {"//evil.example.com"}})
	if b.sees(http.StatusBadRequest, "begun in another browser"); b.at.Path != badgeReturn {
		t.Errorf("the page leads to %s", b.at)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.origin+badgePath,
		strings.NewReader("badge="+badge))
	must(t, err)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	c.browser().send(r).sees(http.StatusForbidden)
}

func TestUnlinkInTwoTabsKeepsTheLastBadge(t *testing.T) {
	c := open(t)
	c.newBadge()
	all, err := c.Logins(t.Context(), c.ada.sub())
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("Ada signs in by %v, want two ways", all)
	}
	password, badge := all[0], all[1]
	must(t, c.UnlinkLogins(t.Context(), password, badge))
	for keep, some := range map[storage.Login]storage.Login{password: badge, badge: password} {
		if err := c.UnlinkLogins(t.Context(), keep, some); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("unlinking %s beside %s = %v, want ErrConflict", some.Method, keep.Method, err)
		}
	}
}
