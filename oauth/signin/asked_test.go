package signin

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// A provider is asked, in its own words, for what an application asks of a sign-in; one that has no words for it is
// not.
func TestProviderIsAskedWhatTheApplicationAsks(t *testing.T) {
	h := newProviderFixture(t, nil)
	for name, rows := range map[string]map[string]string{
		"oidc": {
			"":                                       "  |",
			"prompt=login":                           "login 300 |",
			"prompt=select_account&login_hint=ada":   "select_account  ada|",
			"max_age=0":                              "login 300 |",
			"max_age=60&prompt=consent+login":        "login 60 |",
			"max_age=86400&ui_locales=zh-CN+en":      " 86400 |zh-CN en",
			"prompt=login+select_account&max_age=10": "login select_account 10 |",
		},
		"github": {"": "  |", "prompt=login&login_hint=ada": "select_account  ada|",
			"prompt=select_account": "select_account  |", "max_age=60": "  |"},
		"feishu": {"prompt=login&max_age=1&login_hint=ada&ui_locales=en": "  |"},
		"wecom":  {"prompt=login": "  |"},
	} {
		for sent, want := range rows {
			q := h.start(name, authorizeQuery+"&"+sent).query
			hint := q.Get("login_hint") + q.Get("login")
			if name == "wecom" {
				hint = q.Get("login_hint")
			}
			if got := q.Get("prompt") + " " + q.Get("max_age") + " " + hint + "|" + q.Get("ui_locales"); got != want {
				t.Errorf("%s, %s: %q, want %q", name, sent, got, want)
			}
		}
	}
	if q := h.start("wx", authorizeQuery+"&ui_locales=en-GB+zh").query; q.Get("lang") != "en" {
		t.Errorf("wx is asked %v", q)
	}
}

// A provider that does not say when its user signed in, or says that it was long ago, does not prove what was asked
// for. The application is told, and nobody is signed in.
func TestSignInThatIsNotProvenIsNone(t *testing.T) {
	h := newProviderFixture(t, nil)
	for _, row := range []struct {
		name, fault, asks string
		proven            bool
	}{
		{"oidc", "", "prompt=login", true},
		{"oidc", "old-session", "prompt=login", false},
		{"oidc", "no-auth-time", "prompt=login", false},
		{"oidc", "future-session", "prompt=login", false}, // no clock is that wrong
		{"oidc", "old-session", "max_age=0", false},
		{"oidc", "old-session", "max_age=60", false},
		{"oidc", "no-auth-time", "max_age=86400", false},
		{"oidc", "old-session", "max_age=86400", true},
		{"oidc", "old-session", "prompt=select_account", true},
		{"oidc", "old-session", "", true},
		{"wx", "", "prompt=login", false}, {"qq", "", "max_age=60", false}, {"github", "", "prompt=login", false},
		{"feishu", "", "max_age=0", false},
		{"wx", "", "prompt=select_account", true}, {"wx", "", "", true},
	} {
		query := strings.TrimSuffix(authorizeQuery+"&"+row.asks, "&")
		j := h.start(row.name, query)
		a := j.open(j.chooseWith("lin", row.fault))
		want := "/oauth/authorize?" + query + "&keystile_login=unproven"
		if row.proven {
			if want = "/oauth/authorize?" + authorizeQuery; row.asks == "max_age=86400" {
				want += "&" + row.asks // which is met, and stays
			}
		}
		if to := a.Header().Get("Location"); a.Code != 303 || to != want || (a.cookie() != "") != row.proven {
			t.Errorf("%s %s, %s: %d to %s with a session: %v; want %s", row.name, row.fault, row.asks, a.Code, to,
				a.cookie() != "", want)
		}
	}
}

