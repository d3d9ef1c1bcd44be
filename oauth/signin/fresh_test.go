package signin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/apikeys"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/deletion"
	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/mydata"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/profile"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
)

// anyProvider stands for the forms that link one, which are alike.
const anyProvider = web.WithPath + "{name}/link"

// acts are the forms of an account that take a session which has proved within ten minutes what its user has, each with
// fields that it would do something with.
var acts = map[string][]string{
	apikeys.Path:             {"name", "deploy", "what", "all", "days", "90"},
	mydata.Path:              {},
	deletion.Path:            {"confirm", "Mina"},
	account.LoginPath:        {"method", storage.LoginEmail},
	otp.LinkFlow.Path:        {"address", "eve@example.com"},
	newpassword.Path:         {"current", password, "password", better},
	enrol.AppPath:            {"code", "000000"},
	enrol.RemovePath:         {},
	enrol.CodesPath:          {},
	enrol.ForgetPath:         {},
	passkey.Path:             {"name", "phone", "credential", "{}"},
	passkey.Path + "/rename": {"passkey", "x", "name", "phone"},
	passkey.Path + "/end":    {"passkey", "x"},
	passkey.Path + "/begin":  {},
	anyProvider:              {},
	otp.LinkFlow.CodePath():  {"code", "000000"},
}

// open are the forms that take none, and why.
var open = map[string]string{
	account.SessionPath:    "it ends a session, and what ends something must not wait",
	account.OthersPath:     "it ends sessions",
	account.EverywherePath: "it ends sessions and tokens",
	account.AccessPath:     "it ends the access of an application",
	apikeys.EndPath:        "it ends a key",
	profile.Path:           "it lets nobody in",
}

// newTrusted is a service with every feature in which the attacker has Mina's password and a browser that she trusts,
// and has signed in to an application with them.
func newTrusted(t *testing.T) *attacked {
	w := &attacked{post: &fakeMailer{}}
	h := newProviderFixture(t, func(c *Config) {
		c.Mailer, c.Revoker, c.SignUp = w.post, &revoker{}, SignUpOpen
	})
	w.fixture = h.fixture
	w.enrols()
	w.trusts(w.b)
	if a := w.b.first("query", authorizeQuery); a.Header().Get("Location") != web.AuthorizePath+"?"+authorizeQuery {
		t.Fatalf("signing in to an application = %d to %q", a.Code, a.Header().Get("Location"))
	}
	return w
}

// Decision 91: a password and the cookie of a trusted browser open applications, and do nothing to the account. Every
// form of the account is in one of the two tables, so that a new one cannot be forgotten.
func TestTrustedBrowserDoesNothingToTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrusted(t)
		before, events := w.everything(), len(w.post.sent)
		tried := map[string]bool{}
		for _, route := range w.routes {
			if !slices.Contains(route.Methods, http.MethodPost) || !ofAccount(route.Path) {
				continue
			}
			path, table := route.Path, route.Path
			if strings.HasPrefix(path, web.WithPath) {
				table = anyProvider
			}
			if _, is := open[path]; is {
				continue
			}
			fields, is := acts[table]
			if !is {
				t.Errorf("%s is in no table: say what it takes", path)
			}
			tried[table] = true
			a := w.b.form(path, fields...)
			asked := a.Code == 303 && a.Header().Get("Location") == factor.Path
			switch path {
			case passkey.Path + "/begin": // a script asks
				asked = a.Code == 403
			case otp.LinkFlow.CodePath(): // nothing waits for a code
				asked = a.Code == 400
			}
			if !asked {
				t.Errorf("%s = %d to %q, want to be asked for the second factor: %.300s", path, a.Code, a.Header().Get("Location"),
					a.body)
			}
		}
		if len(tried) != len(acts) {
			t.Errorf("tried %v of %d", tried, len(acts))
		}
		if after := w.everything(); after != before || len(w.post.sent) != events {
			t.Errorf("the account was %s, and is %s; %d mails", before, after, len(w.post.sent))
		}
		if v, in := w.b.session(); !in || recent(w, v) {
			t.Error("the session is fresh")
		}
		must(t, w.Close(t.Context()))
	})
}

