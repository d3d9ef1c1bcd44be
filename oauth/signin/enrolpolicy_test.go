package signin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

func TestEnrolPolicyRemindsAndThenRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, required(3*24*time.Hour))
		b := newBrowser(f)
		a := b.first("query", "client_id=x&state=1")
		if _, in := b.session(); a.Header().Get("Location") != factor.RemindPath || in {
			t.Fatalf("the first sign-in = %d to %q", a.Code, a.Header().Get("Location"))
		}
		if a := b.do(get(factor.RemindPath)); a.Code != 200 || !strings.Contains(a.body,
			web.DayOf("en", time.Now().Add(3*24*time.Hour))) || !strings.Contains(a.body, "Later") {
			t.Errorf("the reminder = %d %s", a.Code, a.body)
		}
		a = b.form(factor.LaterPath)
		if v, in := b.session(); a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?client_id=x&state=1" ||
			!in || v.AMR != "pwd" {
			t.Fatalf("later = %d to %q, %+v", a.Code, a.Header().Get("Location"), v)
		}
		if a := b.do(get(web.AccountPath)); !strings.Contains(a.body, "A second factor is required of you") {
			t.Error("the account page does not say until when")
		}
		time.Sleep(2 * 24 * time.Hour) // another sign-in does not begin the time anew
		b.first()
		if a := b.form(factor.LaterPath); a.Code != 303 {
			t.Errorf("later on the second day = %d", a.Code)
		}
		time.Sleep(25 * time.Hour)
		a = b.first("query", "client_id=x&state=1")
		if a.Header().Get("Location") != factor.EnrolPath {
			t.Fatalf("when the time is over the sign-in leads to %q", a.Header().Get("Location"))
		}
		if a := b.form(factor.LaterPath); a.Header().Get("Location") != factor.EnrolPath {
			t.Errorf("later = %d to %q", a.Code, a.Header().Get("Location"))
		}
		p, a := b.adds(factor.EnrolPath)
		v, in := b.session()
		if a.Code != 200 || len(recoveryOn(a)) != 10 || !in || v.AMR != "pwd otp mfa" ||
			f.factors(f.mina.Sub).AppSecret.Reveal() != p.secret {
			t.Fatalf("set up = %d, signed in %v: %s", a.Code, in, a.body)
		}
		if next := nextOnPage.FindStringSubmatch(a.body)[1]; next != "/oauth/authorize?client_id=x&amp;state=1" {
			t.Errorf("the codes lead to %q", next)
		}
		if since := f.factors(f.mina.Sub).DueSince; !since.IsZero() {
			t.Errorf("it is still due since %v", since)
		}
		if a := b.do(get(factor.EnrolPath)); a.Code != 400 {
			t.Errorf("the sign-in that has gone on waits still: %d", a.Code)
		}
	})
}

func TestTimeThatIsOverInTheMiddleEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, required(5*time.Minute))
		b := newBrowser(f)
		b.first()
		time.Sleep(6 * time.Minute)
		a := b.form(factor.LaterPath)
		if _, in := b.session(); a.Header().Get("Location") != factor.EnrolPath || in {
			t.Errorf("later = %d to %q, signed in %v", a.Code, a.Header().Get("Location"), in)
		}
	})
}

