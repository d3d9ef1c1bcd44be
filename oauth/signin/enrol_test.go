package signin

import (
	"context"
	"encoding/base32"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

var (
	keyOnPage     = regexp.MustCompile(`<code class="key"[^>]*>([A-Z2-7 ]+)</code>`)
	insteadOnPage = regexp.MustCompile(`name="instead" value="([^"]*)"`)
	codesOnPage   = regexp.MustCompile(`(?s)<pre class="codes">(.*)</pre>`)
	nextOnPage    = regexp.MustCompile(`<a class="button" href="([^"]+)"`)
)

// adding is the page of an app, as a user sees it.
type adding struct{ secret, instead string }

func addingOn(a answer) (p adding) {
	if m := keyOnPage.FindStringSubmatch(a.body); m != nil {
		p.secret = strings.ReplaceAll(m[1], " ", "")
	}
	if m := insteadOnPage.FindStringSubmatch(a.body); m != nil {
		p.instead = m[1]
	}
	return p
}

func recoveryOn(a answer) []string {
	if m := codesOnPage.FindStringSubmatch(a.body); m != nil {
		return strings.Fields(m[1])
	}
	return nil
}

func (f *fixture) factors(sub string) storage.Factors {
	f.t.Helper()
	all, err := f.store.Store.Factors(context.Background(), sub)
	must(f.t, err)
	return all
}

// adds sets up an app on a page, and returns the answer.
func (b *browser) adds(path string) (adding, answer) {
	p := addingOn(b.do(get(path)))
	return p, b.form(path, "code", codeNow(p.secret, 0), "instead", p.instead)
}

// required makes a second factor required of everybody.
func required(grace time.Duration) func(*Config) {
	return func(c *Config) { c.MFA = authn.Policy{Default: authn.MFARequired, Grace: grace} }
}

func TestASignedInUserSetsUpAnApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, written := newFixture(t, nil), &fakeAudit{}
		f.steps.Trail = trail.New(written, f.steps.Peer)
		b := newBrowser(f)
		b.first()
		if a := b.do(get(web.AccountPath)); !strings.Contains(a.body, `href="`+enrol.Path+`"`) {
			t.Error("the account page has no link to the factors")
		}
		if a := b.do(get(enrol.Path)); a.Code != 200 || !strings.Contains(a.body, `href="`+enrol.AppPath+`"`) || strings.Contains(a.body, "Recovery codes") {
			t.Errorf("the page of who has none = %d %s", a.Code, a.body)
		}
		page := b.do(get(enrol.AppPath))
		p := addingOn(page)
		raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(p.secret)
		if page.Code != 200 || len(raw) != 20 || err != nil || !strings.Contains(page.body, "<svg") || page.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("the page of the app = %d, key %q: %s", page.Code, p.secret, page.body)
		}
		if again := addingOn(b.do(get(enrol.AppPath))); again != p {
			t.Error("loaded again, the page shows another key")
		}
		for _, wrong := range []string{"", "000000", codeNow(p.secret, -2), codeNow(p.secret, 2)} {
			if a := b.form(enrol.AppPath, "code", wrong, "instead", p.instead); a.Code != 400 || f.factors(f.mina.Sub).Any() {
				t.Errorf("with the code %q it = %d", wrong, a.Code)
			}
		}
		before := b.jar["open_sso_token"]
		a := b.form(enrol.AppPath, "code", codeNow(p.secret, 0), "instead", p.instead)
		codes := recoveryOn(a)
		if a.Code != 200 || len(codes) != 10 || a.Header().Get("Cache-Control") != "no-store" || nextOnPage.FindStringSubmatch(a.body)[1] != enrol.Path {
			t.Fatalf("the right code = %d with %q: %s", a.Code, codes, a.body)
		}
		v, in := b.session()
		if !in || v.AMR != "pwd otp mfa" || b.jar["open_sso_token"] == before {
			t.Errorf("the session is %+v, want a new one with two factors", v)
		}
		kept := f.factors(f.mina.Sub)
		if kept.AppSecret.Reveal() != p.secret || kept.CodesLeft() != 10 || !kept.DueSince.IsZero() {
			t.Errorf("kept is %+v", kept)
		}
		notes := strings.Join(written.notes, "\n")
		if !strings.Contains(notes, "second factors: none (epoch 0) -> app of") {
			t.Errorf("the trail holds %q", written.notes)
		}
		for what, seen := range map[string]string{"the page of factors": b.do(get(enrol.Path)).body, "the log": f.log.String(), "the trail": notes} {
			if strings.Contains(seen, p.secret) || strings.Contains(seen, codes[0]) {
				t.Errorf("%s holds the key or a code", what)
			}
		}
		other := newBrowser(f)
		other.first()
		if a := other.form(factor.Path, "code", codeNow(p.secret, 0)); a.Code != 401 {
			t.Errorf("the code that set it up, once more = %d, want 401", a.Code)
		}
		if a := other.form(factor.Path, "recovery", codes[3]); a.Code != 303 {
			t.Errorf("a recovery code that was shown = %d", a.Code)
		}
	})
}

