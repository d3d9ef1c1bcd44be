package signin

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/web"
)

var wayLink = regexp.MustCompile(`<a class="button quiet" href="/oauth/signin/(?:with/)?([a-z]+)[?"]`)

func waysOn(a answer) (ways []string) {
	for _, found := range wayLink.FindAllStringSubmatch(a.body, -1) {
		ways = append(ways, found[1])
	}
	return ways
}

func wayOf(a answer) *http.Cookie {
	for _, c := range a.Result().Cookies() {
		if c.Name == "keystile_way" {
			return c
		}
	}
	return nil
}

func TestWayThatWasLastUsedComesFirst(t *testing.T) {
	h := newProviderFixture(t, nil)
	usual := waysOn(h.do(get(web.FormPath)))
	if want := append([]string{"qr"}, providers...); !slices.Equal(usual, want) {
		t.Fatalf("the ways are %v, want %v", usual, want)
	}
	for _, name := range providers {
		j := h.start(name, authorizeQuery)
		c := wayOf(j.open(j.choose("lin")))
		if c == nil || c.Value != name || c.Path != "/oauth" || c.MaxAge != 365*24*60*60 || !c.HttpOnly || !c.Secure ||
			c.SameSite != http.SameSiteLaxMode {
			t.Fatalf("%s leaves the cookie %v", name, c)
		}
		r := get("/oauth/authorize?" + authorizeQuery)
		r.AddCookie(c)
		want := slices.Insert(slices.DeleteFunc(slices.Clone(usual), func(w string) bool { return w == name }), 0, name)
		if got := waysOn(h.signInPage(r)); !slices.Equal(got, want) {
			t.Errorf("after %s the ways are %v, want %v", name, got, want)
		}
	}
	denied := h.start("wx", authorizeQuery)
	if c := wayOf(denied.open(denied.choose("nobody"))); c != nil {
		t.Errorf("who was not signed in is left %v", c)
	}
	if got := waysOn(h.do(get(web.FormPath))); !slices.Equal(got, usual) {
		t.Errorf("another browser has %v", got)
	}
}

// After a password no other way comes first; who has no cookie gets none.
func TestPasswordForgetsTheLastWay(t *testing.T) {
	h := newProviderFixture(t, nil)
	signIn := post("username", "mina", "password", password)
	signIn.AddCookie(&http.Cookie{Name: "keystile_way", Value: "qq"})
	if c := wayOf(h.do(signIn)); c == nil || c.Value != "" || c.MaxAge != -1 {
		t.Errorf("a password leaves %v, want the cookie removed", c)
	}
	if c := wayOf(h.do(post("username", "mina", "password", password))); c != nil {
		t.Errorf("a password leaves %v", c)
	}
	wrong := post("username", "mina", "password", "wrong")
	wrong.AddCookie(&http.Cookie{Name: "keystile_way", Value: "qq"})
	if c := wayOf(h.do(wrong)); c != nil {
		t.Errorf("a wrong password leaves %v", c)
	}
}

// For every value of the cookie the page is the usual one and holds nothing of it.
func TestCookieThatIsNoWayMeansNothing(t *testing.T) {
	h := newProviderFixture(t, nil)
	usual := h.do(get(web.FormPath)).body
	for _, value := range []string{"", "self", "nobody", "WX", "wx-", "with/wx", `"><b>evil`, "%3Cscript%3E", strings.Repeat("x", 4000), url.QueryEscape("/oauth")} {
		r := get(web.FormPath)
		r.Header.Set("Cookie", "keystile_way="+value)
		if a := h.do(r); a.Code != 200 || a.body != usual {
			t.Errorf("with %.40q = %d, another page: %v", value, a.Code, waysOn(a))
		}
	}
	r := get(web.FormPath)
	r.Header.Set("Cookie", "keystile_way=qq; keystile_way=wx")
	if a := h.do(r); a.body != usual {
		t.Errorf("two cookies: %v", waysOn(a))
	}
}

// Each page that says what went wrong leads on.
func TestFailurePagesAllOfferAWayOn(t *testing.T) {
	h := newProviderFixture(t, nil)
	foreign := post("username", "mina", "password", password)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	for name, c := range map[string]struct {
		r  *http.Request
		to string
	}{
		"another site's form": {foreign, web.FormPath},
		"a scan that is over": {get(web.ScanPath+strings.Repeat("A", 26), h.enterMina()), web.FormPath},
		"a damaged query":     {get(web.WithPath + "wx?query=a&query=b"), web.FormPath},
		"unlinking without":   {sends(web.AccountPath+"/login", "cookie", h.enterMina(), "method", "self"), web.AccountPath},
	} {
		a := h.do(c.r)
		if a.Code < 400 || !strings.Contains(a.body, `<a class="button quiet" href="`+c.to+`">`) {
			t.Errorf("%s = %d without a way to %s: %s", name, a.Code, c.to, a.body)
		}
	}
}
