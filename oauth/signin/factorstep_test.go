package signin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// The second step is open to users who have done the first, in this browser, and for ten minutes and five
// tries.
func TestSecondStepIsForWhoHasDoneTheFirst(t *testing.T) {
	runAttacks(t, []attack{
		{"without the first step", func(w *attacked) answer { return w.b.form(factor.Path, "code", w.shows(0)) }, 400, "",
			false},
		{"its page without the first step", func(w *attacked) answer { return w.b.do(get(factor.Path)) }, 400, "", false},
		{"the first step of another browser", func(w *attacked) answer {
			newBrowser(w.fixture).first()
			w.b.jar[web.BrowserCookie] = strings.Repeat("A", 43)
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 400, "", false},
		{"two cookies of browsers", func(w *attacked) answer {
			w.b.first()
			r := post("code", w.shows(0))
			r.URL.Path = factor.Path
			r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: strings.Repeat("A", 43)})
			r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: w.b.jar[web.BrowserCookie]})
			return w.do(r)
		}, 400, "", false},
		{"after ten minutes", func(w *attacked) answer {
			w.b.first()
			time.Sleep(10*time.Minute + time.Second)
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 400, "", false},
		{"just before ten minutes", func(w *attacked) answer {
			w.b.first()
			time.Sleep(10*time.Minute - time.Second)
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 303, web.FormPath, true},
		{"the right code at the sixth try", func(w *attacked) answer {
			w.b.first()
			for range 5 {
				w.b.form(factor.Path, "code", "000000")
			}
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 400, "", false},
		{"the right code at the fifth try", func(w *attacked) answer {
			w.b.first()
			for range 4 {
				w.b.form(factor.Path, "code", "000000")
			}
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 303, "", true},
		{"a wrong code", func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "code", "000000") }, 401, "",
			false},
		{"no code", func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path) }, 400, "", false},
		{"a code that is no number", func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "code", "abcdef") },
			401, "", false},
		{"a code of two steps ago",
			func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "code", w.shows(-2)) }, 401, "", false},
		{"a code of two steps ahead",
			func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "code", w.shows(2)) }, 401, "", false},
		{"a code of a step ago", func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "code", w.shows(-1)) },
			303, "", true},
		{"a code twice", func(w *attacked) answer {
			w.both(newBrowser(w.fixture))
			w.b.first()
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 401, "", false},
		{"the code before the one that was used", func(w *attacked) answer {
			w.both(newBrowser(w.fixture))
			w.b.first()
			return w.b.form(factor.Path, "code", w.shows(-1))
		}, 401, "", false},
		{"a code twice in a field", func(w *attacked) answer {
			w.b.first()
			return w.b.form(factor.Path, "code", w.shows(0), "code", w.shows(0))
		}, 400, "", false},
		{"a code by GET", func(w *attacked) answer { w.b.first(); return w.b.do(get(factor.Path + "?code=" + w.shows(0))) },
			200, "", false},
		{"a code in the address of an empty form", func(w *attacked) answer {
			w.b.first()
			r := post()
			r.URL.Path, r.URL.RawQuery = factor.Path, "code="+w.shows(0)
			return w.b.do(r)
		}, 400, "", false},
		{"a form of another site", func(w *attacked) answer {
			w.b.first()
			r := post("code", w.shows(0))
			r.URL.Path = factor.Path
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			return w.b.do(r)
		}, 403, "", false},
		{"a recovery code", func(w *attacked) answer { w.b.first(); return w.b.form(factor.Path, "recovery", w.recovery[0]) },
			303, "", true},
		{"a recovery code in small letters with spaces", func(w *attacked) answer {
			w.b.first()
			return w.b.form(factor.Path, "recovery", " "+strings.ToLower(strings.ReplaceAll(w.recovery[0], "-", "  "))+" ")
		}, 303, "", true},
		{"a recovery code twice", func(w *attacked) answer {
			other := newBrowser(w.fixture)
			other.first()
			other.form(factor.Path, "recovery", w.recovery[0])
			w.b.first()
			return w.b.form(factor.Path, "recovery", w.recovery[0])
		}, 401, "", false},
		{"a recovery code of another user", func(w *attacked) answer {
			_, theirs := w.second()
			w.b.first()
			return w.b.form(factor.Path, "recovery", theirs[0])
		}, 401, "", false},
		{"a code of another user", func(w *attacked) answer {
			w.second()
			w.b.first()
			return w.b.form(factor.Path, "code", codeNow(strings.Repeat("MFRGGZDF", 4), 0))
		}, 401, "", false},
		{"the hash of a recovery code", func(w *attacked) answer {
			w.b.first()
			return w.b.form(factor.Path, "recovery", w.factors(w.mina.Sub).Recovery[0].Hash)
		}, 401, "", false},
		{"a code where a passkey is asked for", func(w *attacked) answer {
			w.change(func(f *storage.Factors) { f.Passkeys = []authn.Passkey{{ID: "x", Name: "x"}} })
			w.b.first("query", authorizeQuery+"&acr_values=phr")
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 401, "", false},
		{"a wrong code, then the right one", func(w *attacked) answer {
			w.b.first()
			w.b.form(factor.Path, "code", "000000")
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 303, "", true},
		{"disabled between the steps", func(w *attacked) answer {
			w.b.first()
			w.set(func(u *storage.User) { u.Disabled = true })
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 400, "", false},
		{"the app removed between the steps", func(w *attacked) answer {
			w.b.first()
			w.change(func(f *storage.Factors) { f.Authenticator, f.AppSecret, f.Recovery = nil, storage.Secret{}, nil })
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 401, "", false},
		{"the app replaced between the steps", func(w *attacked) answer {
			w.b.first()
			w.change(func(f *storage.Factors) { f.AppSecret = storage.NewSecret(strings.Repeat("MFRGGZDF", 4)) })
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 401, "", false},
		{"a request that is too long to keep", func(w *attacked) answer {
			return w.b.first("query", authorizeQuery+"&x="+strings.Repeat("y", web.MaxStored))
		}, 400, "", false},
		{"a trust that is asked for where it may not be", func(w *attacked) answer {
			w.b.first("query", "/console/")
			a := w.b.form(factor.Path, "code", w.shows(0), "trust", "1")
			if w.b.jar[factor.TrustedCookie] != "" {
				w.t.Error("the browser is trusted")
			}
			return a
		}, 303, "/console/", true},
		{"a locked address", func(w *attacked) answer {
			for i := range 10 {
				w.b.form(web.FormPath, "username", fmt.Sprint("nobody", i), "password", password)
			}
			other := newBrowser(w.fixture)
			other.from = "198.51.100.7"
			other.first()
			w.b.jar[web.BrowserCookie] = other.jar[web.BrowserCookie]
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 429, "", false},
		{"ten wrong codes, by a known browser too", func(w *attacked) answer {
			w.both(w.b)
			delete(w.b.jar, "open_sso_token")
			for i := range 2 {
				w.b.from = fmt.Sprint("198.51.100.", i)
				w.b.first()
				for range 5 {
					w.b.form(factor.Path, "code", "000000")
				}
			}
			w.b.first()
			return w.b.form(factor.Path, "code", w.shows(1))
		}, 429, "", false},
		{"the delay is over", func(w *attacked) answer {
			for i := range 2 {
				w.b.from = fmt.Sprint("198.51.100.", i)
				w.b.first()
				for range 5 {
					w.b.form(factor.Path, "code", "000000")
				}
			}
			time.Sleep(2 * time.Minute)
			w.b.from = "198.51.100.9"
			w.b.first()
			return w.b.form(factor.Path, "code", w.shows(0))
		}, 303, "", true},
	})
}
