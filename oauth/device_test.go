package oauth_test

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// The rules of RFC 8628, and the tests that hold them:
//
//	3.1   client_id or the client's authentication, a form by POST      TestDeviceRequestIsAllowedFor
//	3.1   scope, and resource of RFC 8707                               TestDeviceMayAskForWhatAuthorizeGrants
//	3.2   device_code, user_code, both links, expires_in, interval      TestDeviceIsToldBothCodesAndHowLong
//	3.2   not cached                                                    TestDeviceIsToldBothCodesAndHowLong
//	3.3   the user signs in and types the code                          TestTerminalSignsInByABrowser
//	3.3   of the flow nothing is said but to whoever knows the code     TestCodeThatIsWrongSaysNothing
//	3.3.1 a link with the code still asks whether it is the right one   TestLinkWithTheCodeIsConfirmedByThePerson
//	3.4   of the client that the code was issued to                     TestDeviceCodeIsOfItsClientAlone
//	3.5   authorization_pending                                         TestTerminalSignsInByABrowser
//	3.5   slow_down adds 5 seconds, to this and all later polls         TestPollingTooFastIsSlowed
//	3.5   access_denied                                                 TestConsentThatIsRefusedIsTold
//	3.5   expired_token                                                 TestDeviceCodeEndsAfterTenMinutes
//	5.1   user codes cannot be guessed within their life                TestUserCodesAreNotGuessed, and package device
//	5.2   nor device codes                                              TestDeviceIsToldBothCodesAndHowLong
//	5.3   one redemption                                                TestDeviceCodeIsRedeemedOnce,
//	                                                                    TestDevicePollsAtOnceGetOneAnswer
//	5.4   remote phishing: who asks, from where, since when             TestPageSaysWhoAsksFromWhereAndSinceWhen
//	5.4   always asked, also where all was allowed before               TestPersonIsAlwaysAsked
//	5.5   the code is short-lived                                       TestDeviceCodeEndsAfterTenMinutes
//	5.6   public clients get no more for it                             TestDeviceRequestIsAllowedFor
//	5.7   the code is not kept in the browser                           TestPageIsFramedAndCachedByNobody
var _ = oauth.Config{Devices: new(signin.SignIn), Levels: new(signin.SignIn)}

func TestTerminalSignsInByABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		done := make(chan page, 1)
		a := terminal{d, func(userCode, link string) {
			go func() {
				time.Sleep(42 * time.Second)
				p := d.person()
				asked := p.signIn(p.open(link).has(t, "the link", "Sign in first"))
				asked.has(t, "after the sign-in", "Connect a device", "exactly this code", userCode)
				asked = p.typeCode(userCode).has(t, "the question", "Terminal", "It is registered here", "192.0.2.1", userCode,
					"Use tools on your behalf")
				done <- p.answer(asked, "allow")
			}()
		}}.signIn("openid tools").tokens(t)
		if a := <-done; a.status != 200 {
			t.Errorf("the person is answered with %d: %s", a.status, a.text)
		}
		if a.text("scope") != "openid tools" || a.text("refresh_token") == "" || a.text("id_token") == "" ||
			a.text("token_type") != "Bearer" {
			t.Errorf("the tokens are %v", a.body)
		}
		if user, _ := a.body["user"].(map[string]any); user["nickname"] != "Ada" || user["openid"] == "" {
			t.Errorf("the user is %v, want the one of protocol 2.2", a.body["user"])
		}
		caller, err := d.nodes[0].tokens.Verify(t.Context(), a.text("access_token"))
		if err != nil || caller.UserID != d.ada.Sub || caller.AppID != d.app.ID {
			t.Errorf("the token is that of %+v, %v", caller, err)
		}
		d.post(d.nodes[0], "/oauth/token", form("grant_type", "refresh_token", "client_id", d.app.ID, "refresh_token",
			a.text("refresh_token"))).tokens(t)
	})
}

func TestDeviceIsToldBothCodesAndHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		a := d.begin()
		code, link := a.text("user_code"), issuer+"/oauth/device"
		if a.status != 200 || a.text("verification_uri") != link ||
			a.text("verification_uri_complete") != link+"?user_code="+code ||
			a.number("expires_in") != 600 || a.number("interval") != 5 {
			t.Errorf("the device is answered with %d %v", a.status, a.body)
		}
		if a.header.Get("Cache-Control") != "no-store" {
			t.Error("the answer may be kept")
		}
		if !regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(code) {
			t.Errorf("the code to type is %q", code)
		}
		raw, err := base64.RawURLEncoding.DecodeString(a.text("device_code"))
		if err != nil || len(raw) != 8+24 {
			t.Errorf("the device_code is %q, want the time and 192 random bits", a.text("device_code"))
		}
		if b := d.begin(); b.text("device_code") == a.text("device_code") || b.text("user_code") == code {
			t.Error("two devices have one code")
		}
		for _, doc := range d.documents("ticket") {
			if strings.Contains(doc, a.text("device_code")) {
				t.Error("the device_code itself is stored")
			}
		}
	})
}

func TestDeviceRequestIsAllowedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		shop := d.register(storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
		gone := d.register(storage.App{Name: "Gone", Public: true, Domains: []string{"gone.example.com"}, Disabled: true})
		secret := shop.AppKey().Reveal()
		own := d.stranger("https://tty.example.com/client.json", deviceGrant)
		browsers := d.stranger("https://web.example.com/client.json", "authorization_code")
		for _, c := range []struct {
			what, id, secret string
			status           int
			name             string
		}{
			{"a public application", d.app.ID, "", 200, ""},
			{"one with its secret", shop.ID, secret, 200, ""},
			{"one without its secret", shop.ID, "", 401, "invalid_client"},
			{"one with another secret", shop.ID, "x" + secret, 401, "invalid_client"},
			{"one that there is not", "ksnobody", "", 401, "invalid_client"},
			{"none", "-", "", 401, "invalid_client"},
			{"one that is disabled", gone.ID, "", 400, "unauthorized_client"},
			{"one by its document", own.ID, "", 200, ""},
			{"one whose document says nothing of devices", browsers.ID, "", 400, "unauthorized_client"},
		} {
			a := d.begin("client_id", c.id, "client_secret", cmp.Or(c.secret, "-"))
			if a.status != c.status || a.text("error") != c.name {
				t.Errorf("%s is answered with %d %v, want %d %s", c.what, a.status, a.body, c.status, c.name)
			}
		}
		r := httptest.NewRequest("POST", issuer+"/oauth/device_authorization", strings.NewReader("client_id="+d.app.ID))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(shop.ID, secret)
		w := httptest.NewRecorder()
		if d.nodes[0].ServeHTTP(w, r); w.Code != 400 {
			t.Errorf("Basic of one application and the client_id of another are answered with %d", w.Code)
		}
		w = httptest.NewRecorder()
		d.nodes[0].ServeHTTP(w, httptest.NewRequest("GET", issuer+"/oauth/device_authorization?client_id="+d.app.ID, nil))
		if w.Code != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("GET is answered with %d", w.Code)
		}
	})
}

