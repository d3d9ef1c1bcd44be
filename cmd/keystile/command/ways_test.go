package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// street is a service with an issuer beside it that knows everybody. People come to both at one address.
type street struct {
	*testing.T
	base   string
	data   string // the data folder of the program
	issuer *fake.Fake
	behind atomic.Pointer[http.Handler]
	invite func() string // the code of a new invitation, "" where it is refused
	open   func()        // gives every tool to everybody
}

func newStreet(t *testing.T) *street {
	s := &street{T: t}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, fake.Path+"/") {
			s.issuer.ServeHTTP(w, r)
			return
		}
		(*s.behind.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s.base = front.URL
	var err error
	if s.issuer, err = fake.New(fake.Config{BaseURL: s.base, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// program runs the binary with a tool that has no access list.
func (s *street) program(signUp, connectorSignUp string) {
	data, of := s.TempDir(), s.issuer.Configs().OIDC
	s.data = data
	own := ""
	if connectorSignUp != "" {
		own = ", signup: " + connectorSignUp
	}
	file, document := filepath.Join(s.TempDir(), "keystile.yaml"), filepath.Join(s.TempDir(), "pets.json")
	text := "signup: " + signUp + "\nlimits: {per_ip: 100000}\nbase_url: '" + s.base +
		"'\ntrusted_proxies: 127.0.0.1\nconnectors:\n  oidc:\n" +
		"    - {name: staff, issuer: '" + of.Issuer + "', id: " + of.ClientID + ", secret: " + of.ClientSecret.Reveal() +
		", allow_private: 127.0.0.0/8" + own + "}\n"
	for path, text := range map[string]string{file: text, document: pets} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.Fatal(err)
		}
	}
	served := start(s.T, data, "--config", file)
	to, err := url.Parse("http://" + served.address)
	if err != nil {
		s.Fatal(err)
	}
	var proxy http.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
	s.behind.Store(&proxy)
	must(s.T, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", document, "--data",
		data)
	s.open = func() { must(s.T, "setting", "set", "mcp.default_access", "everyone", "--data", data) }
	s.invite = func() string {
		_, out, _ := command(s.T, "", "user", "invite", "--data", data, "--json")
		var made map[string]any
		if json.Unmarshal([]byte(out), &made) != nil {
			return ""
		}
		if page, _ := made["page"].(string); !strings.HasPrefix(page, s.base+"/oauth/signin") {
			s.Errorf("the page for an invitation is %q", page)
		}
		code, _ := made["invitation"].(string)
		return code
	}
}

// embedded makes the same of the library, as a host that says nothing more.
func (s *street) embedded(signUp, connectorSignUp string) {
	of := s.issuer.Configs().OIDC
	of.Name, of.AllowPrivate = "staff", []string{"127.0.0.0/8"}
	staff, err := oidc.New(of)
	if err != nil {
		s.Fatal(err)
	}
	backend := memory.New()
	s.Cleanup(func() { backend.Close() })
	c := keystile.Config{
		BaseURL: s.base, Backend: backend, MasterKey: storage.NewMasterKey(), Gateway: gateway.Config{PerAddress: 100000},
		Log: slog.New(slog.DiscardHandler),
		SignIn: signin.Config{SignUp: signUp, Connectors: []connector.Connector{staff},
			Passwords: passwords.New(passwords.Cost{Memory: 64, Passes: 1})},
	}
	if connectorSignUp != "" {
		c.SignIn.ConnectorSignUp = map[string]string{"staff": connectorSignUp}
	}
	service, err := keystile.New(s.Context(), c)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { service.Close(context.Background()) })
	root, err := service.Store.CreateUser(s.Context(), storage.User{Username: "root", Role: storage.RoleAdmin})
	if err == nil {
		_, _, _, err = registry.Forms{Registry: service.Registry}.RegisterBody(s.Context(), root, []byte(`{"member":"pets","upstream_url":"https://pets.example.com","openapi":`+pets+`}`))
	}
	if err != nil {
		s.Fatal(err)
	}
	var handler http.Handler = service
	s.behind.Store(&handler)
	s.open = func() {
		if err := errors.Join(service.Store.Set(s.Context(), storage.SettingDefaultAccess, storage.AccessEveryone),
			service.Bus.Reload(s.Context())); err != nil {
			s.Fatal(err)
		}
	}
	s.invite = func() string {
		if service.Ways().CheckInvitation() != nil {
			return ""
		}
		code, now := handle.NewInvitation(), time.Now().UTC()
		if _, err := service.Store.SaveInvitation(s.Context(), storage.Invitation{ID: handle.HashInvitation(code),
			CreatedAt: now, ExpiresAt: now.AddDate(0, 0, 1)}); err != nil {
			s.Fatal(err)
		}
		return code
	}
}

