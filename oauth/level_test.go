package oauth_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// recoveryCode is the n-th recovery code of Ada.
func recoveryCode(n int) string { return strings.Repeat("ABCDEFGHIJ"[n:n+1], 16) }

// withFactor gives Ada a second factor.
func (d *devices) withFactor() {
	d.Helper()
	f := storage.Factors{UserID: d.ada.Sub, Authenticator: &authn.Authenticator{CreatedAt: time.Now()},
		AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXP")}
	for n := range 10 {
		f.Recovery = append(f.Recovery, authn.RecoveryCode{Hash: handle.Hash(recoveryCode(n))})
	}
	must(d.nodes[0].store.SaveFactors(d.Context(), f))(d.TB)
}

// shop is an application with a secret, whose users sign in to its web site.
type shop struct {
	*devices
	app storage.App
}

func (d *devices) shop(change func(*storage.App)) shop {
	d.Helper()
	app := storage.App{Name: "Shop", Domains: []string{"shop.example.com"}, FirstParty: true}
	if change != nil {
		change(&app)
	}
	return shop{d, d.register(app)}
}

func (s shop) request(pairs ...string) string {
	return "/oauth/authorize?" + form(append([]string{
		"response_type", "code", "client_id", s.app.ID, "redirect_uri", "https://shop.example.com/back", "scope",
		"openid profile",
	}, pairs...)...).Encode()
}

// walk opens a path and follows redirects within the service. It returns the last page, and its path.
func (p *person) walk(path string) (page, string) {
	p.Helper()
	for range 5 {
		a := p.send(httptest.NewRequest("GET", issuer+path, nil))
		to := a.header.Get("Location")
		if to == "" || strings.HasPrefix(to, "https://shop") {
			return a, path
		}
		path = to
	}
	p.Fatal("redirects do not end")
	return page{}, ""
}

// submitOn is submit that follows redirects as walk does.
func (p *person) submitOn(path string, v url.Values) (page, string) {
	p.Helper()
	r := httptest.NewRequest("POST", issuer+path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", issuer)
	a := p.send(r)
	if to := a.header.Get("Location"); to != "" {
		return p.walk(to)
	}
	return a, path
}

// claims redeems the code that a browser was sent back with, and returns what the id_token says.
func (s shop) claims(a page) map[string]any {
	s.Helper()
	back := must(url.Parse(a.header.Get("Location")))(s.TB)
	code := back.Query().Get("code")
	if code == "" {
		s.Fatalf("%d to %q, want a code", a.status, back)
	}
	tokens := s.post(s.nodes[0], "/oauth/token", form("grant_type", "authorization_code", "client_id", s.app.ID,
		"client_secret", s.app.AppKey().Reveal(),
		"code", code, "redirect_uri", "https://shop.example.com/back")).tokens(s.TB)
	first := payload(s.TB, tokens.text("id_token"))
	again := s.post(s.nodes[0], "/oauth/token", form("grant_type", "refresh_token", "client_id", s.app.ID, "client_secret",
		s.app.AppKey().Reveal(),
		"refresh_token", tokens.text("refresh_token"))).tokens(s.TB)
	second := payload(s.TB, again.text("id_token"))
	if fmt.Sprint(first["acr"], first["amr"], first["auth_time"]) != fmt.Sprint(second["acr"], second["amr"],
		second["auth_time"]) {
		s.Errorf("after a refresh the id_token says %v, before %v", second, first)
	}
	return first
}

func TestApplicationThatAsksForTwoFactorsGetsThemAndIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		s, p := d.shop(nil), d.person()
		a, _ := p.walk(s.request())
		a, _ = p.submitOn("/oauth/signin", withFields(a, "username", "ada", "password", password))
		if c := s.claims(a); c["acr"] != nil || c["amr"] != nil {
			t.Errorf("an application that has not asked learns %v, %v", c["acr"], c["amr"])
		}
		d.withFactor()
		a, _ = p.walk(s.request("acr_values", "unknown"))
		if c := s.claims(a); c["acr"] != nil || fmt.Sprint(c["amr"]) != "[pwd]" {
			t.Errorf("for a level that nobody knows: %v, %v; want no acr, and pwd", c["acr"], c["amr"])
		}
		a, _ = p.walk(s.request("acr_values", "mfa", "prompt", "none"))
		if to := a.header.Get("Location"); !strings.Contains(to, "error=login_required") {
			t.Errorf("prompt=none leads to %q, want login_required", to)
		}
		time.Sleep(time.Hour)
		signedIn := time.Now().Add(-time.Hour)
		a, at := p.walk(s.request("acr_values", "gold mfa", "state", "7"))
		if at != "/oauth/signin/factor" || a.status != 200 {
			t.Fatalf("acr_values=mfa leads to %s = %d, want the page of the second factor", at, a.status)
		}
		a, _ = p.submitOn(at, form("recovery", recoveryCode(0)))
		if !strings.Contains(a.header.Get("Location"), "state=7") {
			t.Errorf("it ends at %q, want the application with its state", a.header.Get("Location"))
		}
		c := s.claims(a)
		if c["acr"] != "mfa" || fmt.Sprint(c["amr"]) != "[pwd otp mfa]" {
			t.Errorf("after it the id_token says %v, %v", c["acr"], c["amr"])
		}
		if c["auth_time"] != float64(signedIn.Unix()) {
			t.Errorf("auth_time = %v, want the first sign-in's, %v: a code alone makes no old session fresh", c["auth_time"],
				signedIn.Unix())
		}
		if a, _ = p.walk(s.request("acr_values", "phr")); s.claims(a)["acr"] != "mfa" { // Ada has no passkey
			t.Error("who has no passkey cannot go on, or passes for somebody with one")
		}
		if c := s.claims(must1(p.walk(s.request()))); c["acr"] != "mfa" {
			t.Errorf("with two factors every application is told: %v", c["acr"])
		}
	})
}

