package signin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/storage"
)

// abroad is a room with four made-up providers.
type abroad struct {
	*room
	fakes http.Handler
}

var providers = []string{"wx", "qq", "alipay", "douyin"}

func openAbroad(t *testing.T, change func(*Config)) *abroad {
	t.Helper()
	f, err := fake.New(fake.Config{BaseURL: origin, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	c, client := f.Configs(), &http.Client{Transport: direct{f}}
	c.WX.Client, c.QQ.Client, c.Alipay.Client, c.Douyin.Client = client, client, client, client
	var all []connector.Connector
	add := func(one connector.Connector, err error) {
		must(t, err)
		all = append(all, one)
	}
	add(connector.NewWX(c.WX))
	add(connector.NewQQ(c.QQ))
	add(connector.NewAlipay(c.Alipay))
	add(connector.NewDouyin(c.Douyin))
	return &abroad{open(t, func(c *Config) {
		if c.Connectors = all; change != nil {
			change(c)
		}
	}), f}
}

// direct answers requests without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	in := r.Clone(r.Context())
	in.RequestURI = in.URL.RequestURI()
	d.ServeHTTP(w, in)
	return w.Result(), nil
}

// journey is one browser that has left for a provider.
type journey struct {
	in      *abroad
	name    string
	browser string // its cookie
	session string
	query   url.Values // of the provider's page
}

// leave follows the link on the sign-in page.
func (h *abroad) leave(name, query string) *journey {
	h.t.Helper()
	a := h.do(get(way{Path: withPath + name}.carrying(query).Path))
	return h.left(name, a)
}

func (h *abroad) left(name string, a answer) *journey {
	h.t.Helper()
	to, err := url.Parse(a.Header().Get("Location"))
	must(h.t, err)
	if !strings.HasPrefix(to.Path, fake.Path+"/"+name+"/") {
		h.t.Fatalf("%s: %d to %q", name, a.Code, to)
	}
	j := &journey{in: h, name: name, query: to.Query()}
	for _, c := range a.Result().Cookies() {
		if c.Name == browserCookie {
			j.browser = c.Value
		}
	}
	j.query.Set("at", to.RequestURI())
	return j
}

// choose is somebody over there; it returns where the provider sends the browser.
func (j *journey) choose(person string) string {
	j.in.t.Helper()
	at, raw, _ := strings.Cut(j.query.Get("at"), "?")
	r := httptest.NewRequest("POST", origin+at, strings.NewReader(url.Values{"person": {person}, "query": {raw}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	j.in.fakes.ServeHTTP(w, r)
	return strings.TrimPrefix(w.Header().Get("Location"), origin)
}

// arrive opens an address in the browser that left.
func (j *journey) arrive(target string) answer {
	r := get(target)
	if j.browser != "" {
		r.AddCookie(&http.Cookie{Name: browserCookie, Value: j.browser})
	}
	if j.session != "" {
		with(r, j.session)
	}
	return j.in.do(r)
}

// user is whose session an answer has begun.
func (h *abroad) user(a answer) (storage.User, storage.Session) {
	h.t.Helper()
	if a.Code != 303 || a.cookie() == "" {
		h.t.Fatalf("arriving = %d %s", a.Code, a.body)
	}
	v, err := h.store.Session(context.Background(), storage.SessionID(a.cookie()))
	must(h.t, err)
	u, err := h.store.User(context.Background(), v.UserID)
	must(h.t, err)
	return u, v
}

func TestPeopleSignInWithEachProviderAndStayWhoTheyAre(t *testing.T) {
	h := openAbroad(t, nil)
	page := h.ask(get("/oauth/authorize?" + asked)).body
	for _, name := range providers {
		if !strings.Contains(page, `href="/oauth/signin/with/`+name+"?query=") {
			t.Errorf("the page does not offer %s", name)
		}
		for _, person := range []string{"lin", "omar", "mei", "robert"} {
			var first storage.User
			for visit := range 3 { // mei's unionid arrives at the second
				j := h.leave(name, asked)
				a := j.arrive(j.choose(person))
				if to := a.Header().Get("Location"); to != "/oauth/authorize?"+asked {
					t.Errorf("%s as %s leads to %q", name, person, to)
				}
				u, v := h.user(a)
				if v.LoginType != name || u.LoginType != name || !strings.HasPrefix(u.Username, name+"_") {
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

func TestWhatComesBackWrongSignsNobodyIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openAbroad(t, nil)
		denied := h.leave("wx", asked)
		if a := denied.arrive(denied.choose("nobody")); a.Code != 200 || a.cookie() != "" || !strings.Contains(a.body, "have not allowed") || !strings.Contains(a.body, "Sign in to Acme") {
			t.Errorf("denied = %d %s", a.Code, a.body)
		}
		for promise, change := range map[string]func(j *journey, target string) answer{
			"another browser": func(j *journey, target string) answer { j.browser = storage.DrawCookie(); return j.arrive(target) },
			"no browser":      func(j *journey, target string) answer { j.browser = ""; return j.arrive(target) },
			"another state": func(j *journey, target string) answer {
				return j.arrive(strings.Replace(target, j.query.Get("state"), drawState(), 1))
			},
			"two states": func(j *journey, target string) answer { return j.arrive(target + "&state=" + j.query.Get("state")) },
			"no state": func(j *journey, target string) answer {
				return j.arrive(strings.Replace(target, "state="+j.query.Get("state"), "", 1))
			},
			"another provider's door": func(j *journey, target string) answer {
				return j.arrive(strings.Replace(target, "with/wx", "with/qq", 1))
			},
			"too late":      func(j *journey, target string) answer { time.Sleep(upstreamLife); return j.arrive(target) },
			"a second time": func(j *journey, target string) answer { h.user(j.arrive(target)); return j.arrive(target) },
		} {
			j := h.leave("wx", asked)
			if a := change(j, j.choose("lin")); a.Code != 400 || a.cookie() != "" || !strings.Contains(a.body, "Begin again") {
				t.Errorf("%s: %d %s", promise, a.Code, a.body)
			}
		}
		forged := h.leave("wx", asked)
		if a := forged.arrive(withPath + "wx/return?code=made-up&state=" + forged.query.Get("state")); a.Code != 400 || a.cookie() != "" {
			t.Errorf("a code that is made up: %d", a.Code)
		}
	})
}

func TestOneArrivalGoesOnHoweverManyComeAtOnce(t *testing.T) {
	h := openAbroad(t, nil)
	j := h.leave("qq", asked)
	target := j.choose("lin")
	var all sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 30 {
		all.Go(func() {
			a := j.arrive(target)
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

func TestTwoFirstVisitsAtOnceMakeOneUser(t *testing.T) {
	h := openAbroad(t, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	subs := map[string]int{}
	for range 10 {
		j := h.leave("qq", asked)
		target := j.choose("lin")
		all.Go(func() {
			u, _ := h.user(j.arrive(target))
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

func TestAProviderThatFailsIsTroubleAndTold(t *testing.T) {
	h := openAbroad(t, nil)
	h.upstreams[0].Connector = broken{h.upstreams[0].Connector}
	h.mux = reply.NewMux(h.SignIn.log, h.routes()...)
	j := h.leave("wx", asked)
	a := j.arrive(j.choose("lin"))
	if a.Code != 503 || a.Header().Get("Retry-After") == "" || !strings.Contains(a.body, "at the moment") || !strings.Contains(h.log.String(), "busy") {
		t.Errorf("a provider that fails = %d %s, log %s", a.Code, a.body, h.log)
	}
}

// broken is a connector whose provider is not well.
type broken struct{ connector.Connector }

func (broken) Finish(context.Context, string, url.Values) (connector.Profile, error) {
	return connector.Profile{}, &connector.Trouble{Provider: "wx", Code: "-1", Text: "busy"}
}

func TestTheLockHoldsForProvidersToo(t *testing.T) {
	h := openAbroad(t, nil)
	j := h.leave("wx", asked)
	target := j.choose("lin")
	for range 10 {
		h.do(post("username", "mina", "password", "wrong"))
	}
	if a := h.do(get(withPath + "qq")); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("leaving while locked = %d", a.Code)
	}
	if a := j.arrive(target); a.Code != 429 || a.cookie() != "" {
		t.Errorf("arriving while locked = %d", a.Code)
	}
}

func TestADisabledUserDoesNotComeInByAProvider(t *testing.T) {
	h := openAbroad(t, nil)
	j := h.leave("wx", asked)
	u, _ := h.user(j.arrive(j.choose("lin")))
	u.Disabled = true
	_, err := h.store.SaveUser(context.Background(), u)
	must(t, err)
	j = h.leave("wx", asked)
	if a := j.arrive(j.choose("lin")); a.Code != 401 || a.cookie() != "" {
		t.Errorf("a disabled user = %d", a.Code)
	}
}

func TestALinkedProviderKeepsTheUser(t *testing.T) {
	h := openAbroad(t, nil)
	mina := h.enterMina()
	link := func(name, session string) *journey {
		t.Helper()
		r := post("cookie", session)
		r.URL.Path = withPath + name + "/link"
		j := h.left(name, h.do(r))
		j.session = session
		return j
	}
	for _, name := range providers {
		j := link(name, mina)
		if a := j.arrive(j.choose("mei")); a.Code != 303 || a.Header().Get("Location") != accountPath {
			t.Fatalf("linking %s = %d %s", name, a.Code, a.body)
		}
		for range 2 { // the unionid arrives at the second
			j = h.leave(name, asked)
			u, v := h.user(j.arrive(j.choose("mei")))
			if u.Sub != h.mina.Sub || v.LoginType != name || u.LoginType != name || u.Nickname != "Mina Okafor" {
				t.Errorf("after linking %s it is %+v by %s", name, u, v.LoginType)
			}
		}
	}

	// What is somebody else's is not taken from them.
	j := h.leave("wx", asked)
	lin, _ := h.user(j.arrive(j.choose("lin")))
	j = link("wx", mina)
	if a := j.arrive(j.choose("lin")); a.Code != 400 {
		t.Errorf("linking somebody else's = %d", a.Code)
	}
	if all, err := h.store.Logins(context.Background(), lin.Sub); len(all) != 2 || err != nil {
		t.Errorf("somebody else has %d logins left, %v", len(all), err)
	}

	// Who has begun must be who arrives.
	j = link("qq", mina)
	target := j.choose("robert")
	j.session = h.enterMina()
	must(t, h.store.EndSession(context.Background(), session(h, j.session)))
	if a := j.arrive(target); a.Code != 403 {
		t.Errorf("arriving signed out = %d", a.Code)
	}
}

func TestWhatIsLinkedIsNotOfferedAgain(t *testing.T) {
	h := openAbroad(t, nil)
	account, err := h.Account(AccountConfig{Revoker: &desk{room: h.room}})
	must(t, err)
	mina := h.enterMina()
	must(t, h.store.LinkLogins(context.Background(), h.mina.Sub, storage.Login{Method: "wx", Subject: "o:1"}))
	w := httptest.NewRecorder()
	account.ServeHTTP(w, get(accountPath, mina))
	for name, offered := range map[string]bool{"wx": false, "qq": true, "alipay": true, "douyin": true} {
		if strings.Contains(w.Body.String(), `action="/oauth/signin/with/`+name+`/link"`) != offered {
			t.Errorf("linking %s is offered: %t", name, !offered)
		}
	}
}

// Browsers hold every redirect after a form against form-action, and so those of providers.
func TestTheAccountPageLetsPeopleGoToProvidersAndNoOtherPageDoes(t *testing.T) {
	h := openAbroad(t, nil)
	d := &desk{room: h.room}
	var err error
	d.account, err = h.Account(AccountConfig{Revoker: d})
	must(t, err)
	mina, lets := h.enterMina(), "form-action 'self' https:;"
	if a := d.do(get(accountPath, mina)); !strings.Contains(a.policy(), lets) {
		t.Errorf("the account page: %s", a.policy())
	}
	for _, name := range providers {
		d.link(h.mina.Sub, storage.Login{Method: name, Subject: "o:1"})
	}
	for what, a := range map[string]answer{"with nothing to link": d.do(get(accountPath, mina)), "the sign-in page": h.do(get(formPath))} {
		if a.policy() == "" || strings.Contains(a.policy(), lets) {
			t.Errorf("%s: %s", what, a.policy())
		}
	}
}

func session(h *abroad, cookie string) storage.Session {
	v, err := h.store.Session(context.Background(), storage.SessionID(cookie))
	must(h.t, err)
	return v
}

func TestLinkingTakesAFormOfOursAndAFreshSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openAbroad(t, nil)
		mina := h.enterMina()
		r := post("cookie", mina)
		r.URL.Path = withPath + "wx/link"
		foreign := r.Clone(t.Context())
		foreign.Header.Set("Sec-Fetch-Site", "cross-site")
		if a := h.do(foreign); a.Code != 403 {
			t.Errorf("from another site = %d", a.Code)
		}
		if a := h.do(get(withPath+"wx/link", mina)); a.Code != 405 {
			t.Errorf("by a link = %d", a.Code)
		}
		nobody := post()
		nobody.URL.Path = withPath + "wx/link"
		if a := h.do(nobody); a.Code != 303 || a.Header().Get("Location") != accountPath {
			t.Errorf("by nobody = %d to %s", a.Code, a.Header().Get("Location"))
		}
		time.Sleep(recent + time.Second)
		r = post("cookie", mina)
		r.URL.Path = withPath + "wx/link"
		if a := h.do(r); a.Code != 303 || a.Header().Get("Location") != confirmPath {
			t.Errorf("after ten minutes = %d to %s", a.Code, a.Header().Get("Location"))
		}
	})
}

func TestLeavingIsBoundedByAddress(t *testing.T) {
	h := openAbroad(t, nil)
	for range codesOfAddress {
		h.leave("wx", "")
	}
	if a := h.do(get(withPath + "wx")); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("the next one = %d", a.Code)
	}
}

func TestNothingOfTheProviderIsInTheLog(t *testing.T) {
	h := openAbroad(t, nil)
	j := h.leave("wx", asked)
	target := j.choose("lin")
	h.user(j.arrive(target))
	back, err := url.Parse(target)
	must(t, err)
	for _, secret := range []string{back.Query().Get("code"), j.query.Get("state"), j.browser} {
		if secret == "" || strings.Contains(h.log.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, h.log)
		}
	}
}

func TestConnectorsNeedUsersWhoCanBeConnected(t *testing.T) {
	h := openAbroad(t, nil)
	all := []connector.Connector{h.upstreams[0].Connector}
	if _, err := New(Config{BaseURL: origin, Store: h.store, Users: onlyUsers{h.users}, Connectors: all}); err == nil || !strings.Contains(err.Error(), "ConnectedUsers") {
		t.Errorf("New = %v", err)
	}
	if _, err := New(Config{BaseURL: origin, Store: h.store, Connectors: append(all, all...)}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("New = %v", err)
	}
}

type onlyUsers struct{ Users }

func TestAStoreThatIsAwayIsNobodysFault(t *testing.T) {
	h := openAbroad(t, nil)
	j := h.leave("wx", asked)
	target := j.choose("lin")
	h.store.save = errDown
	if a := j.arrive(target); a.Code != 503 || a.cookie() != "" {
		t.Errorf("a session that can not be written = %d", a.Code)
	}
}