// A consent to the management of what is the user's is not theirs to give who has a password and a trusted browser.
func TestTrustedBrowserHandsOutNoManagement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrusted(t)
		app := storage.App{ID: "ksacme"}
		gives := func(scope string) string {
			w.b.form(consent.Path, "query", authorizeQuery+"&scope="+url.QueryEscape(scope), "user", w.mina.Sub, "scope", scope,
				"allow", "1", "terms", "")
			_, once, err := w.AllowedOnce(t.Context(), app, w.mina.Sub, "apps")
			must(t, err)
			_, ever, err := w.Allowed(t.Context(), app, w.mina.Sub, "openid")
			must(t, err)
			return fmt.Sprint(once, ever)
		}
		if got := gives("openid apps"); got != "false false" {
			t.Errorf("a trusted browser allows %s", got)
		}
		if got := gives("openid"); got != "false true" {
			t.Errorf("a trusted browser allows %s", got)
		}
		time.Sleep(time.Minute)
		w.both(w.b, "query", web.AccountPath)
		if got := gives("openid apps"); got != "true true" {
			t.Errorf("with both factors it allows %s", got)
		}
		must(t, w.Close(t.Context()))
	})
}

// ofAccount reports whether a path is one of those where a signed-in user changes something.
func ofAccount(path string) bool {
	return strings.HasPrefix(path, web.AccountPath) || strings.HasPrefix(path, otp.LinkFlow.Path) ||
		path == newpassword.Path ||
		strings.HasPrefix(path, web.WithPath) && strings.HasSuffix(path, "/link")
}

// everything tells what somebody might have changed.
func (w *attacked) everything() string {
	ctx := context.Background()
	u, err := w.store.Store.User(ctx, w.mina.Sub)
	must(w.t, err)
	logins, err := w.store.Logins(ctx, w.mina.Sub)
	must(w.t, err)
	keys, err := w.store.APIKeys(ctx, w.mina.Sub)
	must(w.t, err)
	f := w.factors(w.mina.Sub)
	var methods []string
	for _, l := range logins {
		methods = append(methods, l.Method+l.Subject+l.PasswordHash)
	}
	return strings.Join(append(methods, u.Email, f.Summary(), strings.Join(slices.Collect(namesOf(keys)), " ")), " ")
}

func namesOf(keys []apikey.Key) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, k := range keys {
			if !yield(k.Name) {
				return
			}
		}
	}
}

// goesOn opens the page of a form that was kept, and sends what it sends.
func (b *browser) goesOn(t *testing.T, to string) answer {
	t.Helper()
	page := b.do(get(to))
	_, action, ok := strings.Cut(page.body, `id="on" method="post" action="`)
	action, _, _ = strings.Cut(action, `"`)
	if !ok {
		t.Fatalf("%s = %d %s", to, page.Code, page.body)
	}
	return b.sendsKept(action)
}

func (b *browser) sendsKept(action string) answer {
	at, query, _ := strings.Cut(strings.ReplaceAll(action, "&amp;", "&"), "?")
	r := post()
	r.URL.Path, r.URL.RawQuery = at, query
	return b.do(r)
}

