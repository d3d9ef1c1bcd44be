package signin

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// fakeTools is a Tools whose answer the test sets.
type fakeTools struct {
	offer access.Offer
	err   error
	asked []string
}

func (s *fakeTools) Offer(_ context.Context, sub, clientID, scope string) (access.Offer, error) {
	s.asked = append(s.asked, sub+" "+clientID+" "+scope)
	return s.offer, s.err
}

const (
	agentID   = "https://agent.example/client.json"
	roamingID = "ks-aaaaaaaaaaaaaaaaaaaa"
	localURI  = "http://127.0.0.1:43917/cb"
	agentURI  = "https://agent.example/cb"
	schemeURI = "agent.desktop://cb"
)

// strangerFixture is an account fixture with applications that nobody registered and some tools.
type strangerFixture struct {
	*accountFixture
	tools  *fakeTools
	cookie string
}

func newStrangerFixture(t *testing.T) *strangerFixture {
	t.Helper()
	s := &strangerFixture{tools: &fakeTools{offer: access.Offer{
		Tools: 3, ReadOnly: 1,
		Members: []access.OfferedMember{
			{Name: "pets", Label: "Pet <shop>", Count: 2, Whole: true,
				Tools: []access.OfferedTool{{Name: "getPet", Description: "Show a pet", ReadOnly: true},
					{Name: "dropPet", Description: "Lose a pet"}}},
			{Name: "zoo", Count: 1, Whole: true, Tools: []access.OfferedTool{{Name: "feed", Description: "Feed <b>all</b>"}}},
		},
		Bundles: []access.OfferedBundle{{Name: "support", Label: "For support", Count: 2}},
	}}}
	s.accountFixture = newAccountFixture(t, func(c *Config) { c.Tools = s.tools })
	for _, a := range []storage.App{
		{ID: agentID, Name: "Claude <Code>", Public: true, Client: &client.Description{Kind: client.Document,
			RedirectURIs: []string{agentURI, "http://127.0.0.1/cb"}, AuthMethod: client.AuthNone}},
		{ID: roamingID, Name: "Roamer", Public: true, Client: &client.Description{Kind: client.Dynamic,
			RedirectURIs: []string{"http://127.0.0.1/cb", "https://other.example/cb", schemeURI}, AuthMethod: client.AuthNone,
			ExpiresAt: time.Now().Add(24 * time.Hour)}},
	} {
		_, err := s.store.SaveApp(t.Context(), a)
		must(t, err)
	}
	s.cookie = s.enterMina()
	return s
}

func (s *strangerFixture) app(id string) storage.App {
	s.t.Helper()
	app, err := s.store.App(context.Background(), id)
	must(s.t, err)
	return app
}