func TestRecoveryCodesAreMadeAnewAndTheUserIsWarnedOfFew(t *testing.T) {
	f := newFactorFixture(t, nil)
	b := newBrowser(f.fixture)
	for i := range 7 {
		b.first()
		if a := b.form(factor.Path, "recovery", f.recovery[i]); a.Code != 303 {
			t.Fatalf("recovery code %d = %d", i, a.Code)
		}
	}
	if a := b.do(get(enrol.Path)); !strings.Contains(a.body, "Only 3 are left") {
		t.Errorf("nobody warns of few codes: %s", a.body)
	}
	a := b.form(enrol.CodesPath)
	codes := recoveryOn(a)
	if a.Code != 200 || len(codes) != 10 || a.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("new codes = %d %q", a.Code, codes)
	}
	if a := b.do(get(enrol.Path)); strings.Contains(a.body, codes[0]) || !strings.Contains(a.body, "10 are left") {
		t.Errorf("the page holds a code: %s", a.body)
	}
	other := newBrowser(f.fixture)
	other.first()
	if a := other.form(factor.Path, "recovery", f.recovery[9]); a.Code != 401 {
		t.Errorf("an old code = %d, want 401", a.Code)
	}
	if a := other.form(factor.Path, "recovery", codes[9]); a.Code != 303 {
		t.Errorf("a new code = %d, want 303", a.Code)
	}
}

func TestAnAppIsReplacedWithoutATimeInBetweenAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFactorFixture(t, nil)
		b := newBrowser(f.fixture)
		b.first()
		b.form(factor.Path, "code", codeNow(secondSecret, 0))
		p, a := b.adds(enrol.AppPath)
		if a.Code != 303 || a.Header().Get("Location") != enrol.Path { // the codes that are left are kept
			t.Fatalf("another app = %d %s", a.Code, a.body)
		}
		if kept := f.factors(f.mina.Sub); kept.AppSecret.Reveal() != p.secret || kept.Epoch != 1 || kept.CodesLeft() != 10 {
			t.Errorf("kept is %+v", kept)
		}
		if a := b.form(enrol.RemovePath); a.Code != 303 {
			t.Fatalf("remove = %d", a.Code)
		}
		if kept := f.factors(f.mina.Sub); kept.Any() || !kept.AppSecret.IsZero() || kept.Epoch != 2 || len(kept.Recovery) != 0 {
			t.Errorf("after it was removed there is %+v", kept)
		}
		if again := addingOn(b.do(get(enrol.AppPath))); again.secret == p.secret || again.secret == "" {
			t.Error("an app that was removed comes back with its key")
		}
		if a := newBrowser(f.fixture).first(); a.Code != 303 || a.Header().Get("Location") == factor.Path {
			t.Errorf("the next sign-in = %d to %q", a.Code, a.Header().Get("Location"))
		}
	})
}

func TestTheLastFactorThatIsRequiredIsNotRemoved(t *testing.T) {
	f := newFactorFixture(t, required(0))
	b := newBrowser(f.fixture)
	b.first()
	b.form(factor.Path, "code", codeNow(secondSecret, 0))
	if a := b.form(enrol.RemovePath); a.Code != 400 || !strings.Contains(a.body, "set up its app instead") || !f.factors(f.mina.Sub).Any() {
		t.Errorf("remove = %d %s", a.Code, a.body)
	}
}

func TestWhoeverHasToAddAFactorIsRemindedAndThenLetInNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, required(3*24*time.Hour))
		b := newBrowser(f)
		a := b.first("query", "client_id=x&state=1")
		if _, in := b.session(); a.Header().Get("Location") != factor.RemindPath || in {
			t.Fatalf("the first sign-in = %d to %q", a.Code, a.Header().Get("Location"))
		}
		if a := b.do(get(factor.RemindPath)); a.Code != 200 || !strings.Contains(a.body, web.DayOf("en", time.Now().Add(3*24*time.Hour))) || !strings.Contains(a.body, "Later") {
			t.Errorf("the reminder = %d %s", a.Code, a.body)
		}
		a = b.form(factor.LaterPath)
		if v, in := b.session(); a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?client_id=x&state=1" || !in || v.AMR != "pwd" {
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
		if a.Code != 200 || len(recoveryOn(a)) != 10 || !in || v.AMR != "pwd otp mfa" || f.factors(f.mina.Sub).AppSecret.Reveal() != p.secret {
			t.Fatalf("set up = %d, signed in %v: %s", a.Code, in, a.body)
		}
		if next := nextOnPage.FindStringSubmatch(a.body)[1]; next != "/oauth/authorize?client_id=x&amp;state=1" {
			t.Errorf("the codes lead to %q", next)
		}
	})
}

