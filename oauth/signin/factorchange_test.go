package signin

import (
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Nobody adds a factor of their own to somebody else's account, or takes one away.
func TestFactorChangesRequireProofOfTheOthers(t *testing.T) {
	minasApp := func(w *attacked) {
		if f := w.factors(w.mina.Sub); f.AppSecret.Reveal() != secondSecret || f.CodesLeft() != 10 || f.Epoch != 0 {
			w.t.Errorf("the factors are %+v", f)
		}
	}
	oneFactor := func(path string, pairs ...string) func(w *attacked) answer {
		return func(w *attacked) answer {
			w.b.jar["open_sso_token"] = w.oneFactor()
			p := addingOn(w.b.do(get(enrol.AppPath)))
			a := w.b.form(path, append([]string{"code", codeNow(secondSecret, 0), "instead", p.instead}, pairs...)...)
			minasApp(w)
			return a
		}
	}
	stale := func(path string) func(w *attacked) answer {
		return func(w *attacked) answer {
			w.both(w.b)
			time.Sleep(11 * time.Minute)
			a := w.b.form(path, "code", w.shows(0))
			minasApp(w)
			return a
		}
	}
	runAttacks(t, []attack{
		{"a session of one factor adds an app", oneFactor(enrol.AppPath), 303, factor.Path, true},
		{"a session of one factor removes it", oneFactor(enrol.RemovePath), 303, factor.Path, true},
		{"a session of one factor draws codes", oneFactor(enrol.CodesPath), 303, factor.Path, true},
		{"a session of one factor forgets browsers", oneFactor(enrol.ForgetPath), 303, factor.Path, true},
		{"a session of one factor sets a password", oneFactor(newpassword.Path, "current", password, "password", better), 303,
			factor.Path, true},
		{"an old session adds an app", stale(enrol.AppPath), 200, "", true},
		{"an old session removes it", stale(enrol.RemovePath), 200, "", true},
		{"an old session draws codes", stale(enrol.CodesPath), 200, "", true},
		{"an old session forgets browsers", stale(enrol.ForgetPath), 200, "", true},
		{"a trusted browser removes it", func(w *attacked) answer {
			w.trusts(w.b)
			w.b.first("query", authorizeQuery)
			a := w.b.form(enrol.RemovePath)
			minasApp(w)
			return a
		}, 303, factor.Path, true},
		{"nobody removes it", func(w *attacked) answer { a := w.b.form(enrol.RemovePath); minasApp(w); return a }, 303,
			enrol.Path, false},
		{"the ticket of the second step adds an app", func(w *attacked) answer {
			w.b.first()
			a := w.b.form(factor.EnrolPath, "code", w.shows(0))
			minasApp(w)
			return a
		}, 400, "", false},
		{"the ticket of the second step goes on without",
			func(w *attacked) answer { w.b.first(); return w.b.form(factor.LaterPath) }, 400, "", false},
		{"the page of the app, of who has one",
			func(w *attacked) answer { w.b.first(); return w.b.do(get(factor.EnrolPath)) }, 400, "", false},
		{"a sign-in that waits for an app, once there is one", func(w *attacked) answer {
			w.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
			had := w.factors(w.mina.Sub)
			w.change(func(f *storage.Factors) { f.Authenticator = nil })
			w.b.first()
			p := addingOn(w.b.do(get(factor.EnrolPath)))
			w.change(func(f *storage.Factors) { f.Authenticator, f.AppSecret = had.Authenticator, had.AppSecret })
			a := w.b.form(factor.EnrolPath, "code", codeNow(p.secret, 0))
			minasApp(w)
			return a
		}, 409, "", false},
		{"a sign-in that waits for an app, at the second step", func(w *attacked) answer {
			w.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
			w.change(func(f *storage.Factors) { f.Authenticator = nil })
			w.b.first()
			return w.b.form(factor.Path, "recovery", w.recovery[0])
		}, 400, "", false},
		{"the key of another sign-in", func(w *attacked) answer {
			w.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
			w.change(func(f *storage.Factors) { f.Authenticator = nil })
			other := newBrowser(w.fixture)
			other.first()
			p := addingOn(other.do(get(factor.EnrolPath)))
			w.b.first()
			return w.b.form(factor.EnrolPath, "code", codeNow(p.secret, 0))
		}, 400, "", false},
		{"an app after twenty minutes", func(w *attacked) answer {
			w.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
			w.change(func(f *storage.Factors) { f.Authenticator = nil })
			w.b.first()
			p := addingOn(w.b.do(get(factor.EnrolPath)))
			time.Sleep(20*time.Minute + time.Second)
			return w.b.form(factor.EnrolPath, "code", codeNow(p.secret, 0))
		}, 400, "", false},
		{"disabled while an app is added", func(w *attacked) answer {
			w.SignIn.factors.Policy = authn.Policy{Default: authn.MFARequired, Grace: -1}
			w.change(func(f *storage.Factors) { f.Authenticator = nil })
			w.b.first()
			p := addingOn(w.b.do(get(factor.EnrolPath)))
			w.set(func(u *storage.User) { u.Disabled = true })
			return w.b.form(factor.EnrolPath, "code", codeNow(p.secret, 0))
		}, 400, "", false},
	})
}
