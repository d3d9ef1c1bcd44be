package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/internal/test/filled"
)

// mostActions bounds what somebody does who has never seen the console, from the address in the banner to the answer of
// a tool of theirs and a second agent that is signed in. An address that is opened, a field that is typed, a file that
// is chosen, a key or a click is one action each.
const mostActions = 14

// actions counts what a visitor does.
type actions struct {
	*walkthrough
	n int
}

func (a *actions) open(url string)            { a.t.Helper(); a.n++; a.Open(url) }
func (a *actions) fill(selector, text string) { a.t.Helper(); a.n++; a.Type(selector, text) }
func (a *actions) follow(selector string)     { a.t.Helper(); a.n++; a.Follow(selector) }
func (a *actions) click(selector string)      { a.t.Helper(); a.n++; a.Click(selector) }
func (a *actions) choose(selector, file string) {
	a.t.Helper()
	a.n++
	a.Choose(selector, file)
}

// VisitFor makes the visitor the browser of an agent: it opens by itself, and its user allows what is asked for.
func (a *actions) VisitFor(address string, _ io.Writer) error {
	a.Open(address)
	a.follow("button[name=allow]")
	return nil
}

// upstream answers everything with an order.
func upstream(t *testing.T) string {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":17,"status":"sent"}`))
	}))
	t.Cleanup(shop.Close)
	return shop.URL
}

// saysWhere is a document of a server, which it names.
func saysWhere(document, server string) string {
	return strings.Replace(document, `"paths":`, `"servers":[{"url":"`+server+`"}],"paths":`, 1)
}

// The stranger has a document in a file, and an agent that is a program of others.
func TestStrangerGetsFromTheBannerToASecondAgent(t *testing.T) {
	t.Parallel()
	const node = "../peers/node"
	if _, err := os.Stat(node + "/node_modules/mcp-remote"); err != nil {
		t.Skip("the agent is not installed: run npm ci --include=dev in internal/test/campaigns/peers/node")
	}
	v := alone(t)
	v.s = start(t, t.TempDir(), "--limits-per-ip", "100000", "--upstreams-allow-private", "127.0.0.0/8")
	document := filepath.Join(t.TempDir(), "shop.json")
	fatal(t, os.WriteFile(document, []byte(saysWhere(filled.Bookshop, upstream(t))), 0o600))
	a := &actions{walkthrough: v}
	a.open(v.s.out.Find(t, v.s.ended, `The console +(\S+)`))
	who := firstRunOf(t, v.s.data).Admin
	a.fill("#username", who.Username)
	a.fill("#password", who.Password)
	a.follow("form button[type=submit]")

	a.follow(`main a[href="/console/capabilities/new"]`)
	a.choose("[name=file]", document)
	a.follow("button[value=preview]")
	if got := v.Text("main section"); !strings.Contains(got, "placeOrder") {
		t.Fatalf("the preview is %s", got)
	}
	a.follow("button[value=register]")
	bus := v.Text(".connect pre")
	a.click(".connect .copy button")
	a.follow(`main a[href$="/tools/getOrder"]`)
	a.fill("main form input:not([type=hidden])", "17")
	a.follow("main form button")
	if got := v.Text("main section"); !strings.Contains(got, "The tool answered.") || !strings.Contains(got, "sent") {
		t.Errorf("the answer is %s", got)
	}

	a.n++ // the address is pasted where the agent is set up
	said := agents.Drive(t, a, node, []string{"node", "login-remote.mjs"}, "BUS="+bus, "LIST=1")
	if !strings.Contains(said, "tools: book-shop__cancelOrder book-shop__findOrders") {
		t.Errorf("the agent says %s", said)
	}
	t.Logf("%d actions", a.n)
	if a.n > mostActions {
		t.Errorf("it takes %d actions, want at most %d", a.n, mostActions)
	}
	v.quiet("404") // the agent's own page has no icon
}