// newcomer is somebody with a browser whom the issuer knows and the service does not.
type newcomer struct {
	*street
	browser *http.Client
	page    string
	status  int
}

func (s *street) newcomer() *newcomer {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &newcomer{street: s, browser: &http.Client{Jar: jar}}
}

func (p *newcomer) do(method, at string, form url.Values) *http.Response {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, at, strings.NewReader(form.Encode()))
	if err != nil {
		p.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.browser.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.Fatal(err)
	}
	p.page, p.status = string(text), resp.StatusCode
	return resp
}

// comes signs in at a provider and returns.
func (p *newcomer) comes(method string) {
	p.Helper()
	at := p.do("GET", p.base+"/oauth/signin/with/"+method, nil).Request.URL
	if !strings.HasPrefix(at.Path, fake.Path) {
		p.Fatalf("the way to the provider ends at %s with %d %s", at, p.status, p.page)
	}
	p.do("POST", p.base+at.Path, url.Values{"person": {"omar"}, "query": {at.RawQuery}})
}

// signedIn reports whether the browser has a session.
func (p *newcomer) signedIn() bool {
	base, _ := url.Parse(p.base)
	for _, c := range p.browser.Jar.Cookies(base) {
		if c.Name == "open_sso_token" && c.Value != "" {
			return true
		}
	}
	return false
}

