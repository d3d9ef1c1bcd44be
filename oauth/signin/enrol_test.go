package signin

import (
	"context"
	"encoding/base32"
	"regexp"
	"strings"
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

func TestSignedInUserSetsUpAnApp(t *testing.T) {
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
		if page.Code != 200 || len(raw) != 20 || err != nil || !strings.Contains(page.body, "<svg") ||
			page.Header().Get("Cache-Control") != "no-store" {
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
		if a.Code != 200 || len(codes) != 10 || a.Header().Get("Cache-Control") != "no-store" ||
			nextOnPage.FindStringSubmatch(a.body)[1] != enrol.Path {
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
		for what, seen := range map[string]string{"the page of factors": b.do(get(enrol.Path)).body,
			"the log": f.log.String(), "the trail": notes} {
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

func TestAppIsReplacedWithoutATimeInBetweenAndRemoved(t *testing.T) {
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
		if kept := f.factors(f.mina.Sub); kept.Any() || !kept.AppSecret.IsZero() || kept.Epoch != 2 ||
			len(kept.Recovery) != 0 {
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

func TestLastFactorThatIsRequiredIsNotRemoved(t *testing.T) {
	f := newFactorFixture(t, required(0))
	b := newBrowser(f.fixture)
	b.first()
	b.form(factor.Path, "code", codeNow(secondSecret, 0))
	if a := b.form(enrol.RemovePath); a.Code != 400 || !strings.Contains(a.body, "set up its app instead") ||
		!f.factors(f.mina.Sub).Any() {
		t.Errorf("remove = %d %s", a.Code, a.body)
	}
}
