package signin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// attacked is a service with all features in which Mina has an app, recovery codes and an address.
type attacked struct {
	*fixture
	recovery []string
	post     *fakeMailer
	b        *browser // the attacker's
}

func newAttacked(t *testing.T) *attacked {
	w := &attacked{post: &fakeMailer{}}
	w.fixture = newFixture(t, func(c *Config) { c.Mailer, c.Revoker, c.SignUp = w.post, &revoker{}, SignUpOpen })
	w.enrols()
	return w
}

// enrols gives Mina an app, recovery codes and an address.
func (w *attacked) enrols() {
	t := w.t
	must(t, w.store.LinkLogins(context.Background(), w.mina.Sub,
		storage.Login{Method: storage.LoginEmail, Subject: minas}))
	shown, kept := factor.DrawRecovery()
	w.recovery = shown
	w.saves(storage.Factors{UserID: w.mina.Sub, Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
		AppSecret: storage.NewSecret(secondSecret), Recovery: kept})
	w.b = newBrowser(w.fixture)
}

func (w *attacked) saves(f storage.Factors) {
	_, err := w.store.SaveFactors(context.Background(), f)
	must(w.t, err)
}

// change changes Mina's factors.
func (w *attacked) change(change func(f *storage.Factors)) {
	f := w.factors(w.mina.Sub)
	change(&f)
	w.saves(f)
}

// second makes a second user with factors of their own, signed in with both.
func (w *attacked) second() (omar storage.User, recovery []string) {
	omar, err := users.New(w.store, cheap(w.hashes)).Create(context.Background(), storage.User{Username: "omar"}, password)
	must(w.t, err)
	recovery, kept := factor.DrawRecovery()
	w.saves(storage.Factors{UserID: omar.Sub, Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
		AppSecret: storage.NewSecret(strings.Repeat("MFRGGZDF", 4)), Recovery: kept})
	return omar, recovery
}

// code returns what Mina's app shows.
func (w *attacked) shows(steps int64) string { return codeNow(secondSecret, steps) }

// both signs in with both factors.
func (w *attacked) both(b *browser, pairs ...string) answer {
	b.first(pairs...)
	return b.form(factor.Path, "code", w.shows(0))
}

// trusts makes a browser one that Mina trusts, a while ago and signed out since.
func (w *attacked) trusts(b *browser) {
	b.first()
	b.form(factor.Path, "code", w.shows(0), "trust", "1")
	if b.jar[factor.TrustedCookie] == "" {
		w.t.Fatal("the browser is not trusted")
	}
	delete(b.jar, "open_sso_token")
	time.Sleep(time.Minute)
}

// mailed returns the code in the last mail.
func (w *attacked) mailed() string {
	must(w.t, w.outbox.Drain(context.Background()))
	w.post.mu.Lock()
	defer w.post.mu.Unlock()
	return sixDigits.FindString(w.post.sent[len(w.post.sent)-1].text)
}

func (w *attacked) set(change func(u *storage.User)) {
	u, err := w.store.Store.User(context.Background(), w.mina.Sub)
	must(w.t, err)
	change(&u)
	_, err = w.store.SaveUser(context.Background(), u)
	must(w.t, err)
}

// attack is something that somebody tries who lacks the second factor, or has it.
type attack struct {
	name string
	do   func(w *attacked) answer
	code int
	to   string // where it leads, if that matters
	in   bool   // the browser is signed in then
}

func (w *attacked) run(t *testing.T, a attack) {
	t.Helper()
	got := a.do(w)
	v, in := w.b.session()
	if got.Code != a.code || in != a.in || a.to != "" && got.Header().Get("Location") != a.to {
		t.Errorf("%s: %d to %q, signed in %v (%s); want %d to %q, %v\n%s", a.name, got.Code, got.Header().Get("Location"), in,
			v.AMR, a.code, a.to, a.in, got.body)
	}
}

func runAttacks(t *testing.T, all []attack) {
	t.Helper()
	for _, a := range all {
		t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAttacked(t)
				w.run(t, a)
				must(t, w.Close(t.Context()))
			})
		})
	}
}

