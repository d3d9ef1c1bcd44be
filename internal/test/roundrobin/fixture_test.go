package roundrobin

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const (
	origin    = "https://id.example.com"
	redirect  = "https://app.example.com/cb"
	address   = "ada@example.com"
	password  = "correct horse battery"
	appSecret = "S3cr3tKeyForTests0123456789abcdef"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// cluster is some nodes over one store, the provider that people come from, and their mailbox.
type cluster struct {
	t     *testing.T
	nodes []*keystile.Service
	store *storage.Store // of a process that serves nobody
	fakes *fake.Fake
	post  *mailbox
}

// mailbox takes the emails of all nodes.
type mailbox struct {
	mu   sync.Mutex
	sent []string
}

func (m *mailbox) Send(_ context.Context, to, subject, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, to+"\n"+subject+"\n"+text)
	return nil
}

// with returns the emails that contain a text.
func (m *mailbox) with(text string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.sent), func(mail string) bool { return !strings.Contains(mail, text) })
}

// onNodes runs a test twice, so that each request is served by each of two nodes once.
func onNodes(t *testing.T, test func(t *testing.T, c *cluster, p *person)) {
	for first, name := range []string{"begun at the one", "begun at the other"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 2)
				p := c.person()
				p.turn = first
				test(t, c, p)
			})
		})
	}
}