func queryOf(id, redirect string, more ...string) string {
	q := url.Values{"client_id": {id}, "redirect_uri": {redirect}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q.Encode()
}

// asks returns the consent page that Mina sees.
func (s *strangerFixture) asks(id, redirect, scope string, more ...string) answer {
	s.t.Helper()
	w := httptest.NewRecorder()
	must(s.t, s.AskConsent(w, get("/oauth/authorize?"+queryOf(id, redirect, more...)), s.app(id),
		storage.Session{UserID: s.mina.Sub}, scope))
	return answer{w, w.Body.String()}
}

// says answers the page with yes, as it was made just now.
func (s *strangerFixture) says(id, scope string, pairs ...string) answer {
	s.t.Helper()
	fields := url.Values{"query": {queryOf(id, s.app(id).Client.RedirectURIs[0])}, "user": {s.mina.Sub}, "scope": {scope},
		"terms": {s.app(id).Terms()}, "allow": {"1"}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "pick" {
			fields.Add("pick", pairs[i+1])
			continue
		}
		fields.Set(pairs[i], pairs[i+1])
	}
	r := sends(consent.Path, "cookie", s.cookie)
	body := strings.NewReader(fields.Encode())
	again := httptest.NewRequest("POST", consent.Path, body)
	again.Header = r.Header
	return s.do(again)
}

func (s *strangerFixture) granted(id, scope string) string {
	s.t.Helper()
	granted, ok, err := s.Allowed(context.Background(), s.app(id), s.mina.Sub, scope)
	must(s.t, err)
	if !ok {
		return "asked"
	}
	return granted
}

func (s *strangerFixture) wantGranted(why, id, scope, want string) {
	s.t.Helper()
	if got := s.granted(id, scope); got != want {
		s.t.Errorf("%s: of %q %q is granted, want %q", why, scope, got, want)
	}
}

// Decision 55: what is certain of such an application is where it comes from and where the browser
// goes, and the page says no more as if it were.
func TestConsentPageSaysWhoAsksAndWhereTheBrowserGoes(t *testing.T) {
	s := newStrangerFixture(t)
	const warning = "Did you start this yourself just now, on this device?"
	for name, c := range map[string]struct {
		id, redirect string
		want, never  []string
		language     string
	}{
		"a document": {agentID, agentURI, []string{"<h1>Allow agent.example?</h1>", "Nobody has registered this application here", "agent.example says that it is</dt><dd><bdi>Claude &lt;Code&gt;</bdi> <em>not verified</em>", "next to</dt><dd>agent.example</dd>", "not been used for 30 days", `href="/oauth/account"`},
			[]string{warning, "registered itself", "Allow Claude"}, ""},
		"a document, to this device": {agentID, localURI, []string{"<h1>Allow agent.example?</h1>", warning,
			"a program on this device (127.0.0.1:43917)", "goes on to a program on this device"}, []string{"sent back to"}, ""},
		"a dynamic one": {roamingID, "https://other.example/cb",
			[]string{"<h1>Allow this application?</h1>", "registered itself here, and nobody has checked it",
				"Calls itself</dt><dd><bdi>Roamer", "next to</dt><dd>other.example"},
			[]string{warning, "Comes from", "Allow Roamer"}, ""},
		"of a private-use scheme": {roamingID, schemeURI, []string{warning, "a program on this device (agent.desktop:)"},
			nil, ""},
		"in Chinese": {roamingID, schemeURI, []string{"允许此应用访问吗？", "自行注册", "这是您本人刚刚在此设备上发起的吗？", "此设备上的程序",
			"允许它使用哪些工具？", "Pet &lt;shop&gt;"}, []string{"Which tools", "registered"}, "zh-CN"},
	} {
		a := s.asks(c.id, c.redirect, "openid tools", "ui_locales", c.language)
		for _, want := range c.want {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		for _, never := range c.never {
			if strings.Contains(a.body, never) {
				t.Errorf("%s: the page says %q", name, never)
			}
		}
		if !a.leaves() {
			t.Errorf("%s: policy %q", name, a.policy())
		}
	}
	if body := s.askConsent(authorizeQuery, "openid tools").body; !strings.Contains(body, "<h1>Allow Acme?</h1>") ||
		strings.Contains(body, "not verified") || !strings.Contains(body, "Which tools may it use?") {
		t.Errorf("of an application that was registered here: %s", body)
	}
	if body := s.do(get(web.FormPath + "?" + queryOf(roamingID, localURI))).body; strings.Contains(body, "Roamer") {
		t.Errorf("the sign-in page repeats what a dynamic application claims: %s", body)
	}
}

// A name is a claim: it must neither pass for a part of the page nor push it away.
func TestClaimedNameStaysAName(t *testing.T) {
	s := newStrangerFixture(t)
	for name, never := range map[string]string{
		"Acme \u202egro.elbats\u202c\u2066x\u2069": "\u202e",
		`"><script>alert(1)</script>`:              "<script",
		"a\nb\u0000c\u200b":                        "\u200b",
		strings.Repeat("长", 66):                    strings.Repeat("长", 61),
		strings.Repeat("x", 200):                   strings.Repeat("x", 61),
	} {
		app := s.app(roamingID)
		app.Name = name
		w := httptest.NewRecorder()
		must(t, s.AskConsent(w, get("/oauth/authorize?"+queryOf(roamingID, localURI)), app,
			storage.Session{UserID: s.mina.Sub}, "tools"))
		if body := w.Body.String(); strings.Contains(body, never) || !strings.Contains(body, "<dd><bdi>") {
			t.Errorf("of the name %q the page holds %q", name, never)
		}
	}
}

func TestUserAllowsLessThanIsAskedFor(t *testing.T) {
	const asked = "openid tools"
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"all":                  {[]string{"tools", "all"}, "openid tools"},
		"without a choice":     {nil, "openid tools"},
		"what changes nothing": {[]string{"tools", "read"}, "openid tools/read"},
		"a bundle":             {[]string{"tools", "some", "pick", "tools:b:support"}, "openid tools:b:support"},
		"a capability": {[]string{"tools", "some", "pick", "tools:pets", "pick", "tools:pets/getPet"},
			"openid tools:pets"},
		"single tools": {[]string{"tools", "some", "pick", "tools:zoo/feed", "pick", "tools:pets/dropPet", "pick",
			"tools:zoo/feed"}, "openid tools:pets/dropPet tools:zoo/feed"},
		"a bundle and some more": {[]string{"tools", "some", "pick", "tools:b:support", "pick", "tools:zoo"},
			"openid tools:b:support tools:zoo"},
	} {
		s := newStrangerFixture(t)
		a := s.says(roamingID, asked, c.pairs...)
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+queryOf(roamingID, "http://127.0.0.1/cb") {
			t.Errorf("%s: %d to %q", name, a.Code, a.Header().Get("Location"))
		}
		s.wantGranted(name, roamingID, asked, c.want)
		s.wantGranted(name+", asked for the same in another order", roamingID, "tools openid",
			strings.Join(append(strings.Fields(c.want)[1:], "openid"), " "))
		s.wantGranted(name+", asked for more", roamingID, "openid tools email", "asked")
		if kept := s.app(roamingID).Client; kept.KeptAt.IsZero() || !kept.ExpiresAt.IsZero() {
			t.Errorf("%s: the application still ends at %s", name, kept.ExpiresAt)
		}
	}
}

// An answer holds no more than was asked for, even a forged one.
func TestForgedChoiceAllowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		scope string
		pairs []string
		code  int
	}{
		"a tool that is not offered":   {"openid tools", []string{"tools", "some", "pick", "tools:pets/none"}, 303},
		"a bundle that is not offered": {"openid tools", []string{"tools", "some", "pick", "tools:b:none"}, 303},
		"beside one that is": {"openid tools", []string{"tools", "some", "pick", "tools:zoo", "pick",
			"tools:none"}, 303},
		"all, by a box":                {"openid tools", []string{"tools", "some", "pick", "tools"}, 303},
		"another scope, by a box":      {"openid tools", []string{"tools", "some", "pick", "apps"}, 303},
		"two scopes in one box":        {"openid tools", []string{"tools", "some", "pick", "tools:zoo apps"}, 303},
		"a way to choose that is none": {"openid tools", []string{"tools", "most"}, 303},
		"nothing":                      {"openid tools", []string{"tools", "some"}, 400},
		"all and single ones":          {"openid tools", []string{"tools", "all", "pick", "tools:zoo"}, 400},
		"single ones and no way":       {"openid tools", []string{"pick", "tools:zoo"}, 400},
		"more than the page has boxes": {"openid tools", append([]string{"tools", "some"},
			slices.Repeat([]string{"pick", "tools:zoo"}, 241)...), 400},
		"of a page that offers no choice":  {"openid email", []string{"tools", "some", "pick", "tools"}, 303},
		"of other terms":                   {"openid tools", []string{"terms", "x"}, 303},
		"of no terms":                      {"openid tools", []string{"terms", ""}, 303},
		"of another user":                  {"openid tools", []string{"user", "u2"}, 303},
		"read-only, where it is not asked": {"tools:pets", []string{"tools", "read"}, 303},
		"beyond what was asked for":        {"tools:pets", []string{"tools", "some", "pick", "tools:zoo/feed"}, 303},
	} {
		s := newStrangerFixture(t)
		a := s.says(roamingID, c.scope, c.pairs...)
		if a.Code != c.code || a.Code == 303 && a.Header().Get("Location") != "/oauth/authorize?"+queryOf(roamingID,
			"http://127.0.0.1/cb") {
			t.Errorf("%s: %d to %q, want %d and to be asked again", name, a.Code, a.Header().Get("Location"), c.code)
		}
		s.wantGranted(name, roamingID, "", "asked")
		if !s.app(roamingID).Client.KeptAt.IsZero() {
			t.Errorf("%s: the application is kept", name)
		}
	}
}

