package signin

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// racing is a Store in which somebody else changes the factors just before they are saved.
type racing struct {
	*storage.Store
	first func(f *storage.Factors)
}

func (s *racing) SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error) {
	if change := s.first; change != nil {
		s.first = nil
		theirs, err := s.Store.Factors(ctx, f.UserID)
		if err == nil {
			change(&theirs)
			_, err = s.Store.SaveFactors(ctx, theirs)
		}
		if err != nil {
			return f, err
		}
	}
	return s.Store.SaveFactors(ctx, f)
}

func TestFactorThatIsAddedInTheSameMomentIsNotOverwritten(t *testing.T) {
	app := func(f *storage.Factors) {
		f.Authenticator, f.AppSecret = &authn.Authenticator{CreatedAt: time.Now()}, storage.NewSecret(secondSecret)
	}
	passkey := func(f *storage.Factors) { f.Passkeys = []authn.Passkey{{ID: "x", Name: "x"}} }
	for name, first := range map[string]func(*storage.Factors){"an app": app, "a passkey": passkey} {
		f := newFixture(t, nil)
		f.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
		b := newBrowser(f)
		b.first()
		p := addingOn(b.do(get(factor.EnrolPath)))
		f.SignIn.factors.Store = &racing{f.store.Store, first}
		a := b.form(factor.EnrolPath, "code", codeNow(p.secret, 0))
		if _, in := b.session(); a.Code != 409 || in || f.factors(f.mina.Sub).AppSecret.Reveal() == p.secret {
			t.Errorf("before the session, %s first: %d, signed in %v", name, a.Code, in)
		}
	}
	f := newFactorFixture(t, nil) // another app in place of the one that there is
	b := newBrowser(f.fixture)
	b.first()
	b.form(factor.Path, "recovery", f.recovery[0])
	p := addingOn(b.do(get(enrol.AppPath)))
	f.SignIn.factors.Store = &racing{f.store.Store, func(f *storage.Factors) {
		f.Authenticator, f.AppSecret = &authn.Authenticator{CreatedAt: time.Now()},
			storage.NewSecret(strings.Repeat("MFRGGZDF", 4))
	}}
	if a := b.form(enrol.AppPath, "code", codeNow(p.secret, 0), "instead", p.instead); a.Code != 409 ||
		f.factors(f.mina.Sub).AppSecret.Reveal() == p.secret {
		t.Errorf("of who is signed in: %d", a.Code)
	}
}

// Of two who set up an app at once one wins, and the other is told.
func TestEnrolOfAnAppByTwoHasOneWinner(t *testing.T) {
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
	if a := two.do(get(factor.EnrolPath)); a.Code != 409 || !strings.Contains(a.body, "meanwhile") ||
		addingOn(a).secret != "" {
		t.Errorf("the page of the second = %d", a.Code)
	}
}

func TestEnrolInTwoSignedInBrowsersSetsUpOneApp(t *testing.T) {
	f := newFixture(t, nil)
	one, two := newBrowser(f), newBrowser(f)
	one.first()
	two.first()
	p, q := addingOn(one.do(get(enrol.AppPath))), addingOn(two.do(get(enrol.AppPath)))
	one.form(enrol.AppPath, "code", codeNow(p.secret, 0), "instead", p.instead)
	a := two.form(enrol.AppPath, "code", codeNow(q.secret, 0), "instead", q.instead)
	if f.factors(f.mina.Sub).AppSecret.Reveal() != p.secret || recoveryOn(a) != nil ||
		a.Header().Get("Location") != factor.Path {
		t.Errorf("the second = %d %s", a.Code, a.body) // its session has one factor, and one is not enough now
	}
	two.first()
	two.form(factor.Path, "recovery", recoveryOn(one.form(enrol.CodesPath))[0])
	fresh := addingOn(two.do(get(enrol.AppPath)))
	if a := two.form(enrol.AppPath, "code", codeNow(fresh.secret, 0), "instead", ""); a.Code != 409 ||
		!strings.Contains(a.body, "Another app was set up meanwhile") {
		t.Errorf("a page from before the app = %d %s", a.Code, a.body)
	}
}

func TestEnrolFormSentManyTimesAtOnceSetsUpOneApp(t *testing.T) {
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

// A phone that is signed in since long ago lets nobody add a factor: who has found it would make it theirs.
func TestOldSessionOfAPhoneAddsNoFactor(t *testing.T) {
	for grace, signedIn := range map[time.Duration]bool{-1: false, time.Hour: true} {
		f := newFixture(t, nil)
		phone := f.enterMina()
		f.aged(phone, 2*time.Hour)
		f.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: grace}
		shown := f.showCode("")
		f.do(get(web.ScanPath+shown.id, phone))
		f.do(formTo(web.ScanPath+shown.id, "answer", "confirm", "cookie", phone))
		a := shown.collect()
		b := newBrowser(f)
		b.jar[web.BrowserCookie] = shown.browser
		if (a.cookie() != "") != signedIn || !signedIn && !strings.Contains(a.body, "Then set up your second factor") ||
			addingOn(b.do(get(factor.EnrolPath))).secret != "" {
			t.Errorf("with a grace of %v: %d to %q, signed in %v: %s", grace, a.Code, a.Header().Get("Location"),
				a.cookie() != "", a.body)
		}
	}
}
