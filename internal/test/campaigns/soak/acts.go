package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"

	cryptorand "crypto/rand"
)

// act is one thing that people and programs do, and how often of a hundred times.
type act struct {
	name   string
	weight int
	do     func(*person)
}

// acts are all of them but those that hash a password, which have a pace of their own.
var acts = []act{
	{"userinfo", 14, (*person).userinfo},
	{"gateway call", 18, (*person).call},
	{"charge", 8, (*person).verify},
	{"client_credentials", 10, (*person).clientCredentials},
	{"refresh rotation", 12, (*person).rotate},
	{"tools/call", 9, (*person).callTool},
	{"tools/list", 2, (*person).listTools},
	{"code + PKCE", 6, (*person).code},
	{"discovery", 2, (*person).discovery},
	{"introspection", 2, (*person).introspect},
	{"revocation", 1, (*person).revoke},
	{"connect.php", 4, (*person).legacyQuery},
	{"check_token.php", 3, (*person).legacyCheck},
	{"console", 3, (*person).console},
	{"device flow", 1, (*person).device},
	{"code by mail", 1, (*person).mail},
	{"stream", 1, (*person).stream},
	{"stream of the bus", 1, (*person).listen},
	{"leaves early", 2, (*person).leave},
}

// draw draws an act by its weight.
func draw(dice *rand.Rand) act {
	sum := 0
	for _, a := range acts {
		sum += a.weight
	}
	n := dice.IntN(sum)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			return a
		}
	}
	panic("unreachable")
}

// signIn signs the person in with their password, in a new session.
func (p *person) signIn() {
	a := p.post("/oauth/signin", url.Values{"username": {p.name}, "password": {password}})
	cookie := a.cookie(sessionCookie)
	p.meter.note("sign-in", a, a.status == http.StatusSeeOther && cookie != "")
	if cookie != "" {
		p.cookie = cookie
	}
}

// redirectURI is the redirect URI of every application here.
const redirectURI = "http://localhost/cb"

// code gets a code for the session, and redeems it.
func (p *person) code() {
	if p.cookie == "" {
		return
	}
	verifier := cryptorand.Text() + cryptorand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {p.app.ID}, "redirect_uri": {redirectURI}, "scope": {"openid profile"},
		"prompt":         {"none"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	a := p.get("/oauth/authorize?"+query.Encode(), "Cookie", p.cookie)
	to, _ := url.Parse(a.header.Get("Location")) // none has no code either
	code := ""
	if to != nil {
		code = to.Query().Get("code")
	}
	p.meter.note("authorize", a, a.status == http.StatusFound && code != "")
	if code == "" {
		return
	}
	g, _ := p.token("code + PKCE", p.app.form("grant_type", "authorization_code", "code", code, "redirect_uri",
		redirectURI, "code_verifier", verifier))
	if g.Access != "" {
		p.access, p.refresh, p.openid = g.Access, g.Refresh, g.User.OpenID
	}
}

// rotate redeems the refresh token. One whose answer is lost may have been redeemed, and is given up.
func (p *person) rotate() {
	if p.refresh == "" {
		p.code()
		return
	}
	g, _ := p.token("refresh rotation", p.app.form("grant_type", "refresh_token", "refresh_token", p.refresh))
	if p.refresh = g.Refresh; g.Access != "" {
		p.access = g.Access
	}
}

func (p *person) userinfo() {
	if p.access == "" {
		p.code()
		return
	}
	p.good("userinfo", p.get("/oauth/userinfo", "Authorization", "Bearer "+p.access), http.StatusOK)
}

// clientCredentials asks for a token of an application whose secret is rotated meanwhile.
func (p *person) clientCredentials() {
	app := p.rotated.Load()
	p.token("client_credentials", app.form("grant_type", "client_credentials"))
}

// program makes sure that there is a token of the application that calls.
func (p *person) program() bool {
	if p.machine == "" {
		g, _ := p.token("client_credentials", p.caller.form("grant_type", "client_credentials"))
		p.machine = g.Access
	}
	return p.machine != ""
}

// call goes through the gateway to a service behind it, which is charged.
func (p *person) call() {
	if !p.program() {
		return
	}
	p.ledger("svc", "gateway call", p.get("/svc/things/7", "Authorization", "Bearer "+p.machine))
}

// verify is a call that another gateway asks about, which is charged.
func (p *person) verify() {
	if !p.program() {
		return
	}
	p.ledger("ai", "charge", p.get("/api/v1/verify?product=ai", "Authorization", "Bearer "+p.machine))
}

// ledger notes a charged call.
func (p *person) ledger(product, kind string, a answer) {
	a.upstream = hasUpstream(kind)
	b := p.bills[product]
	b.sent.Add(1)
	if p.good(kind, a, http.StatusOK) {
		b.answered.Add(1)
	}
}

func (p *person) speak(method, params string) answer {
	return p.send(http.MethodPost, "/api/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
		"Authorization", "Bearer "+p.machine, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream")
}

func (p *person) callTool() {
	if !p.program() {
		return
	}
	a := p.speak("tools/call", `{"name":"`+member+`__thing","arguments":{}}`)
	a.upstream, a.failed = true, a.status == http.StatusOK && bytes.Contains(a.body, []byte(`"isError":true`))
	p.meter.note("tools/call", a, a.status == http.StatusOK && !a.failed && bytes.Contains(a.body, []byte(`asked`)))
}

func (p *person) listTools() {
	if !p.program() {
		return
	}
	a := p.speak("tools/list", `{}`)
	p.meter.note("tools/list", a, a.status == http.StatusOK && bytes.Contains(a.body, []byte(member+"__thing")))
}

func (p *person) discovery() {
	p.good("discovery", p.get("/.well-known/openid-configuration"), http.StatusOK)
}

func (p *person) introspect() {
	if p.access == "" {
		return
	}
	a := p.post("/oauth/introspect", p.app.form("token", p.access))
	p.meter.note("introspection", a, a.status == http.StatusOK && bytes.Contains(a.body, []byte(`"active":true`)))
}

// revoke ends the person's tokens; they get others.
func (p *person) revoke() {
	if p.refresh == "" {
		return
	}
	token := p.refresh
	p.refresh, p.access = "", ""
	p.good("revocation", p.post("/oauth/revoke", p.app.form("token", token)), http.StatusOK)
}

func (p *person) legacyQuery() {
	if p.openid == "" {
		p.code()
		return
	}
	form := url.Values{"act": {"query"}, "appid": {p.app.ID}, "appkey": {p.app.Secret}, "type": {"self"},
		"social_uid": {p.openid}}
	p.legacy("connect.php", p.post("/connect.php", form))
}

func (p *person) legacyCheck() {
	if p.access == "" {
		return
	}
	p.legacy("check_token.php", p.get("/check_token.php", "Authorization", "Bearer "+p.access))
}

// legacy notes an answer of the old endpoints, whose refusals have status 200.
func (p *person) legacy(kind string, a answer) {
	var is struct{ Code int }
	err := json.Unmarshal(a.body, &is)
	p.meter.note(kind, a, a.status == http.StatusOK && err == nil && is.Code == 1)
}

var consolePaths = []string{"/api/console/overview", "/api/console/apps", "/api/console/capabilities",
	"/api/console/usage"}

// console reads what an administrator looks at.
func (p *person) console() {
	path := consolePaths[p.rand.IntN(len(consolePaths))]
	if cookie := p.admin.Load(); cookie != nil {
		p.good("console", p.get(path, "Cookie", *cookie), http.StatusOK)
	}
}