func TestChoiceOfTooMuchIsAskedForOnceMore(t *testing.T) {
	s := newStrangerFixture(t)
	pairs := []string{"tools", "some"}
	for i := range 25 {
		name := "tool" + string(rune('a'+i))
		s.tools.offer.Members[0].Tools = append(s.tools.offer.Members[0].Tools, access.OfferedTool{Name: name})
		pairs = append(pairs, "pick", "tools:pets/"+name)
	}
	a := s.says(roamingID, "tools", pairs...)
	if a.Code != 400 || !strings.Contains(a.body, "You ticked too much") || !strings.Contains(a.body, `value="some" checked`) || s.granted(roamingID, "") != "asked" {
		t.Errorf("25 tools: %d %s", a.Code, a.body)
	}
	if a := s.says(roamingID, "tools", append(pairs, "pick", "tools:pets")...); a.Code != 303 ||
		s.granted(roamingID, "tools") != "tools:pets" {
		t.Errorf("25 tools and their capability: %d, %q is granted", a.Code, s.granted(roamingID, "tools"))
	}
	if a := s.says(roamingID, "tools", pairs[:50]...); a.Code != 303 ||
		len(strings.Fields(s.granted(roamingID, "tools"))) != 24 {
		t.Errorf("24 tools: %d, %q is granted", a.Code, s.granted(roamingID, "tools"))
	}
}

