package clients

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/storage"
)

// node is the folder that the clients of npm are installed in.
const node = "../node"

// inABrowser names the steps of every client in a browser.
const inABrowser = "signed in, id_token, userinfo, refresh, logout"

var browserClients = []client{
	{name: "auth0-spa-js", as: "@auth0/auth0-spa-js",
		set:    "`issuer`; `openUrl`, as its paths `/authorize` and `/v2/logout` are Auth0's",
		public: true, alg: "RS256", steps: inABrowser},
	{name: "angular-oauth2-oidc", public: true, set: "`responseType: 'code'`", steps: inABrowser},
	{name: "oidc-client-ts", public: true, steps: inABrowser},
	{name: "okta-auth-js", as: "@okta/okta-auth-js", set: "its five addresses, from `authorizeUrl` to `logoutUrl`",
		public: true, alg: "RS256", steps: inABrowser},
	{name: "msal-browser", as: "@azure/msal-browser",
		set: "`protocolMode: 'OIDC'`, `OIDCOptions.responseMode: 'query'`, `knownAuthorities`; " +
			"`idTokenHint` when it signs out",
		public: true, steps: inABrowser},
}

// A page of an application signs in, knows its user, asks for more, stays signed in, and signs out.
func TestBrowserClients(t *testing.T) {
	installed(t, "@auth0/auth0-spa-js")
	site := agents.StartTLS(t)
	chromium := browser.LaunchTrusting(t, site.Certificate)
	for _, c := range browserClients {
		t.Run(c.name, func(t *testing.T) {
			pages := servePages(t, site)
			host := strings.TrimPrefix(pages.URL, "http://")
			app := site.App(t, storage.App{Domains: []string{host}, Public: c.public, IDTokenAlg: c.alg})
			p := chromium.Tab(t, browser.Desktop)
			address := pages.URL + "/clients/" + c.name + "/" + app.ID
			p.Open(address)
			p.Await("#username")
			p.Type("#username", agents.Username)
			p.Type("#password", agents.Password)
			p.Click("form button[type=submit]")
			p.Await("button[name=allow]")
			p.Click("button[name=allow]")
			p.Await("#done")
			said := p.Text("#said")
			if wantSteps(t, said, strings.TrimSuffix(c.steps, ", logout")); t.Failed() {
				t.Fatalf("the page says %s\n%s", said, p.Faults())
			}
			p.Click("#leave")
			p.Await("#out, main form button")
			if p.Count("#out") == 0 { // whoever shows no id_token is asked
				p.Click("main form button")
				p.Await("#out")
			}
			if said := p.Text("#out"); said != "out" {
				t.Fatalf("signing out: %s", said)
			}
			p.Open(address + "?again")
			p.Await("#username") // nobody is signed in any more
		})
	}
}

// imports says where in node_modules the modules are that others import by name, as a bundler finds out.
const imports = `{"imports": {
	"@angular/common": "/node_modules/@angular/common/fesm2022/common.mjs",
	"@angular/common/http": "/node_modules/@angular/common/fesm2022/http.mjs",
	"@angular/compiler": "/node_modules/@angular/compiler/fesm2022/compiler.mjs",
	"@angular/core": "/node_modules/@angular/core/fesm2022/core.mjs",
	"@angular/core/primitives/di": "/node_modules/@angular/core/fesm2022/primitives-di.mjs",
	"@angular/core/primitives/signals": "/node_modules/@angular/core/fesm2022/primitives-signals.mjs",
	"@angular/platform-browser": "/node_modules/@angular/platform-browser/fesm2022/platform-browser.mjs",
	"angular-oauth2-oidc": "/node_modules/angular-oauth2-oidc/fesm2022/angular-oauth2-oidc.mjs",
	"rxjs": "/node_modules/rxjs/dist/esm/index.js",
	"rxjs/operators": "/node_modules/rxjs/dist/esm/operators/index.js",
	"tslib": "/node_modules/tslib/tslib.es6.mjs"
}}`

// servePages serves the pages of the clients, at /clients/NAME/CLIENT_ID, and the clients as npm installs them.
func servePages(t *testing.T, site *agents.Site) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	files := http.FileServer(http.Dir(node))
	mux.HandleFunc("/node_modules/", func(w http.ResponseWriter, r *http.Request) {
		if path.Ext(r.URL.Path) == "" { // as bundlers find it
			r.URL.Path += ".js"
		}
		files.ServeHTTP(w, r)
	})
	mux.Handle("/pages/", files)
	mux.HandleFunc("/clients/{name}/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Page</title><link rel="icon" href="data:,"><pre id="said"></pre>
<button id="leave">Sign out</button>
<script type="importmap">%s</script>
<script>window.settings = {issuer: %q, id: %q, user: %q, email: %q}
if (location.search === "?again") sessionStorage.clear()</script>
<script type="module">import * as client from "/pages/%s.mjs"
import {run} from "/pages/page.mjs"
run(client)</script>`,
			imports, site.URL, r.PathValue("id"), site.Sub, agents.Email, r.PathValue("name"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}