func TestPolicyOfARoleGoesBeforeTheDefault(t *testing.T) {
	for name, c := range map[string]struct {
		policy authn.Policy
		to     string
		offers bool
	}{
		"zero":                {authn.Policy{}, web.FormPath, true},
		"off for all":         {authn.Policy{Default: authn.MFAOff}, web.FormPath, false},
		"required of another": {authn.Policy{Roles: map[string]string{"admin": authn.MFARequired}}, web.FormPath, true},
		"required of the role": {authn.Policy{Default: authn.MFAOff,
			Roles: map[string]string{"developer": authn.MFARequired}}, factor.RemindPath, true},
		"required, no grace": {authn.Policy{Default: authn.MFARequired, Grace: -1}, factor.EnrolPath, true},
		"required, but off now": {authn.Policy{Default: authn.MFARequired,
			Roles: map[string]string{"developer": authn.MFAOff}}, web.FormPath, false},
	} {
		f := newFixture(t, func(c2 *Config) { c2.MFA = c.policy })
		f.mina.Role = storage.RoleDeveloper
		_, err := f.store.SaveUser(context.Background(), f.mina)
		must(t, err)
		b := newBrowser(f)
		if a := b.first(); a.Code != 303 || a.Header().Get("Location") != c.to {
			t.Errorf("%s: sign-in = %d to %q, want %q", name, a.Code, a.Header().Get("Location"), c.to)
		}
		if c.to != web.FormPath {
			continue
		}
		page := addingOn(b.do(get(enrol.AppPath)))
		if (page.secret != "") != c.offers {
			t.Errorf("%s: an app is offered: %v", name, !c.offers)
		}
		b.form(enrol.AppPath, "code", "123456")
		if strings.Contains(b.do(get(enrol.Path)).body, "It is not offered") == c.offers {
			t.Errorf("%s: the page offers one: %v", name, !c.offers)
		}
	}
}

// A policy that asks for none any longer, and later does again, begins the time anew; so does a reset.
func TestTimeBeginsAnewAfterAPolicyThatAskedForNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, required(time.Hour))
		newBrowser(f).first()
		first := f.factors(f.mina.Sub).DueSince
		if !first.Equal(time.Now()) {
			t.Fatalf("due since %v", first)
		}
		f.SignIn.factors.Policy.Default = authn.MFAOffered
		time.Sleep(2 * time.Hour)
		newBrowser(f).first()
		if since := f.factors(f.mina.Sub).DueSince; !since.IsZero() {
			t.Errorf("due since %v, want never", since)
		}
		f.SignIn.factors.Policy.Default = authn.MFARequired
		if a := newBrowser(f).first(); a.Header().Get("Location") != factor.RemindPath {
			t.Errorf("it leads to %q", a.Header().Get("Location"))
		}
	})
}

func TestApplicationThatRequiresAFactorGetsOneAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	app, err := f.store.Store.App(context.Background(), "ksacme")
	must(t, err)
	app.MFA = authn.MFARequired
	_, err = f.store.SaveApp(context.Background(), app)
	must(t, err)
	if a := newBrowser(f).first(); a.Header().Get("Location") != web.FormPath {
		t.Errorf("a sign-in without the application leads to %q", a.Header().Get("Location"))
	}
	b := newBrowser(f)
	if a := b.first("query", authorizeQuery); a.Header().Get("Location") != factor.EnrolPath {
		t.Fatalf("it leads to %q", a.Header().Get("Location"))
	}
	if a := b.form(factor.LaterPath); a.Header().Get("Location") != factor.EnrolPath {
		t.Errorf("later = %d to %q", a.Code, a.Header().Get("Location"))
	}
	if _, a := b.adds(factor.EnrolPath); a.Code != 200 ||
		nextOnPage.FindStringSubmatch(a.body)[1] != "/oauth/authorize?"+strings.ReplaceAll(strings.ReplaceAll(authorizeQuery,
			"&", "&amp;"), "+", "&#43;") && !strings.Contains(a.body, "/oauth/authorize?client_id=ksacme") {
		t.Errorf("set up = %d %s", a.Code, a.body)
	}
	if !f.factors(f.mina.Sub).DueSince.IsZero() {
		t.Error("the application's wish has begun a time of the policy")
	}
}

// The time that a policy gives is not the application's to give.
func TestApplicationThatRequiresAFactorDoesNotWaitForThePolicy(t *testing.T) {
	f := newFixture(t, required(time.Hour))
	app, err := f.store.Store.App(context.Background(), "ksacme")
	must(t, err)
	app.MFA = authn.MFARequired
	_, err = f.store.SaveApp(context.Background(), app)
	must(t, err)
	b := newBrowser(f)
	if a := b.first("query", authorizeQuery); a.Header().Get("Location") != factor.EnrolPath {
		t.Errorf("it leads to %q", a.Header().Get("Location"))
	}
	a := b.form(factor.LaterPath)
	if _, in := b.session(); a.Header().Get("Location") != factor.EnrolPath || in {
		t.Errorf("later = %d to %q, signed in %v", a.Code, a.Header().Get("Location"), in)
	}
}