// Another redirect_uri, key or name makes it another application.
func TestConsentCountsForTheTermsThatTheUserSaw(t *testing.T) {
	s := newStrangerFixture(t)
	s.says(agentID, "openid tools")
	s.wantGranted("on the same terms", agentID, "tools", "tools")
	for name, change := range map[string]func(*storage.App){
		"another name": func(a *storage.App) { a.Name = "Claude" },
		"another redirect_uri": func(a *storage.App) {
			a.Client.RedirectURIs = append(a.Client.RedirectURIs, "https://evil.example/cb")
		},
		"a key": func(a *storage.App) {
			a.Client.AuthMethod, a.Client.KeysURL = client.AuthPrivateKeyJWT, "https://agent.example/jwks"
		},
	} {
		app := s.app(agentID)
		change(&app)
		_, err := s.store.SaveApp(t.Context(), app)
		must(t, err)
		s.wantGranted(name, agentID, "tools", "asked")
		s.wantGranted(name, agentID, "", "asked")
		if a := s.asks(agentID, agentURI, "openid"); !strings.Contains(a.body,
			"This application has changed since you allowed it.") {
			t.Errorf("%s: the page does not say so", name)
		}
		s.says(agentID, "openid")
		s.wantGranted(name+", allowed again", agentID, "openid", "openid")
		s.wantGranted(name+", what was allowed before", agentID, "openid tools", "asked")
		s.says(agentID, "openid tools")
	}
	if a := s.asks(agentID, agentURI, "openid"); strings.Contains(a.body, "has changed") {
		t.Error("the page says that it has changed after it was allowed again")
	}
}

func TestYesToTheManagementOfApplicationsIsOfTheTermsToo(t *testing.T) {
	s := newStrangerFixture(t)
	s.says(agentID, "openid apps tools", "tools", "read")
	app := s.app(agentID)
	changed := app
	changed.Name = "another"
	if _, ok, err := s.AllowedOnce(t.Context(), changed, s.mina.Sub, "openid apps"); ok || err != nil {
		t.Errorf("on other terms: %t, %v", ok, err)
	}
	if granted, ok, err := s.AllowedOnce(t.Context(), app, s.mina.Sub,
		"openid apps tools"); granted != "openid apps tools/read" || !ok || err != nil {
		t.Errorf("AllowedOnce = %q, %t, %v", granted, ok, err)
	}
}

