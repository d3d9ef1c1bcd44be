package signin

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

func TestUsersSignInWithEachProviderAndKeepTheirAccount(t *testing.T) {
	for _, name := range providers {
		h := newProviderFixture(t, nil) // each: an address makes so many visits a minute
		page := h.signInPage(get("/oauth/authorize?" + authorizeQuery)).body
		if !strings.Contains(page, `href="/oauth/signin/with/`+name+"?query=") {
			t.Errorf("the page does not offer %s", name)
		}
		for _, person := range []string{"lin", "omar", "mei", "robert"} {
			var first storage.User
			visits := 2
			if person == "mei" { // whose unionid arrives at the second
				visits = 3
			}
			for visit := range visits {
				j := h.start(name, authorizeQuery)
				a := j.open(j.choose(person))
				if to := a.Header().Get("Location"); to != "/oauth/authorize?"+authorizeQuery {
					t.Errorf("%s as %s leads to %q", name, person, to)
				}
				u, v := h.user(a)
				if v.LoginType != logintype.Of(name) || v.SignInMethod() != name || u.LoginType != name ||
					!strings.HasPrefix(u.Username, name+"_") {
					t.Errorf("%s as %s: session %+v of %+v", name, person, v, u)
				}
				if visit == 0 {
					first = u
				} else if u.Sub != first.Sub {
					t.Errorf("%s as %s forks the account at visit %d", name, person, visit+1)
				}
			}
			if person == "robert" && first.Nickname != "<b>Robert</b> 🦊" {
				t.Errorf("%s: nickname %q", name, first.Nickname)
			}
		}
	}
}

// Providers send names as they were typed, with characters in them that make the answer no JSON.
func TestControlCharacterInANameKeepsNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, name := range providers {
		h := newProviderFixture(t, nil)
		j := h.start(name, authorizeQuery)
		if u, _ := h.user(j.open(j.choose("kit"))); strings.ReplaceAll(u.Nickname, " ", "") != "KitMoreau" {
			t.Errorf("%s: nickname %q", name, u.Nickname)
		}
	}
}

func TestProviderAnswersThatAreWrongSignNoOneIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newProviderFixture(t, nil)
		denied := h.start("wx", authorizeQuery)
		if a := denied.open(denied.choose("nobody")); a.Code != 200 || a.cookie() != "" ||
			!strings.Contains(a.body, "have not allowed") || !strings.Contains(a.body, "Sign in to Acme") {
			t.Errorf("denied = %d %s", a.Code, a.body)
		}
		for promise, change := range map[string]func(j *providerVisit, target string) answer{
			"another browser": func(j *providerVisit,
				target string) answer {
				j.browser = handle.NewCookie()
				return j.open(target)
			},
			"no browser": func(j *providerVisit, target string) answer { j.browser = ""; return j.open(target) },
			"another state": func(j *providerVisit, target string) answer {
				return j.open(strings.Replace(target, j.query.Get("state"), rand.Text(), 1))
			},
			"two states": func(j *providerVisit,
				target string) answer {
				return j.open(target + "&state=" + j.query.Get("state"))
			},
			"no state": func(j *providerVisit, target string) answer {
				return j.open(strings.Replace(target, "state="+j.query.Get("state"), "", 1))
			},
			"another provider's return address": func(j *providerVisit, target string) answer {
				return j.open(strings.Replace(target, "with/wx", "with/qq", 1))
			},
			"too late": func(j *providerVisit,
				target string) answer {
				time.Sleep(limits.VisitLife)
				return j.open(target)
			},
			"a second time": func(j *providerVisit, target string) answer { h.user(j.open(target)); return j.open(target) },
		} {
			j := h.start("wx", authorizeQuery)
			if a := change(j, j.choose("lin")); a.Code != 400 || a.cookie() != "" || !strings.Contains(a.body, "Begin again") {
				t.Errorf("%s: %d %s", promise, a.Code, a.body)
			}
		}
		forged := h.start("wx", authorizeQuery)
		if a := forged.open(web.WithPath + "wx/return?code=made-up&state=" + forged.query.Get("state")); a.Code != 400 ||
			a.cookie() != "" {
			t.Errorf("a code that is made up: %d", a.Code)
		}
	})
}

// They are told why: to try again would not help them.
func TestStrangerToTheOrganizationIsToldSo(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("wecom", authorizeQuery)
	a := j.open(j.choose("zhou"))
	if a.Code != 401 || a.cookie() != "" || !strings.Contains(a.body, "Only members of the organization can sign in this way") || !strings.Contains(a.body, `href="/oauth/signin/with/wx?query=`) {
		t.Errorf("a stranger = %d %s", a.Code, a.body)
	}
}