func TestDeviceMayAskForWhatAuthorizeGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		bus := issuer + "/api/mcp"
		for _, c := range []struct {
			scope, resource string
			name, granted   string
		}{
			{"-", "-", "", "openid profile"},
			{"openid nonsense tools:shop openid", "-", "", "openid tools:shop"},
			{"tools", bus, "", "tools"},
			{"tools", "https://elsewhere.example.com/api/mcp", "invalid_target", ""},
			{"openid apps", "-", "invalid_scope", ""},
			{"app", "-", "", "openid profile"}, // of client_credentials alone, so unknown here
		} {
			begun := d.begin("scope", c.scope, "resource", c.resource)
			if begun.text("error") != c.name {
				t.Errorf("%q for %q is answered with %v, want %q", c.scope, c.resource, begun.body, c.name)
			}
			if c.name != "" {
				continue
			}
			d.person().signedIn().allow(begun)
			a := d.poll(d.nodes[0], begun).tokens(t)
			if a.text("scope") != c.granted {
				t.Errorf("%q is granted as %q, want %q", c.scope, a.text("scope"), c.granted)
			}
			aud := issuer
			if c.resource != "-" {
				aud = c.resource
			}
			if got := payload(t, a.text("access_token"))["aud"]; got != aud {
				t.Errorf("the token is for %v, want %s", got, aud)
			}
		}
	})
}

func TestLinkWithTheCodeIsConfirmedByThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		shown := p.open(begun.text("verification_uri_complete"))
		shown.has(t, "the link", "Go on only if it shows exactly this code.")
		if m := typedField.FindStringSubmatch(shown.text); m == nil || m[1] != begun.text("user_code") {
			t.Errorf("the code is not filled in: %v", m)
		}
		if strings.Contains(shown.text, "Terminal") || shown.fields().Has("ticket") {
			t.Error("the link alone shows who asks, or can be answered")
		}
		if a := p.open(issuer + "/oauth/device?user_code=" + url.QueryEscape(`"><script>`)); strings.Contains(a.text, "script>") {
			t.Error("what is no code is on the page")
		}
		d.poll(d.nodes[0], begun).wants(t, "a poll", 400, 400, "authorization_pending")
	})
}

func TestPageSaysWhoAsksFromWhereAndSinceWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		evil := d.stranger("https://evil.example.com/client.json", deviceGrant)
		begun := d.begin("client_id", evil.ID, "scope", "openid email")
		time.Sleep(3*time.Minute + time.Second)
		p := d.person().signedIn()
		const elsewhere = "This was begun in another network than yours."
		p.typeCode(begun.text("user_code")).has(t, "the question", "evil.example.com", "<bdi>Your Bank</bdi>", "not verified",
			"Nobody: it is not registered here",
			"192.0.2.1", "an unknown browser", "3 minutes ago", "See your email address",
			"Go on only if you started this yourself", "Nobody from support ever asks for this.")
		if a := p.typeCode(begun.text("user_code")); strings.Contains(a.text, elsewhere) {
			t.Error("the own network is said to be another")
		}
		p.from = "198.51.100.7:443"
		p.typeCode(begun.text("user_code")).has(t, "the question elsewhere", elsewhere)
		p.lang = "zh-CN"
		zh := p.typeCode(begun.text("user_code")).has(t, "in Chinese", "3 分钟前", "此请求是从另一个网络发起的", "客服人员绝不会要求您这样做")
		for _, english := range []string{"Allow", "ago", "network", "device in front"} {
			if strings.Contains(visible(zh.text), english) {
				t.Errorf("the Chinese page says %q", english)
			}
		}
	})
}

func TestPersonIsAlwaysAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		ours := d.register(storage.App{Name: "Ours", Public: true, FirstParty: true, Domains: []string{"ours.example.com"}})
		for range 2 {
			begun := d.begin("client_id", ours.ID)
			p := d.person().signedIn()
			asked := p.typeCode(begun.text("user_code")).has(t, "the question", "Allow a device to use your account?", "Ours")
			time.Sleep(6 * time.Second)
			d.poll(d.nodes[0], begun, "client_id", ours.ID).wants(t, "before the answer", 400, 400, "authorization_pending")
			p.answer(asked, "allow")
			time.Sleep(6 * time.Second)
			d.poll(d.nodes[0], begun, "client_id", ours.ID).tokens(t)
		}
		if c, err := d.nodes[0].store.Consent(t.Context(), ours.ID, d.ada.Sub); err != nil || c.Scope != "openid profile" {
			t.Errorf("the consent is %+v, %v", c, err)
		}
	})
}

func TestDeviceCodeIsOfItsClientAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		other := d.register(storage.App{Name: "Other", Public: true, Domains: []string{"other.example.com"}})
		begun := d.allowed()
		for range 3 { // without a pause: it slows nobody down
			d.poll(d.nodes[0], begun, "client_id", other.ID).wants(t, "another client", 400, 400, "invalid_grant")
		}
		d.poll(d.nodes[0], begun, "device_code", begun.text("device_code")+"A").wants(t, "another code", 400, 400,
			"invalid_grant")
		d.poll(d.nodes[0], begun, "device_code", "-").wants(t, "no code", 400, 400, "invalid_request")
		d.post(d.nodes[0], "/oauth/token", form("grant_type", "authorization_code", "client_id", d.app.ID, "code",
			begun.text("device_code"))).
			wants(t, "a device_code as a code", 400, 400, "invalid_grant")
		d.poll(d.nodes[0], begun).tokens(t)
		d.post(d.nodes[0], "/oauth/token", form("grant_type", "authorization_code", "client_id", d.app.ID, "code",
			begun.text("device_code"))).
			wants(t, "a redeemed device_code as a code", 400, 400, "invalid_grant")
	})
}

func TestPollingTooFastIsSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		for i, step := range []struct {
			after time.Duration
			name  string
		}{
			{0, "authorization_pending"},
			{5*time.Second - 1, "slow_down"}, // 10 s from now on
			{10*time.Second - 1, "slow_down"},
			{15 * time.Second, "authorization_pending"},
			{15 * time.Second, "authorization_pending"},
			{5 * time.Second, "slow_down"}, // and none of it is forgotten
			{19 * time.Second, "slow_down"},
			{25 * time.Second, "authorization_pending"},
		} {
			time.Sleep(step.after)
			if a := d.poll(d.nodes[0], begun); a.text("error") != step.name {
				t.Errorf("poll %d, after %v, is answered with %v, want %s", i+1, step.after, a.body, step.name)
			}
		}
		if a := d.poll(d.nodes[0], d.begin()); a.text("error") != "authorization_pending" {
			t.Errorf("another device is answered with %v", a.body)
		}
		if n := len(d.events(event.Token)); n != 2 {
			t.Errorf("polls without an answer are %d events, want the two that began", n)
		}
	})
}

func TestConsentThatIsRefusedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		p.answer(p.typeCode(begun.text("user_code")), "deny").has(t, "a no", "You have rejected it")
		for range 2 {
			d.poll(d.nodes[0], begun).wants(t, "a poll after a no", 400, 400, "access_denied")
			time.Sleep(5 * time.Second)
		}
		if _, err := d.nodes[0].store.Consent(t.Context(), d.app.ID, d.ada.Sub); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a consent to what was denied: %v", err)
		}
		if e := d.events(event.Consent); len(e) != 1 || e[0].Detail != "denied a device at 192.0.2.1" ||
			e[0].User != d.ada.Sub || e[0].App != d.app.ID {
			t.Errorf("the trail has %+v", e)
		}
	})
}

func TestTrailSaysWhoAllowedWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		d.poll(d.nodes[0], d.allowed("scope", "openid tools")).tokens(t)
		if e := d.events(event.Consent); len(e) != 1 || e[0].Detail != "allowed openid tools on a device at 192.0.2.1" ||
			e[0].User != d.ada.Sub || e[0].App != d.app.ID {
			t.Errorf("the trail has %+v", e)
		}
		if e := d.events(event.Token); len(e) != 2 || e[1].Detail != "device_code" || e[1].User != d.ada.Sub ||
			e[1].Anonymous {
			t.Errorf("the trail has %+v", e)
		}
	})
}

func TestDeviceCodeEndsAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		unanswered, late, kept := d.begin(), d.begin(), d.allowed()
		p := d.person().signedIn()
		asked := p.typeCode(late.text("user_code"))
		time.Sleep(10*time.Minute - time.Second)
		d.poll(d.nodes[0], unanswered).wants(t, "a second before", 400, 400, "authorization_pending")
		time.Sleep(time.Second)
		p.typeCode(late.text("user_code")).has(t, "a late code", "There is no such code, or it has expired.")
		p.answer(asked, "allow").has(t, "a late answer", "has expired")
		for what, begun := range map[string]answer{"unanswered": unanswered, "answered too late": late,
			"allowed and not fetched": kept} {
			d.poll(d.nodes[0], begun).wants(t, what, 400, 400, "expired_token")
		}
		if _, err := d.nodes[0].store.Consent(t.Context(), d.app.ID, d.ada.Sub); err != nil {
			t.Errorf("the one in time has no consent: %v", err)
		}
		time.Sleep(time.Hour)
		for range 3 {
			must(d.calls.Sweep(t.Context(), time.Now(), 1000))(t)
		}
		d.poll(d.nodes[0], kept).wants(t, "swept", 400, 400, "expired_token")
	})
}

func TestPageIsFramedAndCachedByNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code"))
		for what, a := range map[string]page{"the code": p.open(issuer + "/oauth/device"), "the question": asked,
			"the sign-in": d.person().open(issuer + "/oauth/device"), "the answer": p.answer(asked, "allow")} {
			h := a.header
			if h.Get("Cache-Control") != "no-store" || h.Get("X-Frame-Options") != "DENY" ||
				!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
				!strings.Contains(h.Get("Content-Security-Policy"), "form-action 'self'") || h.Get("Referrer-Policy") == "" {
				t.Errorf("%s has the headers %v", what, h)
			}
		}
	})
}

func TestDevicePageAnswersNothingToAnotherSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		begun := d.begin()
		p := d.person().signedIn()
		v := p.typeCode(begun.text("user_code")).fields()
		v.Set("allow", "1")
		for name, value := range map[string]string{"Origin": "https://evil.example.com", "Sec-Fetch-Site": "cross-site"} {
			for _, form := range []url.Values{v, {"user_code": {begun.text("user_code")}}, {"other": {"1"}}} {
				r := httptest.NewRequest("POST", issuer+"/oauth/device", strings.NewReader(form.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set(name, value)
				if a := p.send(r); a.status != 403 {
					t.Errorf("%s: %s is answered with %d", name, value, a.status)
				}
			}
		}
		d.poll(d.nodes[0], begun).wants(t, "a poll", 400, 400, "authorization_pending")
		p.open(issuer+"/oauth/device").has(t, "the page afterwards", "Connect a device")
	})
}

// The answer counts for the user and the application that the page was about.
func TestAnswerOfSomebodyElseCountsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		tty := d.stranger("https://tty.example.com/client.json", deviceGrant)
		begun := d.begin("client_id", tty.ID)
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code"))
		for what, change := range map[string][2]string{"another user": {"user", "usomebody"}, "no user": {"user", ""},
			"other terms": {"terms", "x"}, "no ticket": {"ticket", "x"}, "another ticket": {"ticket", strings.Repeat("0", 64)}} {
			v := asked.fields()
			v.Set("allow", "1")
			v.Set(change[0], change[1])
			if a := p.submit("/oauth/device", v); strings.Contains(a.text, "connected") {
				t.Errorf("%s is taken: %s", what, a.text)
			}
		}
		v := asked.fields()
		v.Set("allow", "1")
		v.Set("deny", "1")
		if a := p.submit("/oauth/device", v); a.status != 400 {
			t.Errorf("yes and no is answered with %d", a.status)
		}
		nobody := d.person()
		nobody.answer(asked, "allow").has(t, "nobody", "Sign in first")
		d.poll(d.nodes[0], begun, "client_id", tty.ID).wants(t, "a poll", 400, 400, "authorization_pending")
	})
}