func TestUserChangesWhatTheyChose(t *testing.T) {
	s := newStrangerFixture(t)
	anew := queryOf(roamingID, "http://127.0.0.1/cb", "prompt", "consent")
	s.says(roamingID, "openid tools", "tools", "some", "pick", "tools:zoo")
	s.says(roamingID, "openid email")
	s.wantGranted("with more that is no tool", roamingID, "openid email tools", "openid email tools:zoo")
	if s.revoked != nil {
		t.Errorf("who allows more loses %v", s.revoked)
	}
	s.says(roamingID, "openid tools", "tools", "some", "pick", "tools:pets/getPet", "query", anew)
	s.wantGranted("chosen anew", roamingID, "openid email tools", "openid email tools:pets/getPet")
	if len(s.revoked) != 1 || s.revoked[0].Kind != driver.RevokeConsent ||
		s.revoked[0].ID != driver.ConsentID(roamingID, s.mina.Sub) || !s.revoked[0].Before.IsZero() {
		t.Errorf("the tokens of the first choice are not revoked: %+v", s.revoked)
	}
	s.says(roamingID, "openid tools", "tools", "all", "query", anew)
	s.wantGranted("all after all", roamingID, "openid tools", "openid tools")
	if len(s.revoked) != 1 {
		t.Errorf("who allows more loses %v", s.revoked[1:])
	}
	s.err = storage.ErrUnavailable
	if a := s.says(roamingID, "openid tools", "tools", "read", "query", anew); a.Code != 503 {
		t.Errorf("with the revoker away: %d", a.Code)
	}
}

// MCP, authorization: what an agent needs beyond its choice is asked for when it needs it.
func TestConsentAsksOnceMoreForMoreThanWasChosen(t *testing.T) {
	s := newStrangerFixture(t)
	s.says(roamingID, "openid tools", "tools", "some", "pick", "tools:b:support")
	const more = "tools:b:support tools:zoo/feed"
	s.wantGranted("a tool beside the bundle", roamingID, more, "asked")
	s.says(roamingID, more, "tools", "some", "pick", "tools:b:support")
	s.wantGranted("declined", roamingID, more, "tools:b:support")
	s.wantGranted("the first request", roamingID, "openid tools", "openid tools:b:support")
	s.says(roamingID, more, "tools", "all", "query", queryOf(roamingID, "http://127.0.0.1/cb", "prompt", "consent"))
	s.wantGranted("allowed", roamingID, more, more)
	s.wantGranted("the first request", roamingID, "openid tools", "openid tools:b:support tools:zoo/feed")
}

// With any number of tools a person can read the page, and its form is accepted.
func TestLargestChoiceFitsThePageAndItsForm(t *testing.T) {
	s := newStrangerFixture(t)
	o := access.Offer{Tools: 10_000, ReadOnly: 5_000, Hidden: 480}
	long := strings.Repeat("长", 50)
	for i := range access.MaxOfferedMembers {
		name := strings.Repeat("m", 46) + fmt.Sprintf("%02d", i)
		m := access.OfferedMember{Name: name, Label: long, Count: 20, Whole: true}
		for j := range access.MaxOfferedTools / access.MaxOfferedMembers {
			m.Tools = append(m.Tools, access.OfferedTool{Name: strings.Repeat("t", 12) + fmt.Sprintf("%02d", j),
				Description: long})
		}
		o.Members = append(o.Members, m)
		o.Bundles = append(o.Bundles, access.OfferedBundle{Name: name, Label: long})
	}
	s.tools.offer = o
	a := s.asks(roamingID, localURI, "tools")
	if n := strings.Count(a.body, `name="pick"`); n != 240 || len(a.body) > 160<<10 || !strings.Contains(a.body, "There are 480 more groups of tools") || !strings.Contains(a.body, "and 10 more") {
		t.Errorf("%d boxes in %d bytes", n, len(a.body))
	}
	pairs := []string{"tools", "some", "query", queryOf(roamingID, "http://127.0.0.1/cb", "state",
		strings.Repeat("%", 4000))}
	for _, m := range o.Members {
		pairs = append(pairs, "pick", "tools:"+m.Name, "pick", "tools:b:"+m.Name)
		for _, tool := range m.Tools {
			pairs = append(pairs, "pick", "tools:"+m.Name+"/"+tool.Name)
		}
	}
	if a := s.says(roamingID, "tools", pairs...); a.Code != 400 || !strings.Contains(a.body, "You ticked too much") {
		t.Errorf("all boxes ticked: %d", a.Code)
	}
}

