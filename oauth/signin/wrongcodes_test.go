package signin

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// guesses makes n attempts at Mina's second factor in the way that no lock and no delay sees: from an address of its
// own each, four in five minutes in a browser, which begins anew after that.
func (w *attacked) guesses(n int, field string, code func(i int) string) (codes map[int]int) {
	codes = map[int]int{}
	var b *browser
	for i := range n {
		if i%4 == 0 {
			b = newBrowser(w.fixture)
			b.from = fmt.Sprintf("10.%d.%d.1", i/200, i%200)
			b.first()
			time.Sleep(5 * time.Minute)
		}
		codes[b.form(factor.Path, field, code(i)).Code]++
	}
	return codes
}

// wrong returns codes that Mina's app does not show.
func (w *attacked) wrong(int) string { return other(w.shows(0)) }

// told returns the numbers in the mails about wrong codes, in order.
func (w *attacked) told() (numbers []string) {
	must(w.t, w.outbox.Drain(context.Background()))
	w.post.mu.Lock()
	defer w.post.mu.Unlock()
	for _, m := range w.post.sent {
		if _, after, ok := strings.Cut(m.text, "Wrong codes so far: "); ok {
			number, _, _ := strings.Cut(after, "\n")
			numbers = append(numbers, number)
		}
	}
	return numbers
}

func inAttacked(t *testing.T, do func(t *testing.T, w *attacked)) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.set(func(u *storage.User) { u.Email, u.EmailVerified = minas, true })
		do(t, w)
		must(t, w.Close(t.Context()))
	})
}

// Decision 97.
func TestGuessedCodesAreCountedForTheAccountUntilOneIsRight(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		if got := w.guesses(40, "code", w.wrong); got[401] != authn.WrongCodesRest || got[403] != 20 {
			t.Errorf("40 wrong codes, from many addresses in hours = %v; want 20 judged and 20 not", got)
		}
		if got := strings.Join(w.told(), " "); got != "5 10 15 20" {
			t.Errorf("the user was told at %q, want 5 10 15 20", got)
		}
		b := newBrowser(w.fixture)
		b.first()
		page := b.do(get(factor.Path))
		if page.Code != 200 || strings.Contains(page.body, `name="code"`) || !strings.Contains(page.body, "Too many wrong codes were typed") || !strings.Contains(page.body, `href="`+otp.SignInFlow.Path) {
			t.Errorf("the page does not say that codes rest, and what to do: %d\n%s", page.Code, page.body)
		}
		a := b.form(factor.Path, "code", w.shows(0))
		if _, in := b.session(); a.Code != 403 || in {
			t.Errorf("a right code while they rest = %d, signed in %v; want 403", a.Code, in)
		}
		if a := b.form(factor.Path, "recovery", w.recovery[0]); a.Code != 303 {
			t.Fatalf("a recovery code while the others rest = %d, want 303", a.Code)
		}
		if f := w.factors(w.mina.Sub); f.WrongCodes != 0 {
			t.Errorf("%d wrong codes after a right one, want none", f.WrongCodes)
		}
		if a := w.both(newBrowser(w.fixture)); a.Code != 303 {
			t.Errorf("a code of the app afterwards = %d, want 303", a.Code)
		}
	})
}

func TestRightPasswordAndARestartForgetNoWrongCode(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		w.guesses(19, "code", w.wrong)
		newBrowser(w.fixture).first()
		time.Sleep(40 * 24 * time.Hour)
		again, err := New(t.Context(), Config{BaseURL: origin, Store: w.store})
		must(t, err)
		must(t, w.Close(t.Context()))
		w.SignIn = again
		if got := w.guesses(2, "code", w.wrong); got[401] != 1 || got[403] != 1 {
			t.Errorf("after 19 wrong codes, 40 days and a restart, two more = %v; want one judged", got)
		}
	})
}

func TestWrongCodesManyAtOnceAreJudgedTwentyTimes(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		nodes := [2]*SignIn{w.SignIn, nil}
		other, err := New(t.Context(), Config{BaseURL: origin, Store: w.store})
		must(t, err)
		nodes[1] = other
		var browsers []*browser
		for i := range 80 { // five tries of each
			f := *w.fixture
			f.SignIn = nodes[i%2]
			b := newBrowser(&f)
			b.from = fmt.Sprintf("10.%d.%d.1", i, i)
			b.first()
			browsers = append(browsers, b)
		}
		var judged atomic.Int64
		var group sync.WaitGroup
		wrong := w.wrong(0)
		for _, b := range browsers {
			for range 5 {
				mine := *b
				group.Go(func() {
					r := post("code", wrong)
					r.URL.Path = factor.Path
					if mine.do(r).Code == 401 {
						judged.Add(1)
					}
				})
			}
		}
		group.Wait()
		if n, f := judged.Load(), w.factors(w.mina.Sub); n != authn.WrongCodesRest || f.WrongCodes != authn.WrongCodesRest {
			t.Errorf("%d of 400 guesses were judged and %d counted, want 20", n, f.WrongCodes)
		}
	})
}