// A session by a provider is as old as the provider says; one that says nothing is not now. It is no fresh one then
// (decision 57), unless its user has nothing else to prove who they are.
func TestSessionByAProviderIsNoNewerThanThere(t *testing.T) {
	for _, row := range []struct {
		name, fault string
		password    bool
		age         time.Duration // negative: it is not known
		fresh       bool
	}{
		{"oidc", "", true, 0, true}, {"oidc", "old-session", true, time.Hour, false},
		{"oidc", "old-session", false, time.Hour, false},
		{"oidc", "no-auth-time", true, -1, false}, {"oidc", "no-auth-time", false, -1, true},
		{"oidc", "future-session", true, -1, false},
		{"wx", "", true, -1, false}, {"wx", "", false, -1, true}, {"github", "", true, -1, false},
	} {
		h := newProviderFixture(t, nil)
		if row.password {
			link := h.visit(row.name, h.do(formTo(web.WithPath+row.name+"/link", "cookie", h.enterMina())))
			link.session = h.enterMina()
			if a := link.open(link.choose("lin")); a.Code != 303 {
				t.Fatalf("linking %s = %d %s", row.name, a.Code, a.body)
			}
		}
		j := h.start(row.name, authorizeQuery)
		_, v := h.user(j.open(j.chooseWith("lin", row.fault)))
		since, known := time.Since(v.AuthTime), !v.ProvedAt().IsZero()
		if known != (row.age >= 0) || known && (since < row.age || since > row.age+time.Minute) || recent(h, v) != row.fresh {
			t.Errorf("%+v: since %v, known %v, fresh %v", row, since, known, recent(h, v))
		}
	}
}

// A user who confirms at a provider that it is they has to sign in there once more, and is told if the provider does
// not say that they have.
func TestProviderConfirmsOnlyWhatItProves(t *testing.T) {
	h := newProviderFixture(t, nil)
	mina := h.enterMina()
	for _, name := range []string{"oidc", "wx"} {
		link := h.visit(name, h.do(formTo(web.WithPath+name+"/link", "cookie", mina)))
		link.session = mina
		if a := link.open(link.choose("lin")); a.Code != 303 {
			t.Fatalf("linking %s = %d %s", name, a.Code, a.body)
		}
	}
	h.aged(mina, time.Hour)
	confirm := func(name, fault string) (*providerVisit, answer) {
		at := web.WithPath + name + "?" + url.Values{"query": {web.AccountPath}}.Encode()
		j := h.visit(name, h.do(get(at, mina)))
		j.session = mina
		return j, j.open(j.chooseWith("lin", fault))
	}
	for _, row := range [][2]string{{"oidc", "old-session"}, {"oidc", "no-auth-time"}, {"wx", ""}} {
		if _, a := confirm(row[0], row[1]); a.Code != 401 || a.cookie() != "" ||
			!strings.Contains(a.body, "does not say that you have just signed in there") {
			t.Errorf("%s = %d %s", row, a.Code, a.body)
		}
	}
	j, a := confirm("oidc", "")
	if _, v := h.user(a); j.query.Get("prompt") != "login" || !recent(h, v) ||
		a.Header().Get("Location") != web.AccountPath {
		t.Errorf("the provider is asked %v, and %d to %s", j.query, a.Code, a.Header().Get("Location"))
	}
	var none storage.Session
	if !none.ProvedAt().IsZero() {
		t.Error("a session without a time has one")
	}
}

// A first second factor cannot be added by a session that is open at a provider. The provider is asked for a new
// sign-in then, or its user, who has nothing else, would see the sign-in page for ever.
func TestFactorAddedOnDemandNeedsAnotherSignInAtTheProvider(t *testing.T) {
	h := newProviderFixture(t, required(-1))
	for _, query := range []string{authorizeQuery, web.AccountPath} {
		j := h.start("oidc", query)
		a := j.open(j.chooseWith("lin", "old-session"))
		link := regexp.MustCompile(`href="(/oauth/signin/with/oidc[?][^"]*)"`).FindStringSubmatch(a.body)
		if a.Code != 200 || link == nil || a.cookie() != "" {
			t.Fatalf("coming by an old session = %d %s", a.Code, a.body)
		}
		j = h.visit("oidc", h.do(get(html.UnescapeString(link[1]))))
		if j.query.Get("prompt") != "login" {
			t.Fatalf("the provider is asked %v", j.query)
		}
		if a = j.open(j.choose("lin")); a.Header().Get("Location") != factor.EnrolPath {
			t.Errorf("coming by a new sign-in = %d to %s", a.Code, a.Header().Get("Location"))
		}
	}
}