// A form of the account goes on, whole, once its user has proved their factors.
func TestFormOfTheAccountGoesOnAfterTheProof(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		fields []string
		done   func(w *attacked, a answer) bool
	}{
		"an address": {otp.LinkFlow.Path, []string{"address", "new@example.org"}, func(w *attacked, a answer) bool {
			must(w.t, w.outbox.Drain(context.Background()))
			return a.Header().Get("Location") == otp.LinkFlow.CodePath() &&
				w.post.sent[len(w.post.sent)-1].to == "new@example.org"
		}},
		"a key": {apikeys.Path, []string{"name", "deploy & co=1 +%\r\n", "what", "read", "days", "9"},
			func(w *attacked, a answer) bool {
				keys, err := w.store.APIKeys(context.Background(), w.mina.Sub)
				must(w.t, err)
				return a.Code == 200 && len(keys) == 1 && keys[0].Name == "deploy & co=1 +%" && keyText.MatchString(a.body)
			}},
		"a password": {newpassword.Path, []string{"current", password, "password", better}, func(w *attacked, a answer) bool {
			return a.Header().Get("Location") == newpassword.ChangedPath
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTrusted(t)
				a := w.b.form(c.path, c.fields...)
				if a.Header().Get("Location") != factor.Path {
					t.Fatalf("the form = %d to %q", a.Code, a.Header().Get("Location"))
				}
				if page := w.b.do(get(factor.Path)); !strings.Contains(page.body, "What you typed is kept") ||
					strings.Contains(page.body, "trust") {
					t.Errorf("the page asks: %s", page.body)
				}
				time.Sleep(time.Minute) // the code of the first sign-in is used up
				a = w.b.form(factor.Path, "code", w.shows(0))
				to := a.Header().Get("Location")
				if !web.IsGoOn(to) {
					t.Fatalf("the code = %d to %q", a.Code, to)
				}
				if a := w.b.goesOn(t, to); !c.done(w, a) {
					t.Errorf("the form goes on = %d to %q: %s", a.Code, a.Header().Get("Location"), a.body)
				}
				if a := w.b.do(get(to)); a.Code != 400 || !strings.Contains(a.body, "fill in the form once more") {
					t.Errorf("a second time = %d %s", a.Code, a.body)
				}
				must(t, w.Close(t.Context()))
			})
		})
	}
}

// An old session proves both once more, and in Chinese it is said in Chinese.
func TestOldSessionIsAskedForAllAndTheFormGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.both(w.b)
		time.Sleep(stepup.MaxAge + time.Second)
		r := post("name", "deploy", "what", "all", "days", "90")
		r.URL.Path = apikeys.Path
		r.Header.Set("Accept-Language", "zh-CN")
		a := w.b.do(r)
		if a.Code != 200 || !strings.Contains(a.body, "您填写的内容已保留") || !strings.Contains(a.body, "确认是您本人") ||
			!web.IsGoOn(a.carried()) {
			t.Fatalf("the form = %d %s", a.Code, a.body)
		}
		query := a.carried()
		if a := w.b.first("query", query); a.Header().Get("Location") != factor.Path {
			t.Fatalf("the password = %d to %q", a.Code, a.Header().Get("Location"))
		}
		a = w.b.form(factor.Path, "code", w.shows(0))
		if a := w.b.goesOn(t, a.Header().Get("Location")); a.Code != 200 || !keyText.MatchString(a.body) {
			t.Errorf("it goes on = %d %s", a.Code, a.body)
		}
		must(t, w.Close(t.Context()))
	})
}