// A tool that is the only one asked for is shown, and there is nothing to choose.
func TestConsentShowsWhatCannotBeChosen(t *testing.T) {
	s := newStrangerFixture(t)
	for _, scope := range []string{"tools:zoo/feed", "tools/read", "tools:b:support"} {
		a := s.asks(roamingID, localURI, scope)
		if strings.Contains(a.body, `name="tools"`) || strings.Contains(a.body, `name="pick"`) || !strings.Contains(a.body, "These are 3 tools: show them") || !strings.Contains(a.body, "<li><b>feed</b> Feed &lt;b&gt;all") {
			t.Errorf("%s: %s", scope, a.body)
		}
		s.says(roamingID, scope)
		s.wantGranted("asked for alone", roamingID, scope, scope)
	}
	first := s.app("ksacme")
	first.FirstParty = true
	_, err := s.store.SaveApp(t.Context(), first)
	must(t, err)
	if a := s.askConsent(authorizeQuery, "tools"); strings.Contains(a.body, `name="tools"`) {
		t.Error("a first-party application offers a choice that nobody would heed")
	}
	s.tools.offer = access.Offer{}
	if a := s.asks(roamingID, localURI, "tools"); !strings.Contains(a.body, "There is no tool here that you may use") {
		t.Errorf("where there is no tool: %s", a.body)
	}
	s.tools.err = storage.ErrUnavailable
	w := httptest.NewRecorder()
	if err := s.AskConsent(w, get("/oauth/authorize?"+queryOf(roamingID, localURI)), s.app(roamingID),
		storage.Session{UserID: s.mina.Sub}, "tools"); err == nil {
		t.Error("with the tools unknown there is a page")
	}
}

func TestApplicationThatHasEndedIsNotAllowed(t *testing.T) {
	s := newStrangerFixture(t)
	app := s.app(roamingID)
	app.Client.ExpiresAt = time.Now().Add(-time.Second)
	_, err := s.store.SaveApp(t.Context(), app)
	must(t, err)
	if a := s.says(roamingID, "tools"); a.Code != 400 || s.granted(roamingID, "") != "asked" {
		t.Errorf("%d", a.Code)
	}
}

func TestAccountPageSignsAnAgentOut(t *testing.T) {
	s := newStrangerFixture(t)
	s.says(agentID, "openid tools", "tools", "some", "pick", "tools:pets/getPet", "pick", "tools:b:support")
	s.says(roamingID, "openid tools", "tools", "read")
	body := s.page(s.cookie)
	for _, want := range []string{
		"<b>agent.example</b><span>Calls itself <bdi>Claude &lt;Code&gt;</bdi> <em>not verified</em></span>",
		"Nobody registered it here", "It registered itself here, and nobody has checked it.",
		"Use the tool getPet of pets on your behalf", "Use the tools of the bundle support", "only those that change nothing",
		"Sign out this agent</button>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, body)
		}
	}
	if apps, agents, ok := strings.Cut(body, `id="agents"`); !ok || strings.Contains(apps, "agent.example") || !strings.Contains(agents, "It registered itself here") {
		t.Error("agents are not told apart from registered applications")
	}
	if strings.Contains(body, "<b>Roamer") || strings.Contains(body, "Last allowed") {
		t.Error("the page calls an application by the name that it claims, or says twice when it was allowed")
	}
	c, err := s.store.Consent(t.Context(), agentID, s.mina.Sub)
	must(t, err)
	c.CreatedAt = c.CreatedAt.Add(-48 * time.Hour)
	_, err = s.store.SaveConsent(t.Context(), c)
	must(t, err)
	if body := s.page(s.cookie); !strings.Contains(body, "Last allowed something on <time ") {
		t.Error("the page does not say when it was last allowed")
	}
	if a := s.do(sends(account.AccessPath, "cookie", s.cookie, "app", agentID)); a.Code != 303 ||
		strings.Contains(s.page(s.cookie), "agent.example") {
		t.Errorf("signing it out: %d", a.Code)
	}
	s.wantGranted("signed out", agentID, "", "asked")
	if len(s.revoked) != 1 || s.revoked[0].ID != driver.ConsentID(agentID, s.mina.Sub) {
		t.Errorf("revoked %+v", s.revoked)
	}
}
