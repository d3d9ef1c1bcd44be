package roundrobin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// bob makes a second user, who signs in with the same password.
func (c *cluster) bob() {
	_, err := users.New(c.store, cheap()).Create(c.t.Context(), storage.User{Username: "bob", Nickname: "Bob"}, password)
	must(c.t, err)
}

// as signs a new browser in, and lets the application have what it asks for.
func (c *cluster) as(name string) *person {
	p := c.person()
	a := p.submit(p.get(authorize), "/oauth/signin", "username", name, "password", password)
	if a.status == 200 { // nobody has asked them before
		a = p.submit(a, "/oauth/signin/consent", "allow", "1")
	}
	a.brought("code")
	return p
}

func asking(pairs ...string) string { return authorize + "&" + form(pairs...).Encode() }

// OpenID Connect Core 3.1.2.1.
func TestApplicationThatRenewsAdasSessionIsGivenNobodyElses(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		c.bob()
		adas := p.redeemed(p.granted()).member("id_token")
		time.Sleep(50 * time.Hour) // the id_token has expired
		other := c.as("bob")

		silent := asking("prompt", "none", "id_token_hint", adas)
		if got := other.get(silent).brought("error"); got != "login_required" {
			t.Errorf("with Bob signed in, prompt=none and Ada's hint end in %q", got)
		}
		if a := c.person().get(silent); a.brought("error") != "login_required" ||
			a.brought("error_description") != other.get(silent).brought("error_description") {
			t.Errorf("the application can tell that somebody else is signed in: %s", a.location)
		}
		if again := c.as("ada").get(silent); again.brought("code") == "" {
			t.Error("Ada's own session does not satisfy her hint")
		}

		// The page asks for her and does not say who she is. A sign-in of Bob is not hers, and the application is told.
		a := other.get(asking("id_token_hint", adas))
		if a.status != 200 || !strings.Contains(a.body, "person who was signed in to it before") ||
			strings.Contains(a.body, "ada") || strings.Contains(a.body, "Ada") {
			t.Fatalf("with Bob signed in, Ada's hint = %d to %q: %s", a.status, a.location, a.body)
		}
		if got := other.submit(a, "/oauth/signin", "username", "bob", "password",
			password); got.brought("error") != "login_required" || got.brought("state") != "drawn-before" {
			t.Errorf("Bob, who has signed in because of Ada's hint, is led to %s", got.location)
		}
		for _, how := range []string{"", "login", "select_account"} {
			a = other.get(asking("id_token_hint", adas, "prompt", how))
			if got := other.submit(a, "/oauth/signin", "username", "ada", "password", password); got.brought("code") == "" {
				t.Errorf("prompt=%s: Ada, who has signed in because of her hint, is led to %s", how, got.location)
			}
			other = c.as("bob")
		}
		stranger := c.person()
		_, carried, _ := strings.Cut(html.UnescapeString(stranger.get(asking("id_token_hint", adas)).body),
			`href="/oauth/signin/with/wx?`)
		carried, _, _ = strings.Cut(carried, `"`)
		there := stranger.follow(stranger.get("/oauth/signin/with/wx?" + carried))
		action := formTag.FindStringSubmatch(there.body)
		if action == nil {
			t.Fatalf("the provider shows %s", there.body)
		}
		if got := stranger.submit(there, html.UnescapeString(action[1]), "person",
			"mei"); got.brought("error") != "login_required" {
			t.Errorf("somebody who comes from a provider because of Ada's hint is led to %s", got.location)
		}
		a = c.person().get(asking("id_token_hint", adas))
		if got := c.person().submit(a, "/oauth/signin", "username", "bob", "password",
			password); got.brought("error") != "login_required" {
			t.Errorf("where nobody was signed in, Bob is led to %s", got.location)
		}
	})
}

func TestHintThatIsNotTheApplicationsIsPassedOver(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		c.bob()
		adas := p.redeemed(p.granted()).member("id_token")
		parts := strings.Split(adas, ".")
		_, err := c.store.SaveApp(t.Context(), storage.App{ID: "ksother", Name: "Other", Domains: []string{"app.example.com"},
			FirstParty: true})
		must(t, err)
		bob := c.as("bob")
		for what, hint := range map[string]string{
			"no token": "x.y.z", "another signature": parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])),
			"16 KB": strings.Repeat("a", 16<<10),
		} {
			if a := bob.get(asking("prompt", "none", "id_token_hint", hint)); a.brought("code") == "" {
				t.Errorf("%s: %d to %s", what, a.status, a.location)
			}
			if a := c.person().get(asking("id_token_hint", hint)); a.status != 200 || strings.Contains(a.body, hint) ||
				strings.Contains(a.body, "signed in to it before") {
				t.Errorf("%s, where nobody is signed in: %d %s", what, a.status, a.body)
			}
		}
		another := strings.Replace(asking("prompt", "none", "id_token_hint", adas), "client_id=ksapp", "client_id=ksother", 1)
		if a := bob.get(another); a.brought("code") == "" {
			t.Errorf("another application's: %d to %s", a.status, a.location)
		}
		twice := asking("id_token_hint", adas) + "&id_token_hint=" + url.QueryEscape(adas)
		if a := bob.get(twice); a.brought("error") != "invalid_request" {
			t.Errorf("a hint that is there twice leads to %s", a.location)
		}
	})
}