// A kept form is its user's, in the browser they typed it in, for ten minutes, once, and at its own address.
func TestKeptFormIsForItsUserInItsBrowserForTenMinutes(t *testing.T) {
	keyForm := []string{"name", "deploy", "what", "all", "days", "90"}
	for name, c := range map[string]func(w *attacked, action string) answer{
		"another browser of the user": func(w *attacked, action string) answer {
			other := newBrowser(w.fixture)
			other.jar["open_sso_token"] = w.b.jar["open_sso_token"]
			return other.sendsKept(action)
		},
		"another user in the browser": func(w *attacked, action string) answer {
			users, _ := w.second()
			w.b.form(web.FormPath, "username", users.Username, "password", password)
			w.b.form(factor.Path, "code", codeNow(strings.Repeat("MFRGGZDF", 4), 0))
			return w.b.sendsKept(action)
		},
		"two cookies of the form": func(w *attacked, action string) answer {
			at, query, _ := strings.Cut(action, "?")
			r := post()
			r.URL.Path, r.URL.RawQuery = at, query
			for name, value := range w.b.jar {
				r.AddCookie(&http.Cookie{Name: name, Value: value})
				if strings.HasPrefix(name, "keystile_kept_") {
					r.AddCookie(&http.Cookie{Name: name, Value: strings.Repeat("A", 43)})
				}
			}
			return w.do(r)
		},
		"another address": func(w *attacked, action string) answer {
			return w.b.sendsKept(strings.Replace(action, apikeys.Path, mydata.Path, 1))
		},
		"an id that is made up": func(w *attacked, action string) answer {
			return w.b.sendsKept(apikeys.Path + "?kept=" + strings.Repeat("A", 43))
		},
		"an id that is none": func(w *attacked, action string) answer { return w.b.sendsKept(apikeys.Path + "?kept=") },
		"ten minutes later": func(w *attacked, action string) answer {
			time.Sleep(10*time.Minute + time.Second)
			w.both(w.b)
			return w.b.sendsKept(action)
		},
		"the page of another site": func(w *attacked, action string) answer {
			at, query, _ := strings.Cut(action, "?")
			r := post()
			r.URL.Path, r.URL.RawQuery = at, strings.ReplaceAll(query, "&amp;", "&")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			return w.b.do(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAttacked(t)
				w.both(w.b)
				time.Sleep(stepup.MaxAge + time.Second)
				query := w.b.form(apikeys.Path, keyForm...).carried()
				w.b.first("query", query)
				w.b.form(factor.Path, "code", w.shows(0))
				id, to, ok := web.ReadGoOn(query)
				if !ok {
					t.Fatalf("the form is not kept: %q", query)
				}
				a := c(w, to+"?"+url.Values{web.ParamKept: {id}}.Encode())
				if a.Code != 400 && a.Code != 403 || a.Code == 400 && !strings.Contains(a.body, "Nothing was done") {
					t.Errorf("= %d to %q: %s", a.Code, a.Header().Get("Location"), a.body)
				}
				if keys, err := w.store.APIKeys(t.Context(), w.mina.Sub); err != nil || len(keys) != 0 {
					t.Errorf("made are %v %v", keys, err)
				}
				must(t, w.Close(t.Context()))
			})
		})
	}
}

// The address of a form that goes on leads nowhere that a page of another site could choose.
func TestAddressOfAKeptFormCannotBeMadeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.both(w.b)
		id := strings.Repeat("A", 43)
		for _, to := range []string{
			account.EverywherePath, "/console/users", "/oauth/account", "//evil.example/", "https://evil.example/",
			"/console/../oauth/logout", "/oauth/account/x?y=1", "",
		} {
			if a := w.b.do(get(web.GoOn(id, to))); a.Code != 400 || strings.Contains(a.body, `id="on"`) {
				t.Errorf("%q = %d %s", to, a.Code, a.body)
			}
		}
		if v, in := w.b.session(); !in || v.UserID != w.mina.Sub {
			t.Error("the session has ended")
		}
		must(t, w.Close(t.Context()))
	})
}

// The record of a form tells nothing of its contents, and its size is bounded.
func TestKeptFormsAreSealedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		w.both(w.b)
		time.Sleep(stepup.MaxAge + time.Second)
		kept := 0
		for range 30 {
			a := w.b.form(apikeys.Path, "name", "deploy-this", "what", "all", "days", "90")
			if a.Code != 200 {
				t.Fatalf("the form = %d", a.Code)
			}
			id, _, ok := web.ReadGoOn(a.carried())
			if !ok {
				if !strings.Contains(a.body, "could not be kept") {
					t.Errorf("the page says %s", a.body)
				}
				continue
			}
			kept++
			ticket, err := w.store.Ticket(t.Context(), handle.Hash("kept form:"+id))
			must(t, err)
			if text := string(ticket.Proof); len(text) == 0 || strings.Contains(text, "deploy-this") ||
				strings.Contains(ticket.State, "deploy-this") {
				t.Errorf("the ticket is %+v", ticket)
			}
		}
		if kept != 10 {
			t.Errorf("%d forms of one user are kept", kept)
		}
		nobody := newBrowser(w.fixture)
		if a := nobody.form(apikeys.Path, "name", "x"); a.Code != 303 || a.Header().Get("Location") != apikeys.Path {
			t.Errorf("nobody's form = %d", a.Code)
		}
		must(t, w.Close(t.Context()))
	})
}
