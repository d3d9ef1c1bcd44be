package oauth_test

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// devices is a service with nodes over one store, a terminal's application and the user Ada.
type devices struct {
	testing.TB
	calls   *counting
	key     storage.MasterKey
	nodes   []*deviceNode
	changes []func(*oauth.Config)
	app     storage.App // public, as programs on terminals are
	ada     storage.User
}

// deviceNode is one process.
type deviceNode struct {
	http.ServeMux
	store    *storage.Store
	tokens   *oauth.Tokens
	provider *oauth.Server
	trail    trail
}

func newDevices(t testing.TB, nodes int, changes ...func(*oauth.Config)) *devices {
	t.Helper()
	d := &devices{TB: t, calls: &counting{Backend: memory.New()}, key: storage.NewMasterKey(), changes: changes}
	t.Cleanup(func() { d.calls.Close() })
	for range nodes {
		d.start()
	}
	d.app = d.register(storage.App{Name: "Terminal", Public: true, Domains: []string{"localhost"}})
	d.ada = must(users.New(d.nodes[0].store, cheap).Create(t.Context(), storage.User{Username: "ada", Nickname: "Ada"},
		password))(t)
	return d
}

// start starts one more node.
func (d *devices) start() *deviceNode {
	d.Helper()
	n := &deviceNode{store: must(storage.Open(context.Background(), d.calls, d.key))(d.TB)}
	n.tokens = must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{
		BaseURL: issuer, Store: n.store, SweepEvery: -1, Log: quiet, Resources: []string{issuer + "/api/mcp"},
	}))(d.TB)
	d.Cleanup(func() { n.tokens.Close(context.Background()) })
	signIn := must(signin.New(context.Background(), signin.Config{
		BaseURL: issuer, Store: n.store, Users: users.New(n.store, cheap).Host(), Revoker: n.tokens, Audit: &n.trail,
		Log: quiet,
	}))(d.TB)
	config := oauth.Config{
		NoDelivery: true, Tokens: n.tokens, SignIn: signIn, Consent: signIn, Devices: signIn, Levels: signIn, Audit: &n.trail,
		Log:     quiet,
		Clients: oauth.ClientsConfig{Documents: oauth.ClientsOpen},
	}
	for _, change := range d.changes {
		change(&config)
	}
	provider := must(oauth.New(context.Background(), config))(d.TB)
	n.provider = provider
	provider.Mount(n)
	signIn.Mount(n)
	d.nodes = append(d.nodes, n)
	return n
}

func (d *devices) register(app storage.App) storage.App {
	d.Helper()
	return must(d.nodes[0].store.SaveApp(context.Background(), app))(d.TB)
}

// trail keeps the audit events of a node.
type trail struct {
	mu     sync.Mutex
	events []event.Event
}

func (n *trail) Note(e event.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

func (n *trail) NoteNow(_ context.Context, e event.Event) error {
	n.Note(e)
	return nil
}

func (d *devices) post(on http.Handler, path string, v url.Values) answer {
	d.Helper()
	r := httptest.NewRequest("POST", issuer+path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	on.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Result().Header}
	if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
		d.Fatalf("%s = %d is not JSON: %q", path, w.Code, w.Body)
	}
	return a
}

// begin asks for the codes of a device; pairs change the request.
func (d *devices) begin(pairs ...string) answer {
	d.Helper()
	return d.post(d.nodes[0], "/oauth/device_authorization", form(append([]string{"client_id", d.app.ID}, pairs...)...))
}

// poll asks for the tokens of a device_code; pairs change it.
func (d *devices) poll(on *deviceNode, begun answer, pairs ...string) answer {
	d.Helper()
	return d.post(on, "/oauth/token",
		form(append([]string{"grant_type", deviceGrant, "client_id", d.app.ID, "device_code", begun.text("device_code")},
			pairs...)...))
}

// person is a person at a browser, with its cookies.
type person struct {
	*devices
	node    *deviceNode
	cookies map[string]string
	lang    string
	from    string // the address
}

func (d *devices) person() *person {
	return &person{devices: d, node: d.nodes[len(d.nodes)-1], cookies: map[string]string{}, from: "192.0.2.1:1234"}
}

// page holds what a browser shows.
type page struct {
	status int
	header http.Header
	text   string
}

func (p *person) send(r *http.Request) page {
	for name, value := range p.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.RemoteAddr = p.from
	r.Header.Set("Accept-Language", p.lang)
	w := httptest.NewRecorder()
	p.node.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		p.cookies[c.Name] = c.Value
	}
	return page{w.Code, w.Result().Header, w.Body.String()}
}