// acts does the main act of each area.
func (v *walkthrough) acts(shop string) {
	v.t.Helper()
	for _, act := range []struct {
		path   string
		fields [][2]string
		send   string // the button
		want   string // on the page after it
	}{
		{"/console/apps/new", [][2]string{{"name", "Bookshop"}, {"domains", "books.example.com"}}, "main form button",
			"client_id"},
		{"/console/apps", nil, `main .filters button`, "Bookshop"},
		{"/console/capabilities/new", [][2]string{{"member", "bookshop"}, {"upstream_url", shop},
			{"document", filled.Bookshop}}, "button[value=register]", "placeOrder"},
		{"/console/capabilities/bookshop/tools/findOrders", nil, "main form button", "sent"},
		{"/console/users/new", [][2]string{{"username", "mina"}, {"password", "correct horse battery"}}, "main form button",
			"mina"},
		{"/console/users", [][2]string{{"q", "mi"}}, ".filters button", "mina"},
		{"/console/tiers", [][2]string{{"client_id", firstRunOf(v.t, v.s.data).App.ClientID}}, "main form button",
			"The application has this tier now."},
		{"/console/quota", [][2]string{{"app", firstRunOf(v.t, v.s.data).App.ClientID}}, ".filters button", "1,000"},
		{"/console/usage", [][2]string{{"client_id", firstRunOf(v.t, v.s.data).App.ClientID}}, ".filters button", "CSV"},
		{"/console/orders", nil, ".filters button", "No such order."},
		{"/console/audit", [][2]string{{"ip", "127.0.0.1"}}, ".filters button", "127.0.0.1"},
		{"/console/audit/chain", nil, "main form button", "Verification by this node"},
		{"/console/settings", [][2]string{{"q", "audit"}}, ".filters button", "audit.keep"},
	} {
		v.at(act.path)
		if v.Count("details.filterline:not([open])") > 0 {
			v.Click("details.filterline summary")
		}
		for _, f := range act.fields {
			v.Type("main [name="+f[0]+"]", f[1])
		}
		v.Follow(act.send)
		if got := v.Text("main"); !strings.Contains(got, act.want) {
			v.t.Errorf("after its act, %s does not say %q: %s", act.path, act.want, got)
		}
		if method := v.Reload(); method != http.MethodGet {
			v.t.Errorf("loading the page after the act of %s again sends a %s", act.path, method)
		}
	}
}

// The keys Tab and Enter are enough to make an application, and to call a tool.
func TestKeyboardIsEnoughForTheConsole(t *testing.T) {
	t.Parallel()
	v := alone(t)
	f := used(t, func(text string) string { return text })
	v.s = f.service
	v.operator()
	v.at("/console/apps/new")
	v.to("Skip to content")
	v.Press("Enter")
	v.to("Name")
	v.Write("Bookshop")
	v.to("Domains")
	v.Write("books.example.com")
	v.to("Make it")
	v.Press("Enter")
	v.Arrive()
	if got := v.Text("main"); !strings.Contains(got, "client_id") {
		t.Errorf("a new application is shown as %s", got)
	}
	v.at("/console/capabilities/bookshop/tools/getOrder")
	v.to("Skip to content")
	v.Press("Enter")
	v.to("id")
	v.Write("17")
	v.to("Call it")
	v.Press("Enter")
	v.Arrive()
	if got := v.Text("main"); !strings.Contains(got, "The tool answered.") {
		t.Errorf("the answer is %s", got)
	}
	v.at("/console/orders/" + f.order)
	v.to("Skip to content")
	v.Press("Enter")
	v.to("Approve")
	v.Press("Enter")
	v.Arrive()
	if got := v.Text(".notice"); got != "The order is approved." {
		t.Errorf("an order that is approved says %q", got)
	}
	v.quiet()
}

// Every value that a user can set is text on every page: no script of theirs runs, and the browser is not even
// tempted.
func TestConsoleRunsNothingThatUsersEntered(t *testing.T) {
	t.Parallel()
	v := alone(t)
	f := used(t, func(text string) string {
		return text + `"><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">`
	})
	v.s = f.service
	v.operator()
	for _, page := range f.pages() {
		v.at(page.path)
		v.harmless(page.path)
	}
	v.at("/console/capabilities/bookshop/tools/findOrders")
	v.Follow("main form button")
	if got := v.Text("main"); !strings.Contains(got, "onerror") {
		t.Errorf("the answer does not have the text of the upstream: %s", got)
	}
	v.harmless("an answer")
	v.at("/console/audit?kind=signin&sub=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&request_id=%22%20onfocus%3Dalert(1)%20autofocus%3D%22")
	v.harmless("a search")
	v.quiet("404") // nobody has the name that is searched for
}

// harmless makes sure that a page has no element that a text has brought.
func (v *walkthrough) harmless(name string) {
	v.t.Helper()
	if n := v.Count(`script:not([src="/console/console.js"]), img, [onerror], [onfocus], a[href^="javascript:"]`); n != 0 {
		v.t.Errorf("%s has %d elements that a text has brought: %s", name, n, v.Text("main"))
	}
}

func TestAreaOfTheConsoleIsActedOnWithoutAScript(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.s = start(t, t.TempDir(), "--limits-per-ip", "100000", "--upstreams-allow-private", "127.0.0.0/8")
	v.Scripts(false)
	v.operator()
	v.acts(upstream(t))
	v.quiet()
}

func TestAreaOfTheConsoleIsActedOnWithAPhone(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.s = start(t, t.TempDir(), "--limits-per-ip", "100000", "--upstreams-allow-private", "127.0.0.0/8")
	v.with(browser.Phone)
	v.operator()
	v.Click(".menu")
	v.Shown(".side")
	v.Follow(`.side a[href="/console/audit"]`)
	v.says("Audit trail")
	v.acts(upstream(t))
	v.quiet()
}