func newCluster(t *testing.T, n int, changes ...func(*keystile.Config)) *cluster {
	t.Helper()
	backend, key := memory.New(), storage.NewMasterKey()
	t.Cleanup(func() { backend.Close() })
	c := &cluster{t: t, post: &mailbox{}}
	var err error
	c.store, err = storage.Open(t.Context(), backend, key)
	must(t, err)
	c.fakes, err = fake.New(fake.Config{BaseURL: origin, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	c.people()
	for range n {
		wx := c.fakes.Configs().WX
		wx.Client = &http.Client{Transport: direct{c.fakes}}
		provider, err := connector.NewWX(wx)
		must(t, err)
		config := keystile.Config{
			BaseURL: origin, Backend: backend, MasterKey: key, Log: slog.New(slog.DiscardHandler),
			SignIn: signin.Config{
				Mailer: c.post, SignUp: signin.SignUpOpen, Connectors: []connector.Connector{provider}, Passwords: cheap(),
			},
		}
		for _, change := range changes {
			change(&config)
		}
		node, err := keystile.New(context.Background(), config)
		must(t, err)
		t.Cleanup(func() { must(t, node.Close(context.Background())) })
		c.nodes = append(c.nodes, node)
	}
	return c
}

func cheap() *passwords.Hasher { return passwords.New(passwords.Cost{Memory: 64, Passes: 1}) }

// people makes Ada and the application ksapp, which users are asked about.
func (c *cluster) people() {
	ctx := c.t.Context()
	ada, err := users.New(c.store, cheap()).Create(ctx, storage.User{Username: "ada", Nickname: "Ada", Email: address,
		EmailVerified: true}, password)
	must(c.t, err)
	must(c.t, c.store.LinkLogins(ctx, ada.Sub, storage.Login{Method: storage.LoginEmail, Subject: address}))
	_, err = c.store.SaveApp(ctx, storage.App{
		ID: "ksapp", Name: "App", Domains: []string{"app.example.com"},
		Secrets: []storage.AppSecret{{Secret: storage.NewSecret(appSecret)}},
	})
	must(c.t, err)
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// person is a browser, or another client, that never asks the same node twice in a row.
type person struct {
	c       *cluster
	cookies map[string]string
	turn    int
	from    string // "": where everybody is
}

func (c *cluster) person() *person { return &person{c: c, cookies: map[string]string{}} }

// page is an answer.
type page struct {
	t        *testing.T
	what     string
	status   int
	location string
	body     string
}

func (p *person) send(r *http.Request) page {
	for name, value := range p.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	var handler http.Handler = p.c.nodes[p.turn%len(p.c.nodes)]
	if strings.HasPrefix(r.URL.Path, fake.Path+"/") {
		handler = p.c.fakes
	} else {
		p.turn++
	}
	if p.from != "" {
		r.RemoteAddr = p.from
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if p.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(p.cookies, c.Name)
		}
	}
	return page{p.c.t, r.Method + " " + r.URL.Path, w.Code, strings.TrimPrefix(w.Header().Get("Location"), origin),
		w.Body.String()}
}

func (p *person) get(path string) page {
	path, _, _ = strings.Cut(path, "#") // a browser keeps it to itself
	return p.send(httptest.NewRequest(http.MethodGet, origin+strings.TrimPrefix(path, origin), nil))
}

func (p *person) post(path string, pairs ...string) page {
	r := httptest.NewRequest(http.MethodPost, origin+path, strings.NewReader(form(pairs...).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.send(r)
}

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// follow opens what an answer leads to, and what that leads to, until it is a page or somewhere else.
func (p *person) follow(a page) page {
	for a.status == http.StatusSeeOther || a.status == http.StatusFound {
		if !strings.HasPrefix(a.location, "/") {
			return a
		}
		a = p.get(a.location)
	}
	return a
}

var (
	formTag   = regexp.MustCompile(`(?s)<form[^>]* action="([^"]+)".*?</form>`)
	hiddenTag = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
)

// submit sends the form of a page that leads to an address, with what the person fills in, and
// follows the answer.
func (p *person) submit(a page, action string, pairs ...string) page {
	a.t.Helper()
	for _, f := range formTag.FindAllStringSubmatch(a.body, -1) {
		if html.UnescapeString(f[1]) != action {
			continue
		}
		for _, hidden := range hiddenTag.FindAllStringSubmatch(f[0], -1) {
			pairs = append(pairs, hidden[1], html.UnescapeString(hidden[2]))
		}
		return p.follow(p.post(action, pairs...))
	}
	a.t.Fatalf("%s = %d without a form for %s: %s", a.what, a.status, action, a.body)
	return a
}

// code returns the six digits of the last email with a subject.
func (c *cluster) code(subject string) string {
	c.t.Helper()
	synctest.Wait()
	all := c.post.with(subject)
	if len(all) == 0 {
		c.t.Fatalf("no mail %q was sent", subject)
	}
	return regexp.MustCompile(`\b\d{6}\b`).FindString(all[len(all)-1])
}

// signedIn fails unless the person is signed in as somebody.
func (p *person) signedIn(name string) {
	p.c.t.Helper()
	for range p.c.nodes {
		if a := p.get("/oauth/account"); a.status != 200 || !strings.Contains(a.body, name) || strings.Contains(a.body, `name="password"`) {
			p.c.t.Errorf("not signed in as %s: %s = %d %s", name, a.what, a.status, a.body)
		}
	}
}

func (p *person) enter() {
	p.c.t.Helper()
	p.submit(p.get("/oauth/signin"), "/oauth/signin", "username", "ada", "password", password)
	p.signedIn("Ada")
}

// member returns a text of a JSON answer, which must be a success.
func (a page) member(name string) string {
	a.t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != http.StatusOK {
		a.t.Fatalf("%s = %d %s, %v", a.what, a.status, a.body, err)
	}
	text, ok := body[name].(string)
	if !ok {
		a.t.Fatalf("%s = %s, which has no %s", a.what, a.body, name)
	}
	return text
}

// brought returns a parameter of the redirect to the application.
func (a page) brought(name string) string {
	a.t.Helper()
	to, err := url.Parse(a.location)
	if err == nil && (!strings.HasPrefix(a.location, redirect) || to.Query().Get(name) == "") {
		err = errors.New("it does not lead to the application")
	}
	if err != nil {
		a.t.Fatalf("%s = %d to %q, %v: %s", a.what, a.status, a.location, err, a.body)
	}
	return to.Query().Get(name)
}
