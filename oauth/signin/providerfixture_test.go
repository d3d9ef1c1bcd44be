package signin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// providerFixture is a fixture with the fake providers.
type providerFixture struct {
	*fixture
	fakes http.Handler
}

var providers = []string{"wx", "qq", "alipay", "douyin", "feishu", "wecom", "dingtalk", "oidc", "github"}

func newProviderFixture(t *testing.T, change func(*Config)) *providerFixture {
	t.Helper()
	f, err := fake.New(fake.Config{BaseURL: origin, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	c, client := f.Configs(), &http.Client{Transport: direct{f}}
	c.WX.Client, c.QQ.Client, c.Alipay.Client, c.Douyin.Client = client, client, client, client
	c.Feishu.Client, c.WeCom.Client, c.DingTalk.Client, c.OIDC.Client, c.GitHub.Client = client, client, client, client,
		client
	c.OIDC.Scopes = []string{"openid", "profile", "email"} // what it says of addresses must change nothing
	var all []connector.Connector
	add := func(one connector.Connector, err error) {
		must(t, err)
		all = append(all, one)
	}
	add(connector.NewWX(c.WX))
	add(connector.NewQQ(c.QQ))
	add(connector.NewAlipay(c.Alipay))
	add(connector.NewDouyin(c.Douyin))
	add(connector.NewFeishu(c.Feishu))
	add(connector.NewWeCom(c.WeCom))
	add(connector.NewDingTalk(c.DingTalk))
	add(oidc.New(c.OIDC))
	add(connector.NewGitHub(c.GitHub))
	return &providerFixture{newFixture(t, func(c *Config) {
		c.ConnectorSignUp = map[string]string{} // strangers come in, and the form to sign up is not offered
		for _, name := range providers {
			c.ConnectorSignUp[name] = SignUpOpen
		}
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
	if in.Body == nil {
		in.Body = http.NoBody
	}
	d.ServeHTTP(w, in)
	return w.Result(), nil
}

// providerVisit is a browser on the page of a provider.
type providerVisit struct {
	fixture *providerFixture
	name    string
	browser string // its cookie
	session string
	query   url.Values // of the provider's page
}

// start follows the link on the sign-in page.
func (h *providerFixture) start(name, query string) *providerVisit {
	h.t.Helper()
	a := h.do(get(web.Link{Path: web.WithPath + name}.Carrying(query).Path))
	return h.visit(name, a)
}

func (h *providerFixture) visit(name string, a answer) *providerVisit {
	h.t.Helper()
	to, err := url.Parse(a.Header().Get("Location"))
	must(h.t, err)
	if !strings.HasPrefix(to.Path, fake.Path+"/"+name+"/") {
		h.t.Fatalf("%s: %d to %q", name, a.Code, to)
	}
	j := &providerVisit{fixture: h, name: name, query: to.Query()}
	for _, c := range a.Result().Cookies() {
		if c.Name == web.BrowserCookie {
			j.browser = c.Value
		}
	}
	j.query.Set("at", to.RequestURI())
	return j
}

// choose signs in at the provider as a test user, and returns the address it redirects to.
func (j *providerVisit) choose(person string) string { return j.chooseWith(person, "") }

// chooseWith is choose of a user about whom the provider makes a mistake.
func (j *providerVisit) chooseWith(person, fault string) string {
	j.fixture.t.Helper()
	at, raw, _ := strings.Cut(j.query.Get("at"), "?")
	r := httptest.NewRequest("POST", origin+at,
		strings.NewReader(url.Values{"person": {person}, "query": {raw}, "fault": {fault}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	j.fixture.fakes.ServeHTTP(w, r)
	return strings.TrimPrefix(w.Header().Get("Location"), origin)
}

// open opens an address in the browser that left.
func (j *providerVisit) open(target string) answer {
	r := get(target)
	if j.browser != "" {
		r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: j.browser})
	}
	if j.session != "" {
		with(r, j.session)
	}
	return j.fixture.do(r)
}

// arrive is a whole visit to a provider.
func (h *providerFixture) arrive(name, person string) answer {
	h.t.Helper()
	j := h.start(name, authorizeQuery)
	return j.open(j.choose(person))
}

// user is whose session an answer has begun.
func (h *providerFixture) user(a answer) (storage.User, storage.Session) {
	h.t.Helper()
	if a.Code != 303 || a.cookie() == "" {
		h.t.Fatalf("arriving = %d %s", a.Code, a.body)
	}
	v, err := h.store.Session(context.Background(), handle.Hash(a.cookie()))
	must(h.t, err)
	u, err := h.store.User(context.Background(), v.UserID)
	must(h.t, err)
	return u, v
}