func TestATimeThatIsOverInTheMiddleEndsIt(t *testing.T) {
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

func TestThePolicyOfARoleGoesBeforeTheDefault(t *testing.T) {
	for name, c := range map[string]struct {
		policy authn.Policy
		to     string
		offers bool
	}{
		"zero":                  {authn.Policy{}, web.FormPath, true},
		"off for all":           {authn.Policy{Default: authn.MFAOff}, web.FormPath, false},
		"required of another":   {authn.Policy{Roles: map[string]string{"admin": authn.MFARequired}}, web.FormPath, true},
		"required of the role":  {authn.Policy{Default: authn.MFAOff, Roles: map[string]string{"developer": authn.MFARequired}}, factor.RemindPath, true},
		"required, no grace":    {authn.Policy{Default: authn.MFARequired, Grace: -1}, factor.EnrolPath, true},
		"required, but off now": {authn.Policy{Default: authn.MFARequired, Roles: map[string]string{"developer": authn.MFAOff}}, web.FormPath, false},
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
func TestTheTimeBeginsAnewAfterAPolicyThatAskedForNone(t *testing.T) {
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

func TestAnApplicationThatRequiresAFactorGetsOneAtOnce(t *testing.T) {
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
	if _, a := b.adds(factor.EnrolPath); a.Code != 200 || nextOnPage.FindStringSubmatch(a.body)[1] != "/oauth/authorize?"+strings.ReplaceAll(strings.ReplaceAll(authorizeQuery, "&", "&amp;"), "+", "&#43;") && !strings.Contains(a.body, "/oauth/authorize?client_id=ksacme") {
		t.Errorf("set up = %d %s", a.Code, a.body)
	}
	if !f.factors(f.mina.Sub).DueSince.IsZero() {
		t.Error("the application's wish has begun a time of the policy")
	}
}

// Of two who set up an app at once one wins, and the other is told.
func TestOneOfTwoWhoSetUpAnAppWins(t *testing.T) {
	f := newFixture(t, required(-1))
	one, two := newBrowser(f), newBrowser(f)
	one.first()
	two.first()
	p, q := addingOn(one.do(get(factor.EnrolPath))), addingOn(two.do(get(factor.EnrolPath)))
	if p.secret == q.secret || p.secret == "" {
		t.Fatalf("the keys are %q and %q", p.secret, q.secret)
	}
	if a := one.form(factor.EnrolPath, "code", codeNow(p.secret, 0)); a.Code != 200 {
		t.Fatalf("the first = %d", a.Code)
	}
	a := two.form(factor.EnrolPath, "code", codeNow(q.secret, 0))
	if _, in := two.session(); a.Code != 409 || in || f.factors(f.mina.Sub).AppSecret.Reveal() != p.secret {
		t.Errorf("the second = %d, signed in %v: %s", a.Code, in, a.body)
	}
	if a := two.do(get(factor.EnrolPath)); a.Code != 409 || !strings.Contains(a.body, "meanwhile") || addingOn(a).secret != "" {
		t.Errorf("the page of the second = %d", a.Code)
	}
}

func TestOneOfTwoSignedInBrowsersSetsUpTheApp(t *testing.T) {
	f := newFixture(t, nil)
	one, two := newBrowser(f), newBrowser(f)
	one.first()
	two.first()
	p, q := addingOn(one.do(get(enrol.AppPath))), addingOn(two.do(get(enrol.AppPath)))
	one.form(enrol.AppPath, "code", codeNow(p.secret, 0), "instead", p.instead)
	a := two.form(enrol.AppPath, "code", codeNow(q.secret, 0), "instead", q.instead)
	if f.factors(f.mina.Sub).AppSecret.Reveal() != p.secret || recoveryOn(a) != nil || !strings.Contains(a.body, "Sign in once more") {
		t.Errorf("the second = %d %s", a.Code, a.body) // its session has one factor, and one is not enough now
	}
	two.first()
	two.form(factor.Path, "recovery", recoveryOn(one.form(enrol.CodesPath))[0])
	fresh := addingOn(two.do(get(enrol.AppPath)))
	if a := two.form(enrol.AppPath, "code", codeNow(fresh.secret, 0), "instead", ""); a.Code != 409 || !strings.Contains(a.body, "Another app was set up meanwhile") {
		t.Errorf("a page from before the app = %d %s", a.Code, a.body)
	}
}

func TestOneFormSentManyTimesAtOnceSetsUpOneApp(t *testing.T) {
	f := newFixture(t, required(-1))
	b := newBrowser(f)
	b.first()
	p := addingOn(b.do(get(factor.EnrolPath)))
	var mu sync.Mutex
	var all sync.WaitGroup
	codes, shown := map[int]int{}, 0
	for range 20 {
		r := post("code", codeNow(p.secret, 0))
		r.URL.Path = factor.EnrolPath
		for name, value := range b.jar {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		all.Go(func() {
			a := f.do(r)
			mu.Lock()
			defer mu.Unlock()
			codes[a.Code]++
			if recoveryOn(a) != nil {
				shown++
			}
		})
	}
	all.Wait()
	if codes[200] != 1 || shown != 1 {
		t.Errorf("answers %v, codes shown %d times", codes, shown)
	}
}
