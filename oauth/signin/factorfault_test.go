package signin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// The session that a phone has confirmed with is no fresh proof: with a code of the same phone it makes two factors,
// and none of the last minutes.
func TestScannedCodeIsAsOldAsTheSessionOfThePhone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.both(w.b)
		phone := w.b.jar["open_sso_token"]
		began := time.Now()
		time.Sleep(2 * time.Hour)
		v, err := w.store.Store.Session(t.Context(), handle.Hash(phone))
		must(t, err)
		v.AMR = "pwd"
		_, err = w.store.Store.SaveSession(t.Context(), v)
		must(t, err)
		shown := w.showCode("")
		w.do(get(web.ScanPath+shown.id, phone))
		w.do(formTo(web.ScanPath+shown.id, "answer", "confirm", "cookie", phone))
		w.b = newBrowser(w.fixture)
		w.b.jar[web.BrowserCookie] = shown.collect().named(web.BrowserCookie)
		w.b.form(factor.Path, "code", w.shows(0))
		if v, in := w.b.session(); !in || v.AMR != "pwd otp mfa" || !v.AuthTime.Equal(began) {
			t.Errorf("the session is %+v, want one of %v", v, began)
		}
		must(t, w.Close(t.Context()))
	})
}

// Codes that are tried at once are looked at no more often than in turn, and one that is right signs in once.
func TestTriesAtOnceAreNoMoreThanTriesInTurn(t *testing.T) {
	w := newAttacked(t)
	w.b.first()
	var mu sync.Mutex
	var all sync.WaitGroup
	codes := map[int]int{}
	for i := range 30 {
		r := post("code", fmt.Sprintf("%06d", i))
		r.URL.Path = factor.Path
		r.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i)
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: w.b.jar[web.BrowserCookie]})
		all.Go(func() {
			a := w.do(r)
			mu.Lock()
			defer mu.Unlock()
			codes[a.Code]++
		})
	}
	all.Wait()
	if codes[401] > 5 || codes[303] > 0 || codes[401]+codes[400]+codes[429] != 30 {
		t.Errorf("answers %v, want five looked at at most", codes)
	}
	w.b.first()
	for name, field := range map[string][2]string{"a code": {"code", w.shows(0)},
		"a recovery code": {"recovery", w.recovery[1]}} {
		in := 0
		var browsers []*browser
		for i := range 8 {
			b := newBrowser(w.fixture)
			b.from = fmt.Sprintf("203.0.113.%d", i)
			b.first()
			browsers = append(browsers, b)
		}
		for _, b := range browsers {
			all.Go(func() {
				a := b.form(factor.Path, field[0], field[1])
				mu.Lock()
				defer mu.Unlock()
				if a.Code == 303 {
					in++
				}
			})
		}
		all.Wait()
		if in > 1 {
			t.Errorf("%s signs in %d times", name, in)
		}
	}
}

// failing is the Store of factors that fails at its nth call.
type failing struct {
	*storage.Store
	left int
}

func (s *failing) fails() bool { s.left--; return s.left == 0 }

func (s *failing) Factors(ctx context.Context, sub string) (storage.Factors, error) {
	if s.fails() {
		return storage.Factors{}, errDown
	}
	return s.Store.Factors(ctx, sub)
}

func (s *failing) SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error) {
	if s.fails() {
		return f, errDown
	}
	return s.Store.SaveFactors(ctx, f)
}

func (s *failing) Ticket(ctx context.Context, id string) (storage.Ticket, error) {
	if s.fails() {
		return storage.Ticket{}, errDown
	}
	return s.Store.Ticket(ctx, id)
}

func (s *failing) SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error) {
	if s.fails() {
		return t, errDown
	}
	return s.Store.SaveTicket(ctx, t)
}

func (s *failing) EndTicket(ctx context.Context, t storage.Ticket) error {
	if s.fails() {
		return errDown
	}
	return s.Store.EndTicket(ctx, t)
}

// Wherever the store fails, nobody is signed in, and afterwards it goes on or begins again.
func TestSignInIsRefusedWhileTheStoreIsAway(t *testing.T) {
	cut := 0
	for n := 1; n < 40; n++ {
		w := newAttacked(t)
		s := &failing{Store: w.store.Store}
		w.SignIn.factors.Store = s
		s.left = n
		a := w.b.first()
		if a.Code == 303 {
			a = w.b.form(factor.Path, "code", w.shows(0))
		}
		if s.left > 0 {
			if _, in := w.b.session(); !in {
				t.Errorf("without a failure it is %d", a.Code)
			}
			break
		}
		cut++
		if _, in := w.b.session(); a.Code != 503 || in {
			t.Errorf("failing at call %d: %d, signed in %v", n, a.Code, in)
		}
	}
	if cut < 6 {
		t.Errorf("it failed at %d calls", cut)
	}
}

// The same for a user who adds an app in the sign-in: there is no app without a sign-in that can go on with it.
func TestEnrolmentAddsNothingHalfWhileTheStoreIsAway(t *testing.T) {
	cut := 0
	for n := 1; n < 40; n++ {
		f := newFixture(t, required(-1))
		s := &failing{Store: f.store.Store}
		f.SignIn.factors.Store = s
		b := newBrowser(f)
		s.left = n
		a := b.first()
		if a.Code == 303 {
			if a = b.do(get(factor.EnrolPath)); a.Code == 200 {
				a = b.form(factor.EnrolPath, "code", codeNow(addingOn(a).secret, 0))
			}
		}
		if s.left > 0 {
			if _, in := b.session(); !in || a.Code != 200 {
				t.Errorf("without a failure it is %d", a.Code)
			}
			break
		}
		cut++
		if _, in := b.session(); a.Code != 503 || in || f.factors(f.mina.Sub).Any() {
			t.Errorf("failing at call %d: %d, signed in %v, %+v", n, a.Code, in, f.factors(f.mina.Sub))
		}
	}
	if cut < 6 {
		t.Errorf("it failed at %d calls", cut)
	}
}

// A store of before there were second factors: nobody has one, and nobody is locked out.
func TestOlderStoreEnrolsNobodyAndLocksNobodyOut(t *testing.T) {
	f := newFixture(t, nil)
	cookie := f.enterMina()
	v, err := f.store.Store.Session(t.Context(), handle.Hash(cookie))
	must(t, err)
	v.AMR, v.Method = "", "" // as they were written
	_, err = f.store.Store.SaveSession(t.Context(), v)
	must(t, err)
	if got, err := f.Visitor(get("/", cookie)); err != nil || got.Multifactor() || factor.LevelOf(got) != "" {
		t.Errorf("the session is %+v, %v", got, err)
	}
	if all := f.factors(f.mina.Sub); all.Any() || all.Version != 0 {
		t.Errorf("the factors are %+v", all)
	}
	for _, path := range []string{enrol.Path, enrol.AppPath, web.AccountPath} {
		if a := f.do(get(path, cookie)); a.Code != 200 {
			t.Errorf("%s = %d", path, a.Code)
		}
	}
	if a := newBrowser(f).first(); a.Code != 303 || a.Header().Get("Location") != web.FormPath ||
		f.factors(f.mina.Sub).Version != 0 {
		t.Errorf("a sign-in = %d to %q", a.Code, a.Header().Get("Location"))
	}
	if r := httptest.NewRecorder(); f.SignIn != nil {
		f.ServeHTTP(r, get(factor.Path))
		if r.Code != 400 {
			t.Errorf("the second step of nobody = %d", r.Code)
		}
	}
}