// tools returns what an agent with a key of theirs finds, as JSON.
func (p *newcomer) tools() string {
	p.Helper()
	p.do("POST", p.base+"/oauth/account/keys", url.Values{"name": {"agent"}, "what": {"all"}, "days": {"1"}})
	key := attribute(p.T, p.page, `<input id="key" type="text" value="([^"]+)"`)
	r, err := http.NewRequestWithContext(p.Context(), "POST", p.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	_, body := do(p.T, http.DefaultClient, r)
	return body
}

// Whether somebody whom a provider knows becomes a user is what sign-up says of that provider, in the program and
// in the library alike; and where strangers can be users, they find no tool that nobody has given them.
func TestClosedIsClosedForWhomAProviderKnows(t *testing.T) {
	const closed, invitation, open = "closed", "invitation", "open"
	builds := map[string]func(*street, string, string){"the program": (*street).program, "the library": (*street).embedded}
	for _, c := range []struct{ signUp, own, way string }{
		{closed, "", closed}, {closed, invitation, invitation}, {closed, open, open},
		{invitation, "", invitation}, {invitation, closed, closed}, {invitation, open, open},
		{open, "", open}, {open, closed, closed}, {open, invitation, invitation},
	} {
		for name, build := range builds {
			t.Run(name+", "+c.signUp+" "+c.own, func(t *testing.T) {
				t.Parallel()
				s := newStreet(t)
				build(s, c.signUp, c.own)
				p := s.newcomer()
				p.comes("staff")
				switch c.way {
				case closed:
					if p.signedIn() || p.status != 401 || !strings.Contains(p.page, "You have no account here") {
						t.Errorf("a stranger is answered %d %s", p.status, p.page)
					}
					return
				case invitation:
					p.joins()
				}
				if !p.signedIn() {
					t.Fatalf("a stranger is answered %d %s", p.status, p.page)
				}
				if list := p.tools(); !strings.Contains(list, `"tools":[]`) {
					t.Errorf("a stranger finds %s", list)
				}
				s.open()
				if list := p.tools(); !strings.Contains(list, "pets__getPet") {
					t.Errorf("where everybody is given every tool, a stranger finds %s", list)
				}
				again := s.newcomer()
				if again.comes("staff"); !again.signedIn() {
					t.Errorf("the next time they are answered %d %s", again.status, again.page)
				}
			})
		}
	}
}

// joins brings the code of an invitation, after some that are none.
func (p *newcomer) joins() {
	p.Helper()
	if p.signedIn() || p.status != 200 || !strings.Contains(p.page, "need an invitation") {
		p.Fatalf("a stranger without an invitation is answered %d %s", p.status, p.page)
	}
	state := attribute(p.T, p.page, `name="state" value="([^"]+)"`)
	join := func(code string) {
		p.do("POST", p.base+"/oauth/signin/with/staff/join", url.Values{"state": {state}, "invitation": {code}})
	}
	for code, want := range map[string]int{"": 400, handle.NewInvitation(): 401} {
		if join(code); p.status != want || p.signedIn() {
			p.Errorf("the code %q is answered %d %s", code, p.status, p.page)
		}
	}
	elsewhere := p.newcomer()
	code := p.invite()
	if elsewhere.do("POST", p.base+"/oauth/signin/with/staff/join",
		url.Values{"state": {state}, "invitation": {code}}); elsewhere.status != 400 || elsewhere.signedIn() {
		p.Errorf("in another browser it is answered %d %s", elsewhere.status, elsewhere.page)
	}
	if join(code); p.status != 200 {
		p.Errorf("with an invitation they are answered %d %s", p.status, p.page)
	}
}

// The signup of a connector takes the place of the general one, in a trial too; without it fakes are open.
func TestConnectorHasASignUpOfItsOwn(t *testing.T) {
	t.Parallel()
	names := []string{"wx", "qq", "douyin", "alipay", "feishu", "wecom", "dingtalk"}
	args, want := []string{"--fake-providers", "--limits-per-ip", "100000"},
		map[string]string{"oidc": "open", "github": "open"}
	for i, name := range names {
		want[name] = []string{"closed", "invitation", "open"}[i%3]
		args = append(args, "--connectors-"+name+"-signup", want[name])
	}
	served := start(t, t.TempDir(), args...)
	for name, signUp := range want {
		p := (&street{T: t, base: served.base}).newcomer()
		p.comes(name)
		text := map[string]string{"closed": "You have no account here", "invitation": "need an invitation"}[signUp]
		if p.signedIn() != (signUp == "open") || !strings.Contains(p.page, text) {
			t.Errorf("%s (%s) answers %d %s", name, signUp, p.status, p.page)
		}
	}
	must(t, "user", "invite", "--data", served.data)
	code, _, errs := command(t, "", "config", "--connectors-wx-signup", "open")
	if code != 2 || !strings.Contains(errs, "connectors.wx.signup: the connector is not set up") {
		t.Errorf("of a provider that is not there it is %d %s", code, errs)
	}
}

// An operator learns that a code would be of no use, and what to do in place of it.
func TestInvitationIsRefusedWhereNoPageTakesIt(t *testing.T) {
	for signUp, want := range map[string]string{"closed": "set signup to invitation",
		"open": "anybody may become a user"} {
		data, file := t.TempDir(), filepath.Join(t.TempDir(), "keystile.yaml")
		if err := os.WriteFile(file, []byte("signup: "+signUp+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, data, "--signup", signUp)
		wantFailure(t, 2, want, "user", "invite", "--data", data)
		s.stop()
		wantFailure(t, 2, want, "user", "invite", "--data", data, "--config", file) // where nobody serves
	}
}

// Where everybody is given every tool although strangers come in, the operator is told which tools that are.
func TestToolsThatStrangersMayUseAreNamed(t *testing.T) {
	t.Parallel()
	data, document := t.TempDir(), filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, data, "--fake-providers")
	must(t, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", document, "--data",
		data)
	health := func(s *service) string {
		_, out, _ := command(t, "", "health", "--listen", s.address, "--data", data)
		return out
	}
	overview := func(s *service) string {
		_, body := get(t, http.DefaultClient, s.base+"/console/", "Cookie", cookieOf(t, s).String())
		return body
	}
	if out := health(s); strings.Contains(out, "pets__getPet") || strings.Contains(overview(s), "pets__getPet") {
		t.Errorf("a tool that is its owner's is named: %s", out)
	}
	must(t, "setting", "set", "mcp.default_access", "everyone", "--data", data)
	if out := health(s); !strings.Contains(out, "pets__getPet") || !strings.Contains(out, "github") {
		t.Errorf("health says %s", out)
	}
	if body := overview(s); !strings.Contains(body, "Strangers may be among the users") ||
		!strings.Contains(body, "pets__getPet") {
		t.Errorf("the overview says %s", body)
	}
	s.stop()
	s = start(t, data, "--fake-providers")
	if log := s.log.String(); !strings.Contains(log, "strangers become users by themselves") ||
		!strings.Contains(log, "pets__getPet") {
		t.Errorf("the log at start says %s", log)
	}
	must(t, "capability", "access", "pets", "--allow", "role:developer", "--data", data)
	if out := health(s); strings.Contains(out, "pets__getPet") {
		t.Errorf("a tool with a list is named: %s", out)
	}
	s.stop()
	s = start(t, data) // nobody becomes a user any more, and whoever did is one
	must(t, "capability", "access", "pets", "--reset", "--data", data)
	if out := health(s); !strings.Contains(out, "pets__getPet") || !strings.Contains(out, "earlier") ||
		!strings.Contains(out, "is ready") {
		t.Errorf("with every way closed health says %s", out)
	}
	if body := overview(s); !strings.Contains(body, "Strangers may be among the users") ||
		!strings.Contains(body, "pets__getPet") {
		t.Errorf("with every way closed the overview says %s", body)
	}
	must(t, "setting", "set", "mcp.default_access", "auto", "--data", data)
	if out := health(s); strings.Contains(out, "pets__getPet") {
		t.Errorf("a tool that is its owner's again is named: %s", out)
	}
}