// open follows a link, and redirects.
func (p *person) open(link string) page {
	p.Helper()
	a := p.send(httptest.NewRequest("GET", link, nil))
	if to := a.header.Get("Location"); to != "" {
		return p.open(issuer + to)
	}
	return a
}

func (p *person) submit(path string, v url.Values) page {
	p.Helper()
	r := httptest.NewRequest("POST", issuer+path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", issuer)
	a := p.send(r)
	if to := a.header.Get("Location"); to != "" {
		return p.open(issuer + to)
	}
	return a
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)
	typedField  = regexp.MustCompile(`<input class="code" id="user_code" name="user_code" type="text" value="([^"]*)"`)
)

// fields returns the hidden fields of a page.
func (a page) fields() url.Values {
	v := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(a.text, -1) {
		v.Set(m[1], html.UnescapeString(m[2]))
	}
	return v
}

func (a page) has(t testing.TB, what string, texts ...string) page {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(html.UnescapeString(a.text), text) {
			t.Errorf("%s = %d does not say %q: %s", what, a.status, text, a.text)
		}
	}
	return a
}

// signIn signs Ada in on a page that asks for it.
func (p *person) signIn(asked page) page {
	p.Helper()
	v := asked.fields()
	v.Set("username", "ada")
	v.Set("password", password)
	return p.submit("/oauth/signin", v)
}

// signedIn signs Ada in.
func (p *person) signedIn() *person {
	p.Helper()
	p.signIn(p.open(issuer + "/oauth/device"))
	return p
}

// typeCode types a code and returns the page that it leads to.
func (p *person) typeCode(code string) page {
	p.Helper()
	return p.submit("/oauth/device", url.Values{"user_code": {code}})
}

// answer presses a button of the page that asks.
func (p *person) answer(asked page, button string) page {
	p.Helper()
	v := asked.fields()
	if v.Get("ticket") == "" {
		p.Fatalf("the page does not ask: %d %s", asked.status, asked.text)
	}
	v.Set(button, "1")
	return p.submit("/oauth/device", v)
}

// allow types the code of a device and allows what it asks for.
func (p *person) allow(begun answer) page {
	p.Helper()
	return p.answer(p.typeCode(begun.text("user_code")), "allow").has(p, "the answer", "Your device is connected")
}

// allowed begins a device that its user allows.
func (d *devices) allowed(pairs ...string) answer {
	d.Helper()
	begun := d.begin(pairs...)
	d.person().signedIn().allow(begun)
	return begun
}

// terminal is a program that knows nothing but RFC 8628: it shows a code and polls.
type terminal struct {
	*devices
	shows func(userCode, link string)
}

// signIn returns the answer with the tokens, or the last error.
func (c terminal) signIn(scope string) answer {
	begun := c.begin("scope", scope)
	if begun.status != http.StatusOK {
		return begun
	}
	c.shows(begun.text("user_code"), begun.text("verification_uri_complete"))
	interval := time.Duration(begun.number("interval")) * time.Second
	for {
		time.Sleep(interval)
		a := c.poll(c.nodes[0], begun)
		switch a.text("error") {
		case "authorization_pending":
		case "slow_down":
			interval += 5 * time.Second
		default:
			return a
		}
	}
}

// documents returns what is stored of a kind, as text.
func (d *devices) documents(kind string) (all []string) {
	d.Helper()
	docs, _, err := d.calls.Backend.List(context.Background(), kind, driver.Between("", "\xff"), 1000)
	if err != nil {
		d.Fatal(err)
	}
	if len(docs) == 0 {
		d.Fatalf("no %s is stored", kind)
	}
	for _, doc := range docs { // once for each entry of its index
		if !slices.Contains(all, string(doc.Data)) {
			all = append(all, string(doc.Data))
		}
	}
	return all
}

// stranger stores an application that nobody registered, as its document describes it.
func (d *devices) stranger(id string, grants ...string) storage.App {
	d.Helper()
	return d.register(storage.App{ID: id, Name: "Your Bank", Public: true, Client: &client.Description{
		Kind: client.Document, RedirectURIs: []string{"http://127.0.0.1/cb"}, Grants: grants, AuthMethod: client.AuthNone,
		FetchedAt: time.Now(), FreshUntil: time.Now().Add(24 * time.Hour), ExpiresAt: time.Now().Add(24 * time.Hour),
	}})
}

// events returns the audit events of a kind of all nodes.
func (d *devices) events(kind string) (all []event.Event) {
	for _, n := range d.nodes {
		for _, e := range n.trail.events {
			if e.Kind == kind {
				all = append(all, e)
			}
		}
	}
	return all
}

var tags = regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`)

// visible returns the text of a page.
func visible(text string) string { return tags.ReplaceAllString(text, " ") }