// An application whose id_tokens are signed with its secret could otherwise write one for each user whom it knows of.
func TestHintThatAnApplicationHasWrittenItselfDoesNotTellWhoIsHere(t *testing.T) {
	base64url := base64.RawURLEncoding.EncodeToString
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		c.bob()
		const secret = "An0therKeyForTests0123456789abcdef"
		_, err := c.store.SaveApp(t.Context(), storage.App{
			ID: "kscurious", Name: "Curious", Domains: []string{"app.example.com"},
			Secrets: []storage.AppSecret{{Secret: storage.NewSecret(secret)}},
		})
		must(t, err)
		bob := c.as("bob")
		subs := map[string]string{}
		for _, name := range []string{"ada", "bob"} {
			l, err := c.store.Login(t.Context(), storage.LoginSelf, name)
			must(t, err)
			subs[name] = l.UserID
		}
		for _, name := range []string{"ada", "bob"} {
			claims, err := json.Marshal(map[string]any{"iss": origin, "sub": subs[name], "aud": "kscurious", "exp": 2e9})
			must(t, err)
			text := base64url([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64url(claims)
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte(text))
			hint := text + "." + base64url(mac.Sum(nil))
			silent := asking("prompt", "none", "id_token_hint", hint)
			silent = strings.Replace(silent, "client_id=ksapp", "client_id=kscurious", 1)
			if got := bob.get(silent).brought("error"); got != "consent_required" {
				t.Errorf("with Bob signed in, its own hint of %s ends in %q", name, got)
			}
			leave := form("client_id", "kscurious", "post_logout_redirect_uri", redirect, "id_token_hint", hint)
			if a := bob.get("/oauth/logout?" + leave.Encode()); a.status != 200 {
				t.Errorf("with Bob signed in, its own hint of %s signs out and leads to %s", name, a.location)
			}
		}
	})
}

// foreign sends a form as a page of another site does: without the cookies, which are SameSite=Lax.
func (p *person) foreign(path, body string) page {
	r := httptest.NewRequest("POST", origin+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://app.example.com")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	kept := p.cookies
	p.cookies = map[string]string{}
	a := p.send(r)
	if len(p.cookies) > 0 {
		p.c.t.Errorf("a form of another site sets %v", p.cookies)
	}
	p.cookies = kept
	return a
}

// OpenID Connect Core 3.1.2.1, RP-Initiated Logout 1.0, 2: both methods are served, for applications that send forms.
func TestFormOfAnotherSiteFindsTheSession(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		_, query, _ := strings.Cut(authorize, "?")
		code := p.granted()
		for _, path := range []string{"/oauth/authorize", "/oauth/authorize.php"} {
			a := p.foreign(path, query)
			if a.status != 303 || a.location != path+"?"+query {
				t.Fatalf("POST %s = %d to %s", path, a.status, a.location)
			}
			if got := p.follow(a); got.brought("code") == "" || got.brought("state") != "drawn-before" {
				t.Errorf("a form at %s leads to %s", path, got.location)
			}
		}
		if a := p.foreign("/oauth/authorize", query+"&prompt=none&nonce=\xff#\r\nSet-Cookie: a"); a.status != 303 ||
			strings.ContainsAny(a.location, "#\r\n ") || strings.Contains(a.location, "\xff") {
			t.Errorf("what no address may hold moves to %q, %d", a.location, a.status)
		}
		if a := p.foreign("/oauth/authorize", query+"&login_hint="+strings.Repeat("a",
			17<<10)); a.brought("error") != "invalid_request" {
			t.Errorf("a form of 17 KiB = %d to %.80s", a.status, a.location)
		}

		hint := p.redeemed(code).member("id_token")
		back := "post_logout_redirect_uri=" + url.QueryEscape(redirect) + "&state=s+1"
		asks := p.follow(p.foreign("/oauth/logout", "client_id=ksapp&"+back))
		if asks.status != 200 || !strings.Contains(asks.body, "Sign out?") {
			t.Errorf("without a hint a form of another site leads to %d %s: %s", asks.status, asks.location, asks.body)
		}
		p.signedIn("Ada")
		if a := p.follow(p.foreign("/oauth/logout", "")); a.status != 200 || !strings.Contains(a.body, "Sign out?") {
			t.Errorf("an empty form of another site leads to %d %s", a.status, a.location)
		}
		if a := p.foreign("/oauth/logout", back+"&state="+strings.Repeat("s", 20<<10)); a.status != 400 || a.location != "" {
			t.Errorf("a form of 20 KiB = %d to %.80s", a.status, a.location)
		}
		p.signedIn("Ada")
		if a := p.follow(p.foreign("/oauth/logout", back+"&id_token_hint="+hint)); a.brought("state") != "s 1" {
			t.Errorf("with a hint it leads to %s", a.location)
		}
		if a := p.get(asking("prompt", "none")); a.brought("error") != "login_required" {
			t.Errorf("after signing out, %s", a.location)
		}
	})
}
