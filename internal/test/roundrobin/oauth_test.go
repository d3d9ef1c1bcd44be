package roundrobin

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func mailOf(content string) storage.Mail {
	return storage.Mail{Kind: "code", Content: storage.NewSecret(content), ExpiresAt: time.Now().UTC().Add(time.Hour)}
}

var authorize = "/oauth/authorize?" + form(
	"response_type", "code", "client_id", "ksapp", "redirect_uri", redirect, "state", "drawn-before", "scope",
	"openid profile",
	"code_challenge", challenge, "code_challenge_method", "S256").Encode()

// granted signs in at the request of the application, allows what it asks, and returns the code.
func (p *person) granted() string {
	p.c.t.Helper()
	a := p.submit(p.follow(p.get(authorize)), "/oauth/signin", "username", "ada", "password", password)
	return p.submit(a, "/oauth/signin/consent", "allow", "1").brought("code")
}

// token asks for tokens, as the application.
func (p *person) token(pairs ...string) page {
	return p.post("/oauth/token", append([]string{"client_id", "ksapp", "client_secret", appSecret}, pairs...)...)
}

func (p *person) redeemed(code string) page {
	return p.token("grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier", verifier)
}

func TestCodeOfOneNodeIsRedeemedOnceAtAnother(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		code := p.granted()
		bearer := p.redeemed(code).member("access_token")
		for range c.nodes {
			r := httptest.NewRequest(http.MethodGet, origin+"/oauth/userinfo", nil)
			r.Header.Set("Authorization", "Bearer "+bearer)
			if name := c.person().at(p.turn).send(r).member("nickname"); name != "Ada" {
				t.Errorf("the token is %s's", name)
			}
			p.turn++
		}
		for range c.nodes {
			if a := p.redeemed(code); a.status != 400 || !strings.Contains(a.body, "invalid_grant") {
				t.Errorf("the code again = %d %s", a.status, a.body)
			}
		}
		if a := p.get(authorize); a.brought("code") == "" {
			t.Error("what was allowed at one node is asked again at another")
		}
	})
}

// at lets a client begin with a node.
func (p *person) at(turn int) *person { p.turn = turn; return p }

func TestRefreshRotationsInParallelAtAllNodesHaveOneWinner(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		refresh := p.redeemed(p.granted()).member("refresh_token")
		refresh = p.token("grant_type", "refresh_token", "refresh_token", refresh).member("refresh_token")
		answers := make([]page, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				answers[i] = c.person().at(i).token("grant_type", "refresh_token", "refresh_token", refresh)
			})
		}
		all.Wait()
		won := 0
		for _, a := range answers {
			switch {
			case a.status == 200:
				won++
			case a.status != 400 || !strings.Contains(a.body, "invalid_grant"):
				t.Errorf("a rotation = %d %s", a.status, a.body)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d rotations of one token won, want 1", won, len(answers))
		}
	})
}

func TestConnectLoginIsRedeemedAtAnotherNode(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		connect := func(act string, pairs ...string) page {
			pairs = append([]string{"act", act, "appid", "ksapp", "appkey", appSecret}, pairs...)
			return p.get("/connect.php?" + form(pairs...).Encode())
		}
		begun := connect("login", "type", "self", "redirect_uri", redirect, "state", "s")
		to, err := url.Parse(begun.member("url"))
		must(t, err)
		a := p.submit(p.follow(p.get(to.RequestURI())), "/oauth/signin", "username", "ada", "password", password)
		if a.location == "" {
			a = p.submit(a, "/oauth/signin/consent", "allow", "1")
		}
		code := a.brought("code")
		if got := connect("callback", "code", code).member("nickname"); got != "Ada" {
			t.Errorf("the code is %s's", got)
		}
		for range c.nodes {
			if a := connect("callback", "code", code); !strings.Contains(a.body, "40163") {
				t.Errorf("the code again = %d %s", a.status, a.body)
			}
		}
	})
}

func TestBusOfOneNodeTakesTheTokenOfAnother(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		bearer := p.token("grant_type", "client_credentials", "resource", origin+"/api/mcp").member("access_token")
		var session string
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		} {
			r := httptest.NewRequest(http.MethodPost, origin+"/api/mcp", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+bearer)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			c.nodes[p.turn%2].ServeHTTP(w, r)
			p.turn++
			if w.Code != 200 || !strings.Contains(w.Body.String(), `"result"`) {
				t.Errorf("%s = %d %s", body, w.Code, w.Body)
			}
			if id := w.Header().Get("Mcp-Session-Id"); id != "" {
				session = id
			}
		}
		if session == "" {
			t.Error("no session was begun")
		}
	})
}