func TestWrongCodesRestIsLiftedByAFirstFactorByEmail(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		w.guesses(25, "code", w.wrong)
		b := newBrowser(w.fixture)
		b.form(otp.SignInFlow.Path, "address", minas)
		b.form(otp.SignInFlow.CodePath(), "code", w.mailed())
		if page := b.do(get(factor.Path)); !strings.Contains(page.body, `name="code"`) {
			t.Errorf("after a code by email the page asks for no code of the app:\n%s", page.body)
		}
		if a := b.form(factor.Path, "code", w.wrong(0)); a.Code != 401 {
			t.Errorf("a wrong code of the app = %d, want 401", a.Code)
		}
		if f := w.factors(w.mina.Sub); f.WrongCodes != 21 {
			t.Errorf("%d wrong codes, want 21", f.WrongCodes)
		}
		if a := b.form(factor.Path, "code", w.shows(0)); a.Code != 303 {
			t.Errorf("the right one = %d, want 303", a.Code)
		}
		if v, in := b.session(); !in || v.AMR != "otp mfa" {
			t.Errorf("signed in %v by %q", in, v.AMR)
		}
	})
}

// A cookie of a session that began with a code by email is none.
func TestWrongCodesRestIsNotLiftedByAnOldSession(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		w.b.jar["open_sso_token"] = w.oneFactor()
		v, _ := w.b.session()
		v.Method, v.AMR, v.AuthTime = storage.LoginEmail, authn.AMRCode, time.Now().Add(-time.Hour).UTC()
		_, err := w.store.SaveSession(t.Context(), v)
		must(t, err)
		w.change(func(f *storage.Factors) { f.WrongCodes = authn.WrongCodesRest })
		app, err := w.store.App(t.Context(), "ksacme")
		must(t, err)
		r, answered := with(get("/oauth/authorize?"+authorizeQuery), w.b.jar["open_sso_token"]), httptest.NewRecorder()
		must(t, w.AskFactor(answered, r, app, factor.LevelMulti))
		for _, c := range answered.Result().Cookies() {
			w.b.jar[c.Name] = c.Value
		}
		if a := w.b.form(factor.Path, "code", w.shows(0)); a.Code != 403 {
			t.Errorf("a right code = %d, want 403", a.Code)
		}
	})
}

func TestCodesAreRefusedAfterAHundredWrongOnes(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		if got := w.guesses(110, "recovery",
			func(int) string { return "AAAA-BBBB-CCCC-DDDD" }); got[401] != authn.WrongCodesMost || got[403] != 10 {
			t.Errorf("110 wrong recovery codes = %v; want 100 judged", got)
		}
		by := func(name string, first func(b *browser), pairs ...string) {
			b := newBrowser(w.fixture)
			first(b)
			a := b.form(factor.Path, pairs...)
			if _, in := b.session(); a.Code != 403 || in || !strings.Contains(a.body, "Ask the operator") {
				t.Errorf("%s = %d, signed in %v; want 403\n%s", name, a.Code, in, a.body)
			}
		}
		password := func(b *browser) { b.first() }
		by("a right code", password, "code", w.shows(0))
		by("a right recovery code", password, "recovery", w.recovery[0])
		by("a right code after one by email", func(b *browser) {
			b.form(otp.SignInFlow.Path, "address", minas)
			b.form(otp.SignInFlow.CodePath(), "code", w.mailed())
		}, "code", w.shows(0))
		if !w.UnlockUser(t.Context(), w.mina) || w.UnlockUser(t.Context(), w.mina) {
			t.Error("an operator forgets the wrong codes not at all, or twice")
		}
		if a := w.both(newBrowser(w.fixture)); a.Code != 303 {
			t.Errorf("let in by an operator, a right code = %d, want 303", a.Code)
		}
	})
}

func TestWrongCodesCountOnlyAfterTheFirstFactor(t *testing.T) {
	inAttacked(t, func(t *testing.T, w *attacked) {
		for i := range 30 {
			b := newBrowser(w.fixture)
			b.from = fmt.Sprintf("10.%d.0.1", i)
			b.form(web.FormPath, "username", "mina", "password", "wrong password")
			b.form(factor.Path, "code", "000000")
			b.form(factor.Path, "recovery", "AAAA-BBBB-CCCC-DDDD")
		}
		if f := w.factors(w.mina.Sub); f.WrongCodes != 0 {
			t.Errorf("%d wrong codes are counted, want none", f.WrongCodes)
		}
	})
}

func TestPasskeyIsTakenWhateverCodesWereGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		has := f.factors(f.mina.Sub)
		has.WrongCodes = authn.WrongCodesMost
		_, err := f.store.SaveFactors(t.Context(), has)
		must(t, err)
		b := newBrowser(f.fixture)
		b.first()
		if a := b.secondBy(f.device); a.Code != 303 {
			t.Errorf("a passkey = %d, want 303\n%s", a.Code, a.body)
		}
		if n := f.factors(f.mina.Sub).WrongCodes; n != 0 {
			t.Errorf("%d wrong codes after a right passkey, want none", n)
		}
	})
}
