package fake_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
)

const (
	origin = "http://127.0.0.1:8080"
	back   = origin + "/oauth/signin/return?via=fake"
	state  = "0123456789abcdef0123456789abcdef"
)

var names = []string{"wx", "qq", "alipay", "douyin", "feishu", "wecom", "dingtalk", "oidc", "github"}

// fixture is a fake and the connectors to it; no socket lies between them.
type fixture struct {
	*fake.Fake
	t          testing.TB
	connectors map[string]connector.Connector
}

// RoundTrip makes a fixture the transport of its connectors.
func (h *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// one is made once: drawing keys takes its time.
var one = sync.OnceValues(func() (*fake.Fake, error) { return fake.New(fake.Config{BaseURL: origin}) })

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f, err := fake.New(fake.Config{BaseURL: origin})
	must(t, err)
	return newFixtureOf(t, f)
}

func newFixtureOf(t testing.TB, f *fake.Fake) *fixture {
	t.Helper()
	h := &fixture{Fake: f, t: t, connectors: map[string]connector.Connector{}}
	c, client := f.Configs(), &http.Client{Transport: h}
	c.WX.Client, c.QQ.Client, c.Alipay.Client, c.Douyin.Client = client, client, client, client
	c.Feishu.Client, c.WeCom.Client, c.DingTalk.Client, c.OIDC.Client, c.GitHub.Client = client, client, client, client,
		client
	for name, make := range map[string]func() (connector.Connector, error){
		"wx":       func() (connector.Connector, error) { return connector.NewWX(c.WX) },
		"qq":       func() (connector.Connector, error) { return connector.NewQQ(c.QQ) },
		"alipay":   func() (connector.Connector, error) { return connector.NewAlipay(c.Alipay) },
		"douyin":   func() (connector.Connector, error) { return connector.NewDouyin(c.Douyin) },
		"feishu":   func() (connector.Connector, error) { return connector.NewFeishu(c.Feishu) },
		"wecom":    func() (connector.Connector, error) { return connector.NewWeCom(c.WeCom) },
		"dingtalk": func() (connector.Connector, error) { return connector.NewDingTalk(c.DingTalk) },
		"oidc":     func() (connector.Connector, error) { return oidc.New(c.OIDC) },
		"github":   func() (connector.Connector, error) { return connector.NewGitHub(c.GitHub) },
	} {
		made, err := make()
		must(t, err)
		h.connectors[name] = made
	}
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	action = regexp.MustCompile(`<form method="post" action="([^"]+)">`)
	hidden = regexp.MustCompile(`<input type="hidden" name="query" value="([^"]*)">`)
	button = regexp.MustCompile(`<button[^>]* name="person" value="([a-z]+)">`)
)

// begun returns where a connector sends a browser.
func (h *fixture) begun(name, back string) string {
	h.t.Helper()
	to, err := h.connectors[name].Begin(h.t.Context(), connector.Visit{State: state, Back: back})
	must(h.t, err)
	return to
}

// choose opens the page of a provider, presses somebody's button, and returns what the
// browser brings back.
func (h *fixture) choose(name, person string) url.Values {
	h.t.Helper()
	address := strings.TrimPrefix(h.begun(name, back), origin)
	address, _, _ = strings.Cut(address, "#")
	page := h.serve(httptest.NewRequest("GET", address, nil))
	text := page.Body.String()
	to, query := action.FindStringSubmatch(text), hidden.FindStringSubmatch(text)
	if page.Code != 200 || to == nil || query == nil || !strings.Contains(text, `value="`+person+`"`) {
		h.t.Fatalf("%s: GET %s = %d %s", name, address, page.Code, text)
	}
	w := h.post(to[1], url.Values{"query": {unescape(query[1])}, "person": {person}})
	went, found := strings.CutPrefix(w.Header().Get("Location"), back)
	if w.Code != http.StatusFound || !found {
		h.t.Fatalf("%s: POST = %d to %q %s", name, w.Code, w.Header().Get("Location"), w.Body)
	}
	values, err := url.ParseQuery(strings.TrimPrefix(went, "&"))
	must(h.t, err)
	return values
}

func unescape(s string) string {
	return strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">").Replace(s)
}

func (h *fixture) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (h *fixture) post(path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return h.serve(r)
}

func (h *fixture) finish(name string, query url.Values) (connector.Profile, error) {
	return h.connectors[name].Finish(h.t.Context(), back, query)
}