// Every way in asks who has a second factor for it.
func TestSecondFactorCannotBeBypassed(t *testing.T) {
	asks := func(name string, do func(w *attacked) answer) attack {
		return attack{name, do, 303, factor.Path, false}
	}
	runAttacks(t, []attack{
		asks("a password", func(w *attacked) answer { return w.b.first() }),
		asks("a password for an application", func(w *attacked) answer { return w.b.first("query", authorizeQuery) }),
		asks("a password for the console", func(w *attacked) answer { return w.b.first("query", "/console/users") }),
		asks("a password for the code of a device", func(w *attacked) answer { return w.b.first("query", "/device") }),
		asks("prompt=none on the way", func(w *attacked) answer { return w.b.first("query", authorizeQuery+"&prompt=none") }),
		asks("an acr_values that nobody knows",
			func(w *attacked) answer { return w.b.first("query", authorizeQuery+"&acr_values=none") }),
		asks("a code by mail", func(w *attacked) answer {
			w.b.form(otp.SignInFlow.Path, "address", minas)
			return w.b.form(otp.SignInFlow.CodePath(), "code", w.mailed())
		}),
		asks("a new password by mail", func(w *attacked) answer {
			w.b.form(otp.ResetFlow.Path, "address", minas)
			return w.b.form(otp.ResetFlow.CodePath(), "code", w.mailed(), "password", better)
		}),
		asks("a code scanned by a phone with one factor", func(w *attacked) answer {
			phone := w.oneFactor()
			shown := w.showCode("")
			w.do(get(web.ScanPath+shown.id, phone))
			w.do(formTo(web.ScanPath+shown.id, "answer", "confirm", "cookie", phone))
			return shown.collect()
		}),
		asks("signed in with one factor, once more", func(w *attacked) answer {
			w.b.jar["open_sso_token"] = w.oneFactor()
			a := w.b.first()
			delete(w.b.jar, "open_sso_token")
			return a
		}),
		asks("a trusted browser whose user is signed in", func(w *attacked) answer {
			w.trusts(w.b)
			w.b.first("query", authorizeQuery)
			a := w.b.first("query", authorizeQuery)
			delete(w.b.jar, "open_sso_token")
			return a
		}),
		asks("a trusted browser, for nothing", func(w *attacked) answer { w.trusts(w.b); return w.b.first() }),
		asks("a trusted browser, for the account",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", web.AccountPath) }),
		asks("a trusted browser, for an application that there is not",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", "client_id=none&redirect_uri=x") }),
		asks("a trusted browser, for the management of applications",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery+"&scope=apps") }),
		asks("a trusted browser, for the console",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", "/console/") }),
		asks("a trusted browser, with max_age",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery+"&max_age=60") }),
		asks("a trusted browser, with prompt=login",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery+"&prompt=login") }),
		asks("a trusted browser, with acr_values",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery+"&acr_values=mfa") }),
		asks("a trusted browser, with a query that cannot be read",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery+"&x=%zz") }),
		asks("a trusted browser after 31 days", func(w *attacked) answer {
			w.trusts(w.b)
			time.Sleep(31 * 24 * time.Hour)
			return w.b.first("query", authorizeQuery)
		}),
		asks("a trusted browser after it was forgotten", func(w *attacked) answer {
			w.trusts(w.b)
			hers := newBrowser(w.fixture)
			w.both(hers)
			hers.form(enrol.ForgetPath)
			return w.b.first("query", authorizeQuery)
		}),
		asks("a trusted browser after a new password", func(w *attacked) answer {
			w.trusts(w.b)
			hers := newBrowser(w.fixture)
			w.both(hers)
			hers.form(newpassword.Path, "current", password, "password", better)
			return w.b.form(web.FormPath, "username", "mina", "password", better, "query", authorizeQuery)
		}),
		asks("a trusted browser after signing out everywhere", func(w *attacked) answer {
			w.trusts(w.b)
			hers := newBrowser(w.fixture)
			w.both(hers)
			hers.form(web.AccountPath + "/everywhere")
			return w.b.first("query", authorizeQuery)
		}),
		asks("the trust of another user", func(w *attacked) answer {
			w.trusts(w.b)
			w.second()
			return w.b.form(web.FormPath, "username", "omar", "password", password, "query", authorizeQuery)
		}),
		asks("a trust that is made up", func(w *attacked) answer {
			w.b.jar[factor.TrustedCookie] = strings.Repeat("A", 43)
			return w.b.first("query", authorizeQuery)
		}),
		asks("a trust with a later end", func(w *attacked) answer {
			w.trusts(w.b)
			mark := []byte(w.b.jar[factor.TrustedCookie])
			mark[14] ^= 1
			w.b.jar[factor.TrustedCookie] = string(mark)
			return w.b.first("query", authorizeQuery)
		}),
		asks("a user whom the policy does not offer one", func(w *attacked) answer {
			w.SignIn.factors.Policy.Default = authn.MFAOff
			return w.b.first()
		}),
		{"a trusted browser, for an application",
			func(w *attacked) answer { w.trusts(w.b); return w.b.first("query", authorizeQuery) }, 303,
			web.AuthorizePath + "?" + authorizeQuery, true},
	})
}

// A provider is a way in like the others.
func TestProviderDoesNotLeadPastTheSecondFactor(t *testing.T) {
	h := newProviderFixture(t, nil)
	visit := h.start("wx", "")
	u, _ := h.user(visit.open(visit.choose("mei")))
	_, err := h.store.SaveFactors(t.Context(), storage.Factors{UserID: u.Sub, Authenticator: &authn.Authenticator{},
		AppSecret: storage.NewSecret(secondSecret)})
	must(t, err)
	visit = h.start("wx", "")
	if a := visit.open(visit.choose("mei")); a.Code != 303 || a.Header().Get("Location") != factor.Path ||
		a.cookie() != "" {
		t.Errorf("it = %d to %q, signed in %v", a.Code, a.Header().Get("Location"), a.cookie() != "")
	}
}

// oneFactor is a session of Mina's from before she had an app.
func (w *attacked) oneFactor() (cookie string) {
	had := w.factors(w.mina.Sub)
	none := had
	none.Authenticator = nil
	w.saves(none)
	cookie = w.enterMina()
	w.change(func(f *storage.Factors) { f.Authenticator, f.AppSecret = had.Authenticator, had.AppSecret })
	return cookie
}