func TestApplicationThatRequiresTwoFactorsHasNoOtherWayIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		lax, p := d.shop(nil), d.person()
		strict := d.shop(func(a *storage.App) { a.MFA = authn.MFARequired })
		a, _ := p.walk(lax.request())
		a, _ = p.submitOn("/oauth/signin", withFields(a, "username", "ada", "password", password))
		lax.claims(a)
		d.withFactor()
		a, at := p.walk(strict.request())
		if at != "/oauth/signin/factor" {
			t.Fatalf("it leads to %s = %d, want the second factor", at, a.status)
		}
		lax.claims(must1(p.walk(lax.request()))) // the old session goes on elsewhere
		one := storage.Session{UserID: d.ada.Sub, LoginType: storage.LoginSelf, AMR: authn.AMRPassword, AuthTime: time.Now()}
		legacy := func(v storage.Session) error {
			_, err := d.nodes[0].provider.Legacy().Code(t.Context(), strict.app, v, "https://shop.example.com/back",
				netip.Addr{})
			return err
		}
		if err := legacy(one); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a code of the old endpoints for a sign-in with one factor: %v, want ErrNotFound", err)
		}
		two := one
		two.AMR = "pwd otp mfa"
		if err := legacy(two); err != nil {
			t.Errorf("a code of the old endpoints for a sign-in with two factors: %v", err)
		}
		a, _ = p.submitOn(at, form("recovery", recoveryCode(1)))
		if c := strict.claims(a); c["acr"] != "mfa" {
			t.Errorf("the strict application is told %v", c["acr"])
		}
	})
}