func TestInsideTheAppOfAProviderItsOwnPageOpens(t *testing.T) {
	h := newProviderFixture(t, nil)
	for agent, page := range map[string]string{
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Mobile Safari/537.36 wxwork/4.1.30 " +
			"MicroMessenger/7.0.1": fake.Path + "/wecom/connect/oauth2/authorize?",
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Mobile " +
			"Safari/537.36": fake.Path + "/wecom/wwlogin/sso/login?",
	} {
		r := get(web.WithPath + "wecom")
		r.Header.Set("User-Agent", agent)
		j := h.visit("wecom", h.do(r))
		if at := j.query.Get("at"); !strings.HasPrefix(at, page) {
			t.Errorf("%s opens %s", agent, at)
		}
		if u, _ := h.user(j.open(j.choose("omar"))); !strings.HasPrefix(u.Username, "wecom_") {
			t.Errorf("%s signs in %s", agent, u.Username)
		}
	}
}

func TestProviderArrivalSucceedsOnceHoweverManyComeAtOnce(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("qq", authorizeQuery)
	target := j.choose("lin")
	var all sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 30 {
		all.Go(func() {
			a := j.open(target)
			mu.Lock()
			codes[a.Code]++
			mu.Unlock()
		})
	}
	all.Wait()
	if codes[303] != 1 || codes[400] != 29 {
		t.Errorf("30 arrivals with one state: %v", codes)
	}
}

func TestFirstVisitsAtOnceMakeOneUser(t *testing.T) {
	h := newProviderFixture(t, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	subs := map[string]int{}
	for range 10 {
		j := h.start("qq", authorizeQuery)
		target := j.choose("lin")
		all.Go(func() {
			u, _ := h.user(j.open(target))
			mu.Lock()
			subs[u.Sub]++
			mu.Unlock()
		})
	}
	all.Wait()
	if len(subs) != 1 {
		t.Errorf("10 first visits make %d users", len(subs))
	}
}

func TestProviderFailureIsLoggedAndShown(t *testing.T) {
	h := newProviderFixture(t, func(c *Config) { c.Connectors[0] = broken{c.Connectors[0]} })
	j := h.start("wx", authorizeQuery)
	a := j.open(j.choose("lin"))
	if a.Code != 503 || a.Header().Get("Retry-After") == "" || !strings.Contains(a.body, "at the moment") ||
		!strings.Contains(h.log.String(), "busy") {
		t.Errorf("a provider that fails = %d %s, log %s", a.Code, a.body, h.log)
	}
}

// broken is a connector whose provider is not well.
type broken struct{ connector.Connector }

func (broken) Finish(context.Context, string, url.Values) (connector.Profile, error) {
	return connector.Profile{}, &connector.Trouble{Provider: "wx", Code: "-1", Text: "busy"}
}

func TestLockHoldsForProvidersToo(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("wx", authorizeQuery)
	target := j.choose("lin")
	for range 10 {
		h.do(post("username", "mina", "password", "wrong"))
	}
	if a := h.do(get(web.WithPath + "qq")); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("leaving while locked = %d", a.Code)
	}
	if a := j.open(target); a.Code != 429 || a.cookie() != "" {
		t.Errorf("arriving while locked = %d", a.Code)
	}
}

func TestDisabledUserDoesNotComeInByAProvider(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("wx", authorizeQuery)
	u, _ := h.user(j.open(j.choose("lin")))
	u.Disabled = true
	_, err := h.store.SaveUser(context.Background(), u)
	must(t, err)
	j = h.start("wx", authorizeQuery)
	if a := j.open(j.choose("lin")); a.Code != 401 || a.cookie() != "" {
		t.Errorf("a disabled user = %d", a.Code)
	}
}

func TestVisitsToProvidersAreLimitedByAddress(t *testing.T) {
	h := newProviderFixture(t, nil)
	for range limits.TicketsPerIP {
		h.start("wx", "")
	}
	if a := h.do(get(web.WithPath + "wx")); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("the next one = %d", a.Code)
	}
}

func TestLogHoldsNothingOfTheProvider(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("wx", authorizeQuery)
	target := j.choose("lin")
	h.user(j.open(target))
	back, err := url.Parse(target)
	must(t, err)
	for _, secret := range []string{back.Query().Get("code"), j.query.Get("state"), j.browser} {
		if secret == "" || strings.Contains(h.log.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, h.log)
		}
	}
}

func TestConnectorsNeedUsersWhoCanBeConnected(t *testing.T) {
	var all []connector.Connector
	h := newProviderFixture(t, func(c *Config) { all = c.Connectors[:1:1] })
	if _, err := New(context.Background(), Config{BaseURL: origin, Store: h.store, Users: users.Host{Users: h.users.Users},
		Connectors: all}); err == nil || !strings.Contains(err.Error(), "ConnectedUsers") {
		t.Errorf("New = %v", err)
	}
	if _, err := New(context.Background(), Config{BaseURL: origin, Store: h.store,
		Connectors: append(all, all...)}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("New = %v", err)
	}
}

func TestStoreThatIsAwayIsNobodysFault(t *testing.T) {
	h := newProviderFixture(t, nil)
	j := h.start("wx", authorizeQuery)
	target := j.choose("lin")
	h.store.save = errDown
	if a := j.open(target); a.Code != 503 || a.cookie() != "" {
		t.Errorf("a session that cannot be written = %d", a.Code)
	}
}