// A host that has forgotten Levels must notice it: the rule that the operator has set for the application stays.
func TestApplicationThatRequiresTwoFactorsIsRefusedWithoutLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1, func(c *oauth.Config) { c.Levels = nil })
		lax, p := d.shop(nil), d.person()
		strict := d.shop(func(a *storage.App) { a.MFA = authn.MFARequired })
		a, _ := p.walk(lax.request())
		a, _ = p.submitOn("/oauth/signin", withFields(a, "username", "ada", "password", password))
		lax.claims(a)
		a, _ = p.walk(strict.request())
		to := must(url.Parse(a.header.Get("Location")))(t).Query()
		if to.Has("code") || to.Get("error") != "unauthorized_client" ||
			!strings.Contains(to.Get("error_description"), "sets Levels of the oauth.Config") {
			t.Errorf("one factor gets %v, want a refusal that says what to set", to)
		}
		two := storage.Session{UserID: d.ada.Sub, LoginType: storage.LoginSelf, AMR: "pwd otp mfa", AuthTime: time.Now()}
		back := "https://shop.example.com/back"
		if code, err := d.nodes[0].provider.Legacy().Code(t.Context(), strict.app, two, back, netip.Addr{}); code != "" ||
			err == nil || errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Legacy().Code = %q, %v, want a refusal that is no missing consent", code, err)
		}
		a, _ = p.walk(d.nodes[0].provider.Legacy().SignIn(strict.app, "self", back, "")[len(issuer):])
		if to := a.header.Get("Location"); a.status != 400 || to != "" || !strings.Contains(a.text, "sets Levels") {
			t.Errorf("a sign-in of the old endpoints is answered with %d, %q", a.status, to)
		}
		begun := d.post(d.nodes[0], "/oauth/device_authorization", form("client_id", strict.app.ID, "client_secret",
			strict.app.AppKey().Reveal()))
		begun.wants(t, "a device of it", 400, 400, "unauthorized_client")
	})
}

// Ada has no passkey: a page that takes nothing else would be a dead end.
func TestLevelWithoutAPasskeyIsReachedByOtherFactors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		d.withFactor()
		s, p := d.shop(nil), d.person()
		a, _ := p.walk(s.request("acr_values", "phr"))
		a, at := p.submitOn("/oauth/signin", withFields(a, "username", "ada", "password", password))
		if at != "/oauth/signin/factor" || !strings.Contains(a.text, `name="code"`) {
			t.Fatalf("the sign-in leads to %s = %d, want a page that takes a code", at, a.status)
		}
		a, _ = p.submitOn(at, form("recovery", recoveryCode(2)))
		if c := s.claims(a); c["acr"] != "mfa" {
			t.Errorf("the application is told %v, want mfa", c["acr"])
		}
	})
}

// Nobody who has one factor goes on where two are wanted: they add one on the way.
func TestLevelWithoutASecondFactorAsksToAddOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		strict, p := d.shop(func(a *storage.App) { a.MFA = authn.MFARequired }), d.person()
		a, _ := p.walk(strict.request())
		if _, at := p.submitOn("/oauth/signin", withFields(a, "username", "ada", "password",
			password)); at != "/oauth/signin/factor/new" {
			t.Errorf("the sign-in leads to %s, want the page that adds a factor", at)
		}
		other := d.person()
		a, _ = other.walk(d.shop(nil).request())
		other.submitOn("/oauth/signin", withFields(a, "username", "ada", "password", password))
		for _, asked := range []string{strict.request(), d.shop(nil).request("acr_values", "mfa")} {
			if _, at := other.walk(asked); at != "/oauth/signin/factor/new" {
				t.Errorf("a session with one factor is led to %s, want the page that adds a factor", at)
			}
		}
	})
}

func TestSecondMetadataDocumentNamesTheLevels(t *testing.T) {
	d := newDevices(t, 1)
	a, _ := d.person().walk("/.well-known/oauth-authorization-server")
	if !strings.Contains(a.text, `"acr_values_supported":["mfa","phr"]`) {
		t.Error(a.text)
	}
	if exact, _ := d.person().walk("/.well-known/openid-configuration"); strings.Contains(exact.text, "acr") {
		t.Error("the document of protocol 2.5 has grown")
	}
	without := newDevices(t, 1, func(c *oauth.Config) { c.Levels = nil })
	if a, _ := without.person().walk("/.well-known/oauth-authorization-server"); strings.Contains(a.text, "acr") {
		t.Error("levels are offered by who has none")
	}
}

// withFields returns the hidden fields of a page, and others.
func withFields(a page, pairs ...string) url.Values {
	v := a.fields()
	for two := range slices.Chunk(pairs, 2) {
		v.Set(two[0], two[1])
	}
	return v
}

func must1(a page, _ string) page { return a }
